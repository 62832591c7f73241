#include "compiler/mended_text.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>
#include <vector>

#include "compiler/source_scan.h"

namespace warpbeam::compiler {
namespace {

constexpr std::string_view kShared = "initialization is not supported for __shared__ variables";
constexpr std::string_view kVoid = "arithmetic on a pointer to void", kVoids = "arithmetic on pointers to void";
constexpr std::string_view kHostCall = "reference to __host__ function";
constexpr std::string_view kFromBoth = "in __host__ __device__ function";
constexpr std::string_view kSuffix = "no matching literal operator for call to 'operator\"\"__";
constexpr std::string_view kVariableSize = "variable-sized object may not be initialized";
constexpr std::string_view kJump = "cannot jump from switch statement to this case label";
constexpr std::string_view kJumped = "jump bypasses variable initialization";
constexpr std::string_view kOtherSides = "' cannot overload __";
constexpr std::string_view kEarlier = "previous declaration is here";
constexpr std::string_view kSpecialized = "no function template matches function template specialization";
constexpr std::string_view kTemplate = "target attributes do not match";
constexpr std::string_view kOutside = "out-of-line definition of '", kMember = "member declaration nearly matches";
constexpr std::string_view kMain = "no template named 'main'";
constexpr std::string_view kNoType = "a type specifier is required for all declarations";
constexpr std::string_view kLambda = "(lambda at ";
constexpr std::string_view kArgument = "invalid explicitly-specified argument for template parameter";
constexpr std::string_view kNotTemplate = "missing 'template' keyword prior to dependent template name '",
                           kDependent = "use 'template' keyword to treat '";
constexpr std::string_view kNotTypename = "missing 'typename' prior to dependent type name '";
constexpr std::string_view kNotCalled = "reference to non-static member function must be called";
constexpr std::string_view kHost = "__attribute__((host)) ", kDevice = "__attribute__((device)) ";

bool has(std::string_view text, std::string_view what) { return text.find(what) != std::string_view::npos; }

struct Place {
  size_t line = 0, column = 0;  // from 1
};
struct Range {
  Place begin, end;
};
struct Message {
  Place place;
  std::vector<Range> ranges;
  std::string_view text;  // "error: …"
};

bool number(std::string_view& s, size_t& value) {
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc()) return false;
  s.remove_prefix(end - s.data());
  return true;
}

bool mark(std::string_view& s, char c) {
  if (!s.starts_with(c)) return false;
  s.remove_prefix(1);
  return true;
}

bool place(std::string_view& s, Place& at) { return number(s, at.line) && mark(s, ':') && number(s, at.column); }

// FILE:LINE:COLUMN:{LINE:COLUMN-LINE:COLUMN}…: TEXT
std::vector<Message> read_messages(std::string_view messages, std::string_view file) {
  std::vector<Message> out;
  while (!messages.empty()) {
    const size_t end = std::min(messages.find('\n'), messages.size());
    std::string_view s = messages.substr(0, end);
    messages.remove_prefix(std::min(end + 1, messages.size()));
    Message m;
    if (!s.starts_with(file)) continue;
    s.remove_prefix(file.size());
    if (!mark(s, ':') || !place(s, m.place) || !mark(s, ':')) continue;
    while (mark(s, '{')) {
      Range range;
      if (!place(s, range.begin) || !mark(s, '-') || !place(s, range.end) || !mark(s, '}')) break;
      m.ranges.push_back(range);
    }
    mark(s, ':');
    mark(s, ' ');
    m.text = s;
    out.push_back(std::move(m));
  }
  return out;
}

class Mender {
 public:
  Mender(std::string_view text, bool optimised) : s_(text), reference_(optimised ? "static constexpr " : "constexpr ") {
    lines_.push_back(0);
    for (size_t i = 0; i < s_.size(); ++i)
      if (s_[i] == '\n') lines_.push_back(i + 1);
  }

