// Words of a PTX text with their places.
#pragma once
#include <string_view>

#include "ptx/module.h"

namespace warpbeam::ptx {

enum class Token : uint8_t { End, Word, Dotted, Number, String, Punct, Bad };

struct Lexeme {
  Token token = Token::End;
  std::string_view text;   // Dotted includes its dot; String is without the quotes
  Position at;
  bool glued = false;      // nothing stands between it and the lexeme before
  bool is(char c) const { return token == Token::Punct && text[0] == c; }
  bool is(std::string_view word) const { return (token == Token::Word || token == Token::Dotted) && text == word; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }
  const Lexeme& peek() const { return current_; }
  Lexeme take() {
    Lexeme lexeme = current_;
    advance();
    return lexeme;
  }
  // Continues after the next `c` outside of strings, or at the end.
  void skip_past(char c);

 private:
  void advance();
  void skip_blank();
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  std::string_view text_;
  size_t pos_ = 0, line_start_ = 0;
  uint32_t line_ = 1;
  Lexeme current_;
};

}  // namespace warpbeam::ptx
