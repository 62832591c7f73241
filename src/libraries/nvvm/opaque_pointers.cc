// LLVM reads texts with typed pointers no more. In these, `*` stands nowhere but behind the type that is pointed at: what
// is one type is found by its brackets, and becomes `ptr`.
#include "libraries/nvvm/opaque_pointers.h"

#include <algorithm>
#include <vector>

namespace warpbeam::nvvm {

namespace {

struct Token {
  std::string before;  // spaces and comments
  std::string text;
};

bool of_a_word(char c) { return std::string_view(" \t\r\n(){}[]<>,*=:;\"").find(c) == std::string_view::npos; }

size_t past_string(std::string_view text, size_t quote) {
  const size_t end = text.find('"', quote + 1);
  return end == text.npos ? text.size() : end + 1;
}

std::vector<Token> tokens_of(std::string_view text, std::string& rest) {
  std::vector<Token> tokens;
  std::string before;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (text[at] == ';') {
      end = std::min(text.find('\n', at), text.size());
      before += text.substr(at, end - at);
    } else if (std::string_view(" \t\r\n").find(text[at]) != std::string_view::npos) {
      before += text[at];
    } else {
      if (text[at] == '"') {
        end = past_string(text, at);
      } else if (of_a_word(text[at])) {
        while (end < text.size() && of_a_word(text[end])) ++end;
        // Names and constants in quotes: %"a b", c"text", !"string".
        if (end < text.size() && text[end] == '"') end = past_string(text, end);
      }
      tokens.push_back({std::move(before), std::string(text.substr(at, end - at))});
      before.clear();
    }
    at = end;
  }
  rest = std::move(before);
  return tokens;
}

class Rewriter {
 public:
  void take(Token token) {
    if (!left_out_.empty()) name_what_is_pointed_at(token.text);
    if (token.text == "*") point();
    else tokens_.push_back(std::move(token));
  }

  std::string text(std::string rest) const {
    std::string text;
    for (const Token& token : tokens_) text += token.before + token.text;
    return text + rest;
  }

 private:
  // Of `i32 addrspace(1)`, which has the form of three tokens behind the type: where they begin, or the end.
  size_t space_start(size_t end) const {
    return end >= 4 && tokens_[end - 1].text == ")" && tokens_[end - 3].text == "(" && tokens_[end - 4].text == "addrspace" ? end - 4 : end;
  }

  size_t opening(size_t end, std::string_view open, std::string_view close) const {
    int depth = 0;
    for (size_t at = end; at-- > 0;) {
      if (tokens_[at].text == close) ++depth;
      if (tokens_[at].text == open && --depth == 0) return at;
    }
    return 0;
  }

  // Where the type begins that ends before `end`.
  size_t type_start(size_t end) const {
    if (end == 0) return 0;
    const std::string& last = tokens_[end - 1].text;
    if (const size_t space = space_start(end); space != end && space > 0 && tokens_[space - 1].text == "ptr") return space - 1;
    if (last == "}") return opening(end, "{", "}");
    if (last == "]") return opening(end, "[", "]");
    if (last == ">") return opening(end, "<", ">");
    if (last == ")") return type_start(opening(end, "(", ")"));  // a function: what it returns comes first
    return end - 1;
  }

  void point() {
    const size_t end = space_start(tokens_.size());
    const size_t start = type_start(end);
    if (start == end) return;  // no type is before it: the reader will say so
    Token pointer{tokens_[start].before, "ptr"};
    left_out_.clear();
    for (size_t at = start; at < end; ++at) left_out_ += (at == start ? "" : tokens_[at].before) + tokens_[at].text;
    pointer.before.append(static_cast<size_t>(std::count(left_out_.begin(), left_out_.end(), '\n')), '\n');
    tokens_.erase(tokens_.begin() + static_cast<long>(start), tokens_.begin() + static_cast<long>(end));
    tokens_.insert(tokens_.begin() + static_cast<long>(start), std::move(pointer));
  }

  // Attributes of parameters tell the type since pointers do not: `%T* byval` is `ptr byval(%T)`. Others may stand between.
  void name_what_is_pointed_at(const std::string& word) {
    for (std::string_view attribute : {"byval", "sret", "byref", "inalloca", "preallocated"})
      if (pending_ == attribute && word != "(") tokens_.back().text += "(" + left_out_ + ")";
    pending_.clear();
    if (word == "byval" || word == "sret" || word == "byref" || word == "inalloca" || word == "preallocated") pending_ = word;
    else if (word == "," || word == ")" || word.starts_with("%") || word.starts_with("@")) left_out_.clear();
  }

  std::vector<Token> tokens_;
  std::string left_out_;  // the type that the last pointer pointed at, as long as an attribute may ask
  std::string pending_;
};

}  // namespace

std::string with_opaque_pointers(std::string_view text) {
  std::string rest;
  Rewriter rewriter;
  for (Token& token : tokens_of(text, rest)) rewriter.take(std::move(token));
  return rewriter.text(std::move(rest));
}

}  // namespace warpbeam::nvvm