  void mend(const std::vector<Message>& messages, std::string_view file) {
    bool host_call = false;
    size_t definition = 0;
    for (const Message& m : messages) {
      if (m.text.starts_with("error: ")) {
        host_call = has(m.text, kHostCall) && has(m.text, kFromBoth);
        if (host_call) trap_on_device(declaration_in_c(m.text));
        definition = offset(m.place);
      }
      if (m.text.ends_with(kEarlier) || m.text.ends_with(kMember) || has(m.text, kTemplate)) agree_on_sides(definition, offset(m.place));
      if (has(m.text, kVariableSize)) initialize_afterwards(offset(m.place));
      if (has(m.text, kJumped)) assign_instead(offset(m.place));
      if (has(m.text, kMain)) give_main_a_type(offset(m.place));
      if (has(m.text, kShared)) leave_unconstructed(offset(m.place));
      if (has(m.text, kVoid) || has(m.text, kVoids))
        for (const Range& range : m.ranges) count_in_bytes(offset(range.begin), offset(range.end));
      if (host_call && m.text.ends_with("declared here")) trap_on_device(offset(m.place));
      if (has(m.text, kSuffix)) read_suffix(offset(m.place));
      if (has(m.text, kArgument)) name_from_host(definition);
      for (std::string_view said : {kNotTemplate, kDependent})
        if (const size_t name = m.text.find(said); name != std::string_view::npos)
          say_template(offset(m.place), m.text.substr(name + said.size()));
      if (has(m.text, kNotTypename) && done_.insert(offset(m.place)).second) edits_.push_back({offset(m.place), 0, "typename "});
      if (has(m.text, kNotCalled)) say_template(offset(m.place), s_.substr(std::min(offset(m.place), s_.size())));
      for (size_t at = m.text.find(kLambda); at != std::string_view::npos; at = m.text.find(kLambda, at + 1)) {
        std::string_view where = m.text.substr(at + kLambda.size());
        Place lambda;
        if (!where.starts_with(file)) continue;
        where.remove_prefix(file.size());
        if (mark(where, ':') && place(where, lambda)) call_from_host(offset(lambda));
      }
    }
  }

