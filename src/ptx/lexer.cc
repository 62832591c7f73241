#include "ptx/lexer.h"

namespace warpbeam::ptx {
namespace {

bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_alpha(c) || is_digit(c) || c == '_' || c == '$'; }

}  // namespace

void Lexer::skip_blank() {
  for (;;) {
    char c = at(pos_);
    if (c == '\n') {
      ++pos_;
      ++line_;
      line_start_ = pos_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' ||
               (c == '\0' && pos_ < text_.size() && pos_ + 1 == text_.size())) {
      ++pos_;
    } else if (c == '/' && at(pos_ + 1) == '/') {
      while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
    } else if (c == '/' && at(pos_ + 1) == '*') {
      pos_ += 2;
      while (pos_ < text_.size() && !(text_[pos_] == '*' && at(pos_ + 1) == '/')) {
        if (text_[pos_] == '\n') {
          ++line_;
          line_start_ = pos_ + 1;
        }
        ++pos_;
      }
      pos_ = pos_ + 2 < text_.size() ? pos_ + 2 : text_.size();
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  size_t before = pos_;
  skip_blank();
  current_ = {};
  current_.glued = before == pos_;
  current_.at = {line_, static_cast<uint32_t>(pos_ - line_start_ + 1)};
  if (pos_ >= text_.size()) return;
  size_t begin = pos_;
  char c = text_[pos_];
  auto finish = [&](Token token) {
    current_.token = token;
    current_.text = text_.substr(begin, pos_ - begin);
  };
  if (is_alpha(c) || c == '_' || c == '$' || c == '%') {
    ++pos_;
    while (is_name(at(pos_))) ++pos_;
    return finish(pos_ - begin == 1 && c == '%' ? Token::Punct : Token::Word);
  }
  // `.5`, which no `.1d` of an instruction is.
  bool fraction = c == '.' && is_digit(at(pos_ + 1)) && (pos_ == 0 || !is_name(text_[pos_ - 1]));
  for (size_t ahead = pos_ + 1; fraction && is_name(at(ahead)); ++ahead)
    fraction = is_digit(at(ahead)) || at(ahead) == 'e' || at(ahead) == 'E';
  if (fraction) {
    ++pos_;
    while (is_name(at(pos_)) || ((at(pos_) == '+' || at(pos_) == '-') && (at(pos_ - 1) == 'e' || at(pos_ - 1) == 'E'))) ++pos_;
    return finish(Token::Number);
  }
  if (c == '.' && (is_name(at(pos_ + 1)))) {
    ++pos_;
    while (is_name(at(pos_)) || (at(pos_) == ':' && at(pos_ + 1) == ':' && is_name(at(pos_ + 2)) && (++pos_, true))) ++pos_;
    return finish(Token::Dotted);
  }
  if (is_digit(c)) {
    ++pos_;
    bool hex = c == '0' && (at(pos_) == 'x' || at(pos_) == 'X' || at(pos_) == 'f' || at(pos_) == 'F' || at(pos_) == 'd' || at(pos_) == 'D');
    while (is_name(at(pos_)) || (!hex && at(pos_) == '.' && is_digit(at(pos_ + 1))) ||
           (!hex && at(pos_) == '.' && (at(pos_ + 1) == 'e' || at(pos_ + 1) == 'E')) ||
           (!hex && at(pos_) == '.' && !is_name(at(pos_ + 1)) && at(pos_ + 1) != '.') ||
           (!hex && (at(pos_) == '+' || at(pos_) == '-') && (at(pos_ - 1) == 'e' || at(pos_ - 1) == 'E')))
      ++pos_;
    return finish(Token::Number);
  }
  if (c == '"') {
    ++pos_;
    while (pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\n') pos_ += text_[pos_] == '\\' && pos_ + 1 < text_.size() ? 2 : 1;
    current_.token = pos_ < text_.size() && text_[pos_] == '"' ? Token::String : Token::Bad;
    current_.text = text_.substr(begin + 1, pos_ - begin - 1);
    if (pos_ < text_.size() && text_[pos_] == '"') ++pos_;
    return;
  }
  ++pos_;
  static constexpr std::string_view kPunct = "{}()[]<>,;:=+-*/!|&^~@.?";
  finish(kPunct.find(c) != std::string_view::npos ? Token::Punct : Token::Bad);
}

void Lexer::skip_past(char c) {
  while (current_.token != Token::End && !current_.is(c)) advance();
  if (current_.token != Token::End) advance();
}

}  // namespace warpbeam::ptx
