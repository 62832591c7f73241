#include "compiler/device_launches.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace warpbeam::compiler {
namespace {

struct Token {
  enum Kind : uint8_t { Name, Mark, Other } kind;
  size_t begin, end;
};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

// Words and marks of C++; comments, strings, numbers and directives are kept out of the way. `<`, `>` and `:` stand alone.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {
    size_t i = 0;
    bool line_start = true;
    while (i < text.size()) {
      const char c = text[i];
      if (c == '\n') {
        line_start = true;
        ++i;
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        ++i;
      } else if (c == '#' && line_start) {
        const size_t begin = i;
        while (i < text.size() && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
        directives_.push_back(text.substr(begin, std::min(i, text.size()) - begin));
      } else {
        line_start = false;
        i = one(i);
      }
    }
  }
  const std::vector<Token>& list() const { return list_; }
  const std::vector<std::string_view>& directives() const { return directives_; }
  std::string_view at(size_t k) const {
    return k < list_.size() ? text_.substr(list_[k].begin, list_[k].end - list_[k].begin) : std::string_view();
  }
  bool is(size_t k, std::string_view what) const { return at(k) == what; }
  bool is_word(size_t k) const { return k < list_.size() && list_[k].kind == Token::Name; }
  // Three marks side by side from token k on.
  bool three(size_t k, char c) const {
    for (size_t n = 0; n < 3; ++n)
      if (k + n >= list_.size() || list_[k + n].kind != Token::Mark || text_[list_[k + n].begin] != c ||
          list_[k + n].begin != list_[k].begin + n)
        return false;
    return true;
  }
  // The token after the bracket that closes the one at k; npos if none does.
  size_t past(size_t k) const {
    int depth = 0;
    for (; k < list_.size(); ++k) {
      const char c = text_[list_[k].begin];
      if (list_[k].kind != Token::Mark) continue;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if ((c == ')' || c == ']' || c == '}') && --depth == 0) return k + 1;
    }
    return std::string_view::npos;
  }

 private:
  size_t push(Token::Kind kind, size_t begin, size_t end) {
    list_.push_back({kind, begin, end});
    return end;
  }
  size_t one(size_t i) {
    const std::string_view s = text_;
    const char c = s[i];
    if (c == '/' && i + 1 < s.size() && s[i + 1] == '/') {
      while (i < s.size() && s[i] != '\n') i += s[i] == '\\' ? 2 : 1;
      return std::min(i, s.size());
    }
    if (c == '/' && i + 1 < s.size() && s[i + 1] == '*') {
      const size_t end = s.find("*/", i + 2);
      return end == s.npos ? s.size() : end + 2;
    }
    if (std::isdigit(static_cast<unsigned char>(c))) {
      size_t end = i + 1;
      while (end < s.size() && (is_name(s[end]) || s[end] == '.' || (s[end] == '\'' && end + 1 < s.size() && is_name(s[end + 1])) ||
                                ((s[end] == '+' || s[end] == '-') && std::string_view("eEpP").find(s[end - 1]) != s.npos)))
        ++end;
      return push(Token::Other, i, end);
    }
    if (is_name(c)) {
      size_t end = i + 1;
      while (end < s.size() && is_name(s[end])) ++end;
      if (end < s.size() && s[end] == '"' && s[end - 1] == 'R' && end - i <= 3) return push(Token::Other, i, raw_string(end));
      return push(Token::Name, i, end);
    }
    if (c == '"' || c == '\'') {
      size_t end = i + 1;
      while (end < s.size() && s[end] != c && s[end] != '\n') end += s[end] == '\\' ? 2 : 1;
      return push(Token::Other, i, std::min(end + 1, s.size()));
    }
    if (c == '-' && i + 1 < s.size() && s[i + 1] == '>') return push(Token::Mark, i, i + 2);
    return push(Token::Mark, i, i + 1);
  }
  size_t raw_string(size_t quote) const {
    const size_t open = text_.find('(', quote);
    if (open == text_.npos) return text_.size();
    const std::string closing = ")" + std::string(text_.substr(quote + 1, open - quote - 1)) + "\"";
    const size_t end = text_.find(closing, open);
    return end == text_.npos ? text_.size() : end + closing.size();
  }

