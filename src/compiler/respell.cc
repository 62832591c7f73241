#include "compiler/respell.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace warpbeam::compiler {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Macros that stand beside strings, CUDA's own behind `extern "C"`. Other names may be real literal operators (`"x"_id`, `"x"s`).
bool is_string_macro(std::string_view name) {
  constexpr std::string_view kMarks[] = {"__global__",      "__device__",   "__host__",    "__shared__",       "__constant__",
                                         "__forceinline__", "__noinline__", "__managed__", "__launch_bounds__"};
  return std::ranges::find(kMarks, name) != std::end(kMarks) || name == "__FILE__" || name == "__LINE__" || name == "__DATE__" ||
         name == "__TIME__" || name == "__VERSION__" || name.starts_with("PRI") || name.starts_with("SCN");
}

bool is_asm(std::string_view word) { return word == "asm" || word == "__asm__" || word == "__asm"; }

// PTX has types in its instructions, which tells it from what host code says to its own assembler.
bool is_ptx(std::string_view text) {
  for (size_t dot = text.find('.'); dot != text.npos; dot = text.find('.', dot + 1)) {
    size_t end = dot + 1;
    while (end < text.size() && is_name(text[end])) ++end;
    const std::string_view word = text.substr(dot + 1, end - dot - 1);
    if (word == "pred") return true;
    if (word.size() < 2 || std::string_view("usbf").find(word[0]) == std::string_view::npos) continue;
    const std::string_view bits = word.substr(1);
    if (bits == "8" || bits == "16" || bits == "32" || bits == "64" || bits == "128") return true;
  }
  return false;
}

// Goes through a source, a token at a time, and collects what is to be put between its characters.
class Respeller {
 public:
  explicit Respeller(std::string_view source) : s_(source) {}

  std::optional<std::string> run() {
    for (size_t i = 0; i < s_.size();) i = token(i);
    if (insertions_.empty()) return std::nullopt;
    std::ranges::sort(insertions_);
    std::string out;
    size_t copied = 0;
    for (const auto& [at, what] : insertions_) {
      out.append(s_, copied, at - copied);
      out += what;
      copied = at;
    }
    out.append(s_, copied);
    return out;
  }

 private:
  // The end of the token at `i`.
  size_t token(size_t i) {
    const char c = s_[i];
    if (s_.substr(i).starts_with("//")) {
      while (i < s_.size() && s_[i] != '\n') i += s_[i] == '\\' ? 2 : 1;
      return i;
    }
    if (s_.substr(i).starts_with("/*")) return past(s_.find("*/", i + 2), 2);
    if (operand_end_ && !std::isspace(static_cast<unsigned char>(c)) && c != '\\') {
      if (begins_operand(i)) insertions_.emplace_back(operand_end_, ",");
      operand_end_ = 0;
    }
    if (c == '"') return string(i);
    if (c == '\'') return quoted(i);
    if (is_name(c)) {
      size_t end = i;
      while (end < s_.size() && (is_name(s_[end]) || (s_[end] == '\'' && std::isdigit(static_cast<unsigned char>(c))))) ++end;
      const std::string_view word = s_.substr(i, end - i);
      if (word.ends_with('R') && end < s_.size() && s_[end] == '"') return raw_string(end);
      if (depth_ == 1) operand_ = Operand::None;
      if (is_asm(word)) asm_ahead_ = true;
      else if (word != "volatile" && word != "__volatile__" && word != "inline" && word != "goto") asm_ahead_ = false;
      return end;
    }
    if (depth_ == 0 && asm_ahead_ && c == '(') {
      depth_ = 1;
      template_.clear();
      in_template_ = true;
      operand_ = Operand::None;
    } else if (depth_ > 0) {
      separate_operands(i);
      depth_ += (c == '(') - (c == ')');
      if (depth_ == 1 && c == ':' && in_template_) double_percents();
      if (depth_ == 0 || c == ':') in_template_ = false;
    }
    if (!std::isspace(static_cast<unsigned char>(c)) && c != '\\') asm_ahead_ = false;
    return i + 1;
  }

  size_t past(size_t at, size_t length) const { return at == s_.npos ? s_.size() : at + length; }