  std::optional<std::string> result() {
    if (edits_.empty()) return std::nullopt;
    std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return std::tie(a.at, a.order) < std::tie(b.at, b.order); });
    std::string out;
    size_t copied = 0;
    for (const Edit& e : edits_) {
      if (e.at < copied) return std::nullopt;  // one inside another
      out.append(s_.substr(copied, e.at - copied)).append(e.what);
      copied = e.at + e.length;
    }
    return out.append(s_.substr(copied));
  }

 private:
  struct Edit {
    size_t at, length;
    std::string what;
    int order = 0;  // at the same place
  };

  size_t offset(Place place) const {
    if (place.line == 0 || place.line > lines_.size()) return std::string_view::npos;
    return std::min(lines_[place.line - 1] + place.column - 1, s_.size());
  }

  // The brace that opens what closes before `at`.
  size_t opening_brace(size_t at) const {
    int depth = 0;
    while (at > 0) {
      if (s_[--at] == '}') ++depth;
      if (s_[at] == '{' && --depth == 0) return at;
    }
    return 0;
  }

  // The beginning of the statement or declaration around `at`.
  size_t statement(size_t at) const {
    int depth = 0;
    bool in_type = true;
    while (at > 0) {
      const char c = s_[at - 1];
      if (c == ')' || c == ']') ++depth;
      if (c == '(' || c == '[') --depth;
      if (depth < 0) break;
      if (depth == 0 && c == '}' && in_type) {  // that of `struct { … } name;`
        at = opening_brace(at);
        continue;
      }
      if (depth == 0 && !std::isspace(static_cast<unsigned char>(c))) in_type = false;
      if (depth == 0 && (c == ';' || c == '{' || c == '}')) break;
      // An access specifier; not `::`.
      if (depth == 0 && c == ':' && (at < 2 || s_[at - 2] != ':') && s_.substr(at, 1) != ":") break;
      --at;
    }
    bool line_start = true;
    while (at < s_.size()) {  // a marker, a pragma or space is none of it
      if (std::isspace(static_cast<unsigned char>(s_[at]))) {
        line_start = line_start || s_[at] == '\n';
        ++at;
      } else if (const size_t end = past_opaque(s_, at, line_start); end != at && s_[at] != '"') {
        at = end;
      } else {
        break;
      }
    }
    return at;
  }

  size_t past_space(size_t at) const {
    while (at < s_.size() && std::isspace(static_cast<unsigned char>(s_[at]))) ++at;
    return at;
  }

  // Behind the bracket that closes the one at `at`.
  size_t past_brackets(size_t at) const {
    int depth = 0;
    for (; at < s_.size(); ++at) {
      if (s_[at] == '(' || s_[at] == '[' || s_[at] == '{') ++depth;
      if ((s_[at] == ')' || s_[at] == ']' || s_[at] == '}') && --depth == 0) return at + 1;
    }
    return at;
  }

  size_t past_name(size_t at) const {
    while (at < s_.size() && is_name(s_[at])) ++at;
    return at;
  }

  static bool outer_comma(std::string_view s) {
    int depth = 0;
    for (const char c : s) {
      if (c == '(' || c == '<' || c == '[') ++depth;
      if (c == ')' || c == '>' || c == ']') --depth;
      if (c == ',' && depth == 0) return true;
    }
    return false;
  }

  // `__shared__ T a[4], b;` becomes types a and b, unions of them that are shared, and references with the old names.
  // Static references: a lambda that captures by value must not copy what they refer to. PTX has no such static
  // variable, but it goes away.
  void leave_unconstructed(size_t name) {
    if (name >= s_.size() || !done_.insert(name).second) return;
    const size_t begin = statement(name);
    std::string specifiers(s_.substr(begin, name - begin));
    bool shared = false;
    for (std::string_view gone : {"__attribute__((shared))", "static "}) {
      const size_t at = specifiers.find(gone);
      if (at == std::string::npos) continue;
      if (gone.front() == '_') shared = true;
      specifiers.erase(at, gone.size());
    }
    if (!shared || outer_comma(specifiers)) return;  // the first declarator has no constructor: a pointer, say
    std::string types, variables;
    size_t at = name;
    for (;;) {
      const size_t first = at;
      while (at < s_.size() && s_[at] == '*') at = past_space(at + 1);
      const std::string stars(s_.substr(first, at - first));
      const size_t end = past_name(at);
      const std::string variable(s_.substr(at, end - at));
      if (variable.empty()) return;
      at = past_space(end);
      while (at < s_.size() && s_[at] == '[') at = past_space(past_brackets(at));
      const std::string type = variable + "__warpbeam_t", object = variable + "__warpbeam_u";
      types += (types.empty() ? "" : ", ") + stars + type + std::string(s_.substr(end, at - end));
      variables += "; static __attribute__((shared)) __attribute__((aligned(alignof(" + type + ")))) __warpbeam_unconstructed<" + type +
                   "> " + object + "; " + reference_ + type + "& " + variable + " = " + object + ".value";
      if (at >= s_.size() || (s_[at] != ',' && s_[at] != ';')) return;  // an initializer is an error to nvcc as well
      if (s_[at] == ';') break;
      done_.insert(at = past_space(at + 1));
    }
    std::ranges::replace(variables, '\n', ' ');
    edits_.push_back({begin, at - begin, "typedef " + specifiers + types + variables});
  }

  void count_in_bytes(size_t begin, size_t end) {
    if (end > s_.size() || begin >= end || !done_.insert(begin).second) return;
    edits_.push_back({begin, 0, "__warpbeam_bytes("});
    edits_.push_back({end, 0, ")", -1});
  }

  // Where the C library declares the function that the message names: where clang knows it by itself, no note says so.
  size_t declaration_in_c(std::string_view message) const {
    const size_t quote = message.find('\'');
    const std::string name(message.substr(quote + 1, message.find('\'', quote + 1) - quote - 1));
    for (size_t at = 0; (at = s_.find("\nextern ", at)) != std::string_view::npos;) {
      const std::string_view line = s_.substr(at + 1, s_.find('\n', at + 1) - at - 1);
      for (const char before : {' ', '*'}) {
        const size_t found = line.find(before + name + " (");
        if (found != std::string_view::npos) return at + found + 2;
      }
      ++at;
    }
    return std::string_view::npos;
  }

  // Puts a function of the device with the same head before that of the host.
  void trap_on_device(size_t name) {
    if (name >= s_.size() || !done_.insert(name).second) return;
    const size_t begin = statement(name);
    size_t at = name;
    if (s_.substr(name).starts_with("operator")) {
      at = past_space(name + 8);
      if (s_.substr(at).starts_with("()")) at += 2;
    }
    while (at < s_.size() && s_[at] != '(') ++at;
    for (at = past_brackets(at); at < s_.size();) {
      const char c = s_[at];
      if (c == ';' || c == '{' || c == '=' || (c == ':' && s_.substr(at, 2) != "::")) break;
      at = c == '(' ? past_brackets(at) : at + 1;
    }
    std::string head(s_.substr(begin, at - begin));
    if (head.find("__attribute__((host))") != std::string::npos || head.find('\n') != std::string::npos) {
      // Markers of lines do not stand within one.
      std::string flat;
      for (size_t i = 0; i < head.size();) {
        const size_t end = std::min(head.find('\n', i), head.size());
        const std::string_view line = std::string_view(head).substr(i, end - i);
        if (!line.starts_with('#')) flat.append(line).append(" ");
        i = end + 1;
      }
      head = flat;
      for (size_t host; (host = head.find("__attribute__((host))")) != std::string::npos;) head.erase(host, 21);
    }
    while (std::isspace(static_cast<unsigned char>(head.back()))) head.pop_back();
    head.insert(past_templates(head, 0), has(head, "inline") ? "__attribute__((device)) " : "__attribute__((device)) inline ");
    edits_.push_back({begin, 0, head + " { __builtin_trap(); } "});
  }

  // Behind `template <…>`, as often as it stands at `at`.
  static size_t past_templates(std::string_view s, size_t at) {
    while (s.substr(at).starts_with("template")) {
      int depth = 0;
      for (; at < s.size(); ++at) {
        if (s[at] == '<') ++depth;
        if (s[at] == '>' && --depth == 0) break;
      }
      at = std::min(at + 1, s.size());
      while (at < s.size() && std::isspace(static_cast<unsigned char>(s[at]))) ++at;
    }
    return at;
  }

  // A function is for whom either of its declarations says.
  void agree_on_sides(size_t one, size_t other) {
    if (one >= s_.size() || other >= s_.size()) return;
    for (const std::string_view side : {kHost, kDevice}) {
      const bool first = is_for(side, one), second = is_for(side, other);
      if (first != second) put_on(first ? other : one, side);
    }
  }

  bool is_for(std::string_view side, size_t name) const {
    const size_t begin = statement(name);
    return has(s_.substr(begin, name - begin), side.substr(0, side.size() - 1));
  }

  void put_on(size_t name, std::string_view side) {
    const size_t at = past_templates(s_, statement(name));
    if (put_.emplace(at, side).second) edits_.push_back({at, 0, std::string(side), int(edits_.size())});
  }

  // Where the initializer that begins at `at` ends: at a comma or a semicolon.
  size_t past_initializer(size_t at) const {
    while (at < s_.size() && s_[at] != ',' && s_[at] != ';') {
      const size_t end = s_[at] == '"' || s_[at] == '\'' ? past_opaque(s_, at, false) : at;
      at = end != at ? end : s_[at] == '(' || s_[at] == '[' || s_[at] == '{' ? past_brackets(at) : at + 1;
    }
    return at;
  }

  // `int a[n] = {1}, b = 2;` becomes `int a[n]; <a takes the items>; int b = 2;`. `at` is where n stands, or a before
  // text.
  void initialize_afterwards(size_t at) {
    if (at >= s_.size()) return;
    size_t name = at;
    while (name > 0 && std::string_view("[,;={}").find(s_[name - 1]) == std::string_view::npos) --name;
    name = name > 0 && s_[name - 1] == '[' ? name - 1 : past_name(at);
    const size_t bracket = name;
    while (name > 0 && std::isspace(static_cast<unsigned char>(s_[name - 1]))) --name;
    const size_t name_end = name;
    while (name > 0 && is_name(s_[name - 1])) --name;
    if (name == name_end || !done_.insert(name).second) return;
    const std::string variable(s_.substr(name, name_end - name));
    drop_const(name);
    size_t equals = past_space(bracket);
    while (equals < s_.size() && s_[equals] == '[') equals = past_space(past_brackets(equals));
    if (equals >= s_.size() || (s_[equals] != '=' && s_[equals] != '{')) return;
    const size_t items = s_[equals] == '=' ? past_space(equals + 1) : equals, end = past_initializer(items);
    const bool none = s_[items] == '{' && s_[past_space(items + 1)] == '}';
    const std::string list = variable + "__warpbeam_items";
    std::string after = "; { const __typeof__(" + variable + "[0]) " + list + (none ? "[1]" : "[]") + " = " +
                        std::string(s_.substr(items, end - items)) + "; __warpbeam_initialize(&" + variable + "[0], sizeof(" + variable +
                        ") / sizeof(" + variable + "[0]), " + list + "); }";
    size_t replaced = end;
    if (end < s_.size() && s_[end] == ',') {
      if (s_[past_space(end + 1)] == '*') return;  // the items need not be of the variables' type
      after += " __typeof__(" + variable + "[0]) ";
      replaced = end + 1;
    }
    edits_.push_back({equals, replaced - equals, after});
  }

  // `int x = 3;` becomes `int x; x = 3;`, past which one may jump.
  void assign_instead(size_t name) {
    if (name >= s_.size() || !done_.insert(name).second) return;
    const size_t name_end = past_name(name), equals = past_space(name_end);
    if (equals >= s_.size() || s_[equals] != '=') return;
    const size_t end = past_initializer(equals);
    size_t semicolon = end;
    while (semicolon < s_.size() && s_[semicolon] == ',') semicolon = past_initializer(semicolon + 1);
    if (semicolon >= s_.size()) return;
    drop_const(name);
    edits_.push_back({equals, end - equals, ""});
    edits_.push_back({semicolon + 1, 0, " " + std::string(s_.substr(name, end - name)) + ";", int(name)});
  }

  // What is declared at `name` is given its value later.
  void drop_const(size_t name) {
    constexpr std::string_view kConst = "const ";
    const size_t begin = statement(name);
    if (s_.substr(begin).starts_with(kConst) && !has(s_.substr(begin, name - begin), "*") && done_.insert(begin).second)
      edits_.push_back({begin, kConst.size(), ""});
  }

  void give_main_a_type(size_t name) {
    if (name < s_.size() && done_.insert(name).second) edits_.push_back({name, 0, "int "});
  }

  // `Base<T>::cast<4>(d, s)`, where the name behind `at` is that of a template: nvcc finds that out when it knows T.
  void say_template(size_t at, std::string_view name) {
    name = name.substr(0, static_cast<size_t>(std::ranges::find_if_not(name, is_name) - name.begin()));
    if (name.empty() || at >= s_.size()) return;
    for (const size_t last = std::min(s_.find(';', at), s_.size()); (at = s_.find(name, at)) < last; at += name.size()) {
      const size_t before = at ? std::min(s_.find_last_not_of(" \t\n", at - 1), at) : at;
      const bool member = s_[before] == ':' || s_[before] == '.' || s_[before] == '>';
      if (!member || at == 0 || is_name(s_[at - 1]) || past_space(at + name.size()) >= s_.size() || s_[past_space(at + name.size())] != '<')
        continue;
      if (done_.insert(at).second) edits_.push_back({at, 0, "template "});
      return;
    }
  }

  // `[=] __device__ (int i) { … }`: for both sides.
  void call_from_host(size_t lambda) {
    if (lambda >= s_.size() || s_[lambda] != '[' || !done_.insert(lambda).second) return;
    size_t at = past_space(past_brackets(lambda));
    const size_t sides = at;
    bool device = false;
    for (size_t next = at; s_.substr(at).starts_with("__attribute__"); at = next) {
      next = past_space(past_brackets(at + std::string_view("__attribute__").size()));
      const std::string_view side = s_.substr(at, next - at);
      if (has(side, "((host))")) return;
      device = device || has(side, "((device))");
    }
    if (device) edits_.push_back({sides, 0, std::string(kHost)});
  }

  // `kernel<op>`, where the device has several functions of that name: they are for the host too, which does not call them.
  void name_from_host(size_t call) {
    while (call < s_.size() && (is_name(s_[call]) || s_[call] == ':')) ++call;
    int depth = 0;
    for (size_t at = past_space(call); at < s_.size(); ++at) {
      if (s_[at] == '<') ++depth;
      if ((s_[at] == '>' && --depth == 0) || s_[at] == ';' || depth == 0) return;
      if (!is_name(s_[at]) || std::isdigit(static_cast<unsigned char>(s_[at]))) continue;
      const size_t end = past_name(at);
      for_host_too(s_.substr(at, end - at));
      at = end - 1;
    }
  }

  void for_host_too(std::string_view name) {
    for (size_t at = s_.find(name); at != std::string_view::npos; at = s_.find(name, at + 1)) {
      const size_t end = at + name.size();
      if (is_name(s_[at - (at > 0)]) || past_name(end) != end || past_space(end) >= s_.size() || s_[past_space(end)] != '(') continue;
      if (is_for(kDevice, at) && !is_for(kHost, at)) put_on(at, "__attribute__((host)) inline ");
    }
  }

  // `"in "__FILE__`: the macro for itself.
  void read_suffix(size_t name) {
    if (name >= s_.size() || !done_.insert(name).second) return;
    const std::string_view macro = s_.substr(name, past_name(name) - name);
    if (macro != "__FILE__" && macro != "__LINE__") return;
    // The last marker before it, # LINE "FILE" …, is about the line that follows.
    size_t line = std::upper_bound(lines_.begin(), lines_.end(), name) - lines_.begin() - 1;
    for (size_t below = 0; line > 0; ++below) {
      --line;
      std::string_view marker = s_.substr(lines_[line], lines_[line + 1] - lines_[line]);
      size_t number_below = 0;
      if (!mark(marker, '#') || !mark(marker, ' ') || !number(marker, number_below)) continue;
      const size_t open = marker.find('"'), close = marker.rfind('"');
      if (open == close) return;
      edits_.push_back(
          {name, macro.size(),
           macro == "__LINE__" ? " " + std::to_string(number_below + below) : " " + std::string(marker.substr(open, close + 1 - open))});
      return;
    }
  }

  std::string_view s_;
  const char* reference_;
  std::vector<size_t> lines_;
  std::vector<Edit> edits_;
  std::set<size_t> done_;
  std::set<std::pair<size_t, std::string_view>> put_;
};

}  // namespace