  std::string_view text_;
  std::vector<Token> list_;
  std::vector<std::string_view> directives_;
};

struct Launch {
  size_t callee;          // first token of the kernel's expression
  size_t open, close;     // tokens `<<<` and `>>>`
  size_t end;             // the token after the arguments
  bool device;            // in a function that only device code has
};

struct Found {
  std::vector<Launch> launches;
  std::vector<size_t> kernel_bodies;  // offsets after the `{` of kernels
};

// Follows the braces of a text and knows in which kind of function each token stands.
class Walk {
 public:
  explicit Walk(const Tokens& tokens) : t_(tokens) {}

  Found run() {
    const size_t n = t_.list().size();
    std::vector<bool> device{false};  // by open brace
    head_ = 0;
    for (size_t k = 0; k < n; ++k) {
      const std::string_view word = t_.at(k);
      if (t_.list()[k].kind != Token::Mark) continue;
      if (word == "{") {
        const Head head = head_words(k);
        if (head.global) found_.kernel_bodies.push_back(t_.list()[k].end);
        const bool host_side = head.host && !head.global;
        device.push_back(head.global || (head.device && !host_side) ? true : head.host ? false : device.back());
        head_ = k + 1;
      } else if (word == "}") {
        if (device.size() > 1) device.pop_back();
        // `a{1}, b{2}` of a constructor, `{…}.size()` and `}()` go on; a statement or declaration ends otherwise.
        const std::string_view next = t_.at(k + 1);
        if (next != "," && next != "{" && next != "." && next != "(") head_ = k + 1;
      } else if (word == ";") {
        if (parens_around(k) == 0) head_ = k + 1;
      } else if (t_.three(k, '<')) {
        if (auto launch = launch_at(k)) {
          launch->device = device.back();
          found_.launches.push_back(*launch);
          k += 2;
        }
      }
    }
    return std::move(found_);
  }

 private:
  struct Head {
    bool global = false, device = false, host = false;
  };

  // Semicolons inside for(…;…;…) end no declaration. Only the head since the last end matters.
  int parens_around(size_t k) const {
    int depth = 0;
    for (size_t n = head_; n < k; ++n) {
      if (t_.is(n, "(")) ++depth;
      if (t_.is(n, ")")) --depth;
    }
    return depth > 0 ? depth : 0;
  }

  // The attributes among the words before a `{`, as macros or as what they stand for. A lambda's own come after its `]`.
  Head head_words(size_t brace) const {
    Head head;
    size_t from = head_;
    for (size_t k = brace; k-- > head_;) {
      const bool index = t_.is(k, "]");
      if (!index && !t_.is(k, ")")) continue;
      const auto o = opening(k, index ? "[" : "(", t_.at(k));
      if (!o || *o < head_) break;
      k = *o;
      if (!index) continue;
      // `a[]` declares and `[[…]]` is an attribute.
      const bool names =
          k > 0 && ((t_.is_word(k - 1) && !is_keyword(t_.at(k - 1))) || t_.is(k - 1, "]") || t_.is(k - 1, ")") || t_.is(k - 1, "["));
      if (names || t_.is(k + 1, "[")) continue;
      from = k;
      break;
    }
    for (size_t k = from; k < brace; ++k) {
      if (!t_.is_word(k)) continue;
      const std::string_view w = t_.at(k);
      const bool attribute = k >= 3 && t_.is(k - 1, "(") && t_.is(k - 2, "(") && t_.is(k - 3, "__attribute__");
      if (w == "__global__" || (attribute && w == "global") || w == "nvptx_kernel") head.global = true;
      if (w == "__device__" || (attribute && w == "device")) head.device = true;
      if (w == "__host__" || (attribute && w == "host")) head.host = true;
    }
    return head;
  }