  size_t quoted(size_t i) const {
    const char quote = s_[i];
    for (++i; i < s_.size() && s_[i] != quote && s_[i] != '\n'; ++i)
      if (s_[i] == '\\') ++i;
    return std::min(i + 1, s_.size());
  }

  // R"tag( … )tag", from its quote on.
  size_t raw_string(size_t quote) {
    const size_t open = s_.find('(', quote);
    if (open == s_.npos) return s_.size();
    const std::string close = ")" + std::string(s_.substr(quote + 1, open - quote - 1)) + "\"";
    const size_t end = s_.find(close, open);
    if (depth_ == 1 && in_template_ && end != s_.npos) template_.emplace_back(open + 1, end);
    if (depth_ == 1 && !in_template_) operand_ = Operand::Constraint;
    return past(end, close.size());
  }

  size_t string(size_t i) {
    const size_t after = quoted(i);
    if (depth_ == 1 && in_template_) template_.emplace_back(i + 1, after - 1);
    if (depth_ == 1 && !in_template_) operand_ = Operand::Constraint;
    size_t end = after;
    while (end < s_.size() && is_name(s_[end])) ++end;
    if (end > after && is_string_macro(s_.substr(after, end - after))) insertions_.emplace_back(after, " ");
    return after;
  }

  // What stands at `i`, a bracket perhaps, in an asm statement: after `"r"(x)` comes a comma, or a colon, or the end.
  void separate_operands(size_t i) {
    const char c = s_[i];
    if (depth_ == 1 && c == '(' && operand_ == Operand::Constraint) {
      operand_ = Operand::Expression;
    } else if (depth_ == 2 && c == ')' && operand_ == Operand::Expression) {
      operand_ = Operand::None;
      operand_end_ = i + 1;
    } else if (depth_ == 1 && !std::isspace(static_cast<unsigned char>(c)) && c != '\\') {
      operand_ = Operand::None;
    }
  }

  // Its constraint or its name. A macro might bring the comma.
  bool begins_operand(size_t i) const {
    if (s_[i] == '"' || s_[i] == '[') return true;
    return s_.substr(i).starts_with("R\"");
  }

  void double_percents() {
    bool ptx = false;
    for (const auto& [from, to] : template_) ptx = ptx || is_ptx(s_.substr(from, to - from));
    if (!ptx) return;
    for (const auto& [from, to] : template_)
      for (size_t i = from; i + 1 < to; ++i) {
        if (s_[i] != '%') continue;
        const char next = s_[i + 1];
        if (std::isalpha(static_cast<unsigned char>(next)) || next == '_' || next == '$') insertions_.emplace_back(i, "%");
        else if (next == '%') ++i;
      }
  }

  std::string_view s_;
  std::vector<std::pair<size_t, std::string_view>> insertions_;
  bool asm_ahead_ = false;    // the words so far can begin an asm statement
  int depth_ = 0;             // of parentheses in an asm statement
  bool in_template_ = false;  // before its first colon
  enum class Operand { None, Constraint, Expression } operand_ = Operand::None;  // what was read of one last
  size_t operand_end_ = 0;  // behind it, as long as nothing follows
  std::vector<std::pair<size_t, size_t>> template_;  // where its strings stand, without their quotes
};

}  // namespace

std::optional<std::string> respell(std::string_view source) { return Respeller(source).run(); }

std::string with_traits_apart(std::string_view text) {
  constexpr std::string_view kNames[] = {"__is_arithmetic", "__is_nothrow_convertible", "__is_pointer", "__is_referenceable", "__is_scalar",
                                         "__is_void"};
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = std::min(text.find("__is_", i), text.size());
    size_t end = begin;
    while (end < text.size() && is_name(text[end])) ++end;
    out += text.substr(i, end - i);
    const bool whole = begin == 0 || !is_name(text[begin - 1]);
    if (whole && std::ranges::find(kNames, text.substr(begin, end - begin)) != std::end(kNames)) {
      const size_t next = text.find_first_not_of(" \t\n", end);
      if (next == text.npos || text[next] != '(') out += '_';
    }
    i = end;
  }
  return out;
}

}  // namespace warpbeam::compiler