bool can_be_mended(std::string_view messages) {
  return has(messages, kShared) || has(messages, kVoid) || has(messages, kVoids) || has(messages, kSuffix) ||
         (has(messages, kHostCall) && has(messages, kFromBoth)) || has(messages, kVariableSize) || has(messages, kJump) ||
         has(messages, kOtherSides) || has(messages, kSpecialized) || has(messages, kOutside) || has(messages, kMain) ||
         has(messages, kNoType) || has(messages, kLambda) || has(messages, kArgument) || has(messages, kNotTemplate) ||
         has(messages, kDependent) || has(messages, kNotTypename) || has(messages, kNotCalled);
}

bool names_other_errors(std::string_view messages) {
  while (!messages.empty()) {
    const size_t end = std::min(messages.find('\n'), messages.size());
    const std::string_view line = messages.substr(0, end);
    if (has(line, "error: ") && !can_be_mended(line)) return true;
    messages.remove_prefix(std::min(end + 1, messages.size()));
  }
  return false;
}

std::string with_own_lines(std::string_view text, std::string_view file) {
  std::string out;
  out.reserve(text.size());
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view s = text.substr(0, end);
    const bool marker = s.size() > 2 && s[0] == '#' && s[1] == ' ' && std::isdigit(static_cast<unsigned char>(s[2]));
    // Flag 3 is for a header of the system.
    const bool system = marker && has(s.substr(s.rfind('"') + 1), "3");
    if (marker) out.append("# ").append(std::to_string(line + 1)).append(" \"").append(file).append(system ? "\" 3\n" : "\"\n");
    else out.append(s);
    text.remove_prefix(end);
  }
  return out;
}

std::optional<std::string> mend_text(std::string_view text, std::string_view file, std::string_view messages, bool optimised) {
  Mender mender(text, optimised);
  mender.mend(read_messages(messages, file), file);
  return mender.result();
}

}  // namespace warpbeam::compiler