  std::optional<Launch> launch_at(size_t open) const {
    if (open == 0 || t_.is(open - 1, "operator")) return std::nullopt;
    int depth = 0;
    for (size_t k = open + 3; k < t_.list().size(); ++k) {
      const std::string_view w = t_.at(k);
      if (t_.list()[k].kind != Token::Mark) continue;
      if (w == "(" || w == "[" || w == "{") ++depth;
      if (w == ")" || w == "]" || w == "}") --depth;
      if (depth < 0 || (depth == 0 && w == ";")) return std::nullopt;
      if (depth != 0 || !t_.three(k, '>') || !t_.is(k + 3, "(")) continue;
      const size_t end = t_.past(k + 3);
      const auto callee = callee_before(open);
      if (end == std::string_view::npos || !callee) return std::nullopt;
      return Launch{*callee, open, k, end, false};
    }
    return std::nullopt;
  }

  // The bracket that opens what closes at k.
  std::optional<size_t> opening(size_t k, std::string_view open, std::string_view close) const {
    int depth = 0;
    for (size_t n = k + 1; n-- > 0;) {
      if (t_.is(n, close)) ++depth;
      if (t_.is(n, open) && --depth == 0) return n;
      if (open == "<" && (t_.is(n, ")") || t_.is(n, "]"))) {  // `(a > b)` inside template arguments
        const auto inner = opening(n, t_.is(n, ")") ? "(" : "[", t_.at(n));
        if (!inner) return std::nullopt;
        n = *inner;
      }
      if (open == "<" && t_.is(n, ";")) return std::nullopt;
    }
    return std::nullopt;
  }

  // The postfix expression that ends before `<<<`: k, ns::k<T, 4>, object.kernel, table[i], (*pointer), get().
  std::optional<size_t> callee_before(size_t open) const {
    size_t k = open;
    bool operand = false;  // an identifier or bracket has been taken, so only `::`, `.` and the like go on
    while (k > 0) {
      const size_t p = k - 1;
      if (t_.is(p, ">") && !operand) {
        const auto o = opening(p, "<", ">");
        if (!o || *o == 0 || !t_.is_word(*o - 1)) return std::nullopt;
        k = *o;
      } else if ((t_.is(p, ")") || t_.is(p, "]")) && !operand) {
        const bool index = t_.is(p, "]");
        const auto o = opening(p, index ? "[" : "(", t_.at(p));
        if (!o) return std::nullopt;
        k = *o;
        // a[i], f(x): what is indexed or called belongs to it. `if (c) (k)<<<…` does not.
        const bool goes_on =
            k > 0 && ((t_.is_word(k - 1) && !is_keyword(t_.at(k - 1))) || (index && (t_.is(k - 1, ")") || t_.is(k - 1, "]"))));
        if (!goes_on) return k;
      } else if (t_.is_word(p) && !operand && !is_keyword(t_.at(p))) {
        k = p;
        operand = true;
      } else if (operand && p > 0 && t_.is(p, ":") && t_.is(p - 1, ":")) {
        k = p - 1;
        operand = false;
        if (k == 0 || !(t_.is_word(k - 1) || t_.is(k - 1, ">")) || is_keyword(t_.at(k - 1))) return k;  // ::k
      } else if (operand && (t_.is(p, ".") || t_.is(p, "->"))) {
        k = p;
        operand = false;
      } else if (operand && t_.is(p, "template")) {
        k = p;
      } else {
        break;
      }
    }
    if (k == open) return std::nullopt;
    return k;
  }

  static bool is_keyword(std::string_view w) {
    for (std::string_view keyword : {"return", "else", "do", "if", "while", "for", "switch", "case", "template", "typename"})
      if (w == keyword) return true;
    return false;
  }

  const Tokens& t_;
  size_t head_ = 0;
  Found found_;
};

struct Edit {
  size_t from, to;
  std::string text;
  size_t number = 0;  // of edits at one place, the one made first comes first
  std::pair<size_t, size_t> order() const { return {from, number}; }
};

std::string apply(std::string_view text, std::vector<Edit>& edits) {
  std::string out;
  size_t at = 0;
  for (const Edit& e : edits) {
    out.append(text, at, e.from - at);
    out += e.text;
    at = e.to;
  }
  return out.append(text, at);
}

// The words between two places on one line: line markers inside a macro's arguments go, and line breaks become spaces.
std::string on_one_line(std::string_view text) {
  std::string out;
  bool line_start = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (line_start && text[i] == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
      if (i == text.size()) break;
    }
    line_start = text[i] == '\n' || (line_start && (text[i] == ' ' || text[i] == '\t'));
    out += text[i] == '\n' ? ' ' : text[i];
  }
  return out;
}

// What keeps the lines after an edit where they were: the line breaks and line markers of the words it took away.
std::string line_breaks(std::string_view text) {
  std::string out;
  for (size_t at = text.find('\n'); at != text.npos;) {
    const size_t next = text.find('\n', at + 1);
    const std::string_view line = text.substr(at + 1, next == text.npos ? text.npos : next - at - 1);
    out += '\n';
    if (line.starts_with('#')) out += line;
    at = next;
  }
  return out;
}

}  // namespace

DeviceLaunches find_device_launches(std::string_view text) {
  if (text.find("<<<") == text.npos && text.find("cudaLaunchDevice") == text.npos && text.find("cudaGetParameterBuffer") == text.npos &&
      text.find("#include \"") == text.npos)
    return DeviceLaunches::None;
  const Tokens tokens(text);
  for (const Launch& launch : Walk(tokens).run().launches)
    if (launch.device) return DeviceLaunches::Found;
  for (std::string_view directive : tokens.directives())
    if (directive.find("<<<") != directive.npos) return DeviceLaunches::Perhaps;
  return DeviceLaunches::None;
}

// Launches may stand in the arguments of launches: those outside come first, and the text inside is rewritten by itself.
std::string rewrite_for_device(std::string_view text) {
  const Tokens tokens(text);
  const Found found = Walk(tokens).run();
  const auto& list = tokens.list();
  std::vector<Edit> edits;
  auto between = [&](size_t a, size_t b) { return text.substr(a, b - a); };
  for (size_t body : found.kernel_bodies) edits.push_back({body, body, " asm volatile(\"\" ::: \"memory\"); "});
  for (const Launch& l : found.launches) {
    const std::string_view configuration = between(list[l.open + 2].end, list[l.close].begin);
    edits.push_back({list[l.callee].begin, list[l.callee].begin, "(::__warpbeam_configure_launch(" + on_one_line(configuration) + "), "});
    edits.push_back({list[l.open].begin, list[l.close + 2].end, line_breaks(configuration)});
    edits.push_back({list[l.end - 1].end, list[l.end - 1].end, ")"});
  }
  for (size_t k = 0; k < edits.size(); ++k) edits[k].number = k;
  std::ranges::sort(edits, {}, &Edit::order);
  return apply(text, edits);
}

std::string rewrite_for_host(std::string_view text) {
  const Tokens tokens(text);
  const Found found = Walk(tokens).run();
  const auto& list = tokens.list();
  std::vector<Edit> edits;
  for (const Launch& l : found.launches) {
    if (!l.device) continue;
    const size_t begin = list[l.callee].begin, end = list[l.end - 1].end;
    if (!edits.empty() && begin < edits.back().to) continue;  // inside the arguments of another
    edits.push_back({begin, end, "((void)0)" + line_breaks(text.substr(begin, end - begin))});
  }
  return apply(text, edits);
}

}  // namespace warpbeam::compiler
