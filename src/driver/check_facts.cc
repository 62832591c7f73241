#include "driver/check_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "driver/passes.h"
#include "driver/prelude_cache.h"
#include "driver/process.h"
#include "driver/type_gaps.h"

namespace warpbeam::driver {

namespace {

struct Size {
  uint64_t bytes = 0, align = 1;
};

// Reads LLVM's types far enough to know their sizes.
class Types {
 public:
  void define(const std::string& name, std::string body) { named_[name] = std::move(body); }

  // The size of the type at the front of `text`, which is moved behind it. 0 when it is of no known kind.
  Size read(std::string_view& text) {
    skip(text);
    if (take(text, "[")) {
      const uint64_t n = number(text);
      take(text, "x");
      const Size element = read(text);
      take(text, "]");
      return {n * element.bytes, element.align};
    }
    if (take(text, "<{")) return structure(text, "}>", true);
    if (take(text, "<")) {
      const uint64_t n = number(text);
      take(text, "x");
      const Size element = read(text);
      take(text, ">");
      uint64_t bytes = n * element.bytes;
      return {bytes, bytes};
    }
    if (take(text, "{")) return structure(text, "}", false);
    if (text.starts_with("%")) {
      size_t end = 1;
      if (text.starts_with("%\"")) end = text.find('"', 2) + 1;
      else while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '.' || text[end] == '_' || text[end] == '$')) ++end;
      const std::string name(text.substr(0, end));
      text.remove_prefix(end);
      auto it = named_.find(name);
      if (it == named_.end() || ++depth_ > 50) return {};
      std::string_view body = it->second;
      const Size s = read(body);
      --depth_;
      return s;
    }
    if (take(text, "half") || take(text, "bfloat")) return {2, 2};
    if (take(text, "float")) return {4, 4};
    if (take(text, "double")) return {8, 8};
    if (take(text, "ptr")) {
      skip(text);
      if (text.starts_with("addrspace(")) text.remove_prefix(text.find(')') + 1);
      return {8, 8};
    }
    if (take(text, "i")) {
      const uint64_t bytes = std::max<uint64_t>(number(text) / 8, 1);
      return {bytes, bytes};
    }
    return {};
  }

  // `[4 x [5 x i32]]`: dimensions 4 and 5, elements of 4 bytes.
  std::string shape(std::string_view text) {
    std::string dimensions;
    skip(text);
    while (text.starts_with("[")) {
      text.remove_prefix(1);
      dimensions += fmt::format(";{}", number(text));
      take(text, "x");
      skip(text);
    }
    const Size element = read(text);
    return element.bytes ? fmt::format("{}{}", element.bytes, dimensions) : "";
  }

 private:
  static void skip(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size())); }
  static bool take(std::string_view& text, std::string_view word) {
    skip(text);
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
  }
  static uint64_t number(std::string_view& text) {
    skip(text);
    uint64_t n = 0;
    for (; !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])); text.remove_prefix(1)) n = 10 * n + static_cast<uint64_t>(text[0] - '0');
    return n;
  }
  Size structure(std::string_view& text, std::string_view end, bool packed) {
    Size all;
    while (!take(text, end)) {
      const std::string_view before = text;
      Size s = read(text);
      if (text.size() == before.size()) return {};
      if (packed) s.align = 1;
      if (s.align) all.bytes = (all.bytes + s.align - 1) / s.align * s.align;
      all.bytes += s.bytes;
      all.align = std::max(all.align, s.align);
    }
    all.bytes = (all.bytes + all.align - 1) / all.align * all.align;
    return all;
  }

  std::map<std::string, std::string> named_;
  int depth_ = 0;
};

// Paths inside the working directory are as the user typed them.
std::string shown(std::string path) {
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string() + "/";
  if (path.starts_with(here)) path.erase(0, here.size());
  return path;
}

// `file:line:column: warning: text [-Wname]`
bool read_warning(const std::string& line, std::string& place, std::string& text) {
  const size_t at = line.find(": warning: ");
  if (at == std::string::npos) return false;
  const size_t column = line.rfind(':', at - 1);
  if (column == std::string::npos) return false;
  place = shown(line.substr(0, column));
  text = line.substr(at + 11);
  return true;
}

// Is that a use in an argument of a shuffle? `int i; if (leader) i = atomicAdd(…); i = __shfl_sync(mask, i, 0);` is how
// books write it: what lanes give of which nobody reads may have no value, and what is read the checker follows itself.
// `note`: file:line:column: note: …
bool given_to_shuffle(const std::string& note) {
  const size_t end = note.find(": note: "), before_column = note.rfind(':', end - 1), before_line = note.rfind(':', before_column - 1);
  if (end == std::string::npos || before_column == std::string::npos || before_line == std::string::npos) return false;
  const size_t column = std::strtoul(note.c_str() + before_column + 1, nullptr, 10), number = std::strtoul(note.c_str() + before_line + 1, nullptr, 10);
  std::ifstream in(note.substr(0, before_line));
  std::string line;
  for (size_t n = 0; n < number; ++n)
    if (!std::getline(in, line)) return false;
  int closed = 0;
  for (size_t k = std::min(column ? column - 1 : 0, line.size()); k-- > 0;) {
    if (line[k] == ')') ++closed;
    if (line[k] != '(' || closed-- > 0) continue;
    closed = 0;
    size_t name = k;
    while (name > 0 && (std::isalnum(static_cast<unsigned char>(line[name - 1])) || line[name - 1] == '_')) --name;
    if (line.substr(name, k - name).find("shfl") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::string shapes_of(const std::string& ir) {
  Types types;
  std::string out;
  std::istringstream in(ir);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("%"))
      if (size_t at = line.find(" = type "); at != std::string::npos) types.define(line.substr(0, at), line.substr(at + 8));
    if (line.starts_with("@")) lines.push_back(line);
  }
  for (const std::string& line : lines) {
    const size_t equals = line.find(" = "), space = line.find("addrspace(");
    size_t at = line.find(" global ");
    size_t skip = 8;
    if (at == std::string::npos) at = line.find(" constant "), skip = 10;
    if (equals == std::string::npos || space == std::string::npos || at == std::string::npos || space > at) continue;
    std::string name = line.substr(1, equals - 1);
    if (name.starts_with("\"")) name = name.substr(1, name.size() - 2);
    const std::string shape = types.shape(std::string_view(line).substr(at + skip));
    if (!shape.empty()) out += fmt::format("{};{}\n", name, shape);
  }
  return out;
}

CheckFacts gather_check_facts(const Options& options, const std::string& directory) {
  CheckFacts facts;
  std::vector<Command> commands;
  std::vector<std::string> ir_files;
  for (const Input& input : options.inputs) {
    if (input.language != Language::Cuda) continue;
    const std::string file = fmt::format("{}/{}.ll", directory, ir_files.size());
    ir_files.push_back(file);
    commands.push_back(shapes_pass(options, input.path, options.targets.front(), file, nullptr));
    commands.push_back(unused_results_pass(options, input.path));
  }
  const std::vector<Outcome> outcomes = run_with_kept_prelude(commands, 2);
  std::string shapes;
  facts.complete = !commands.empty();
  std::set<std::string> seen;
  for (size_t k = 0; k < outcomes.size(); ++k) {
    facts.complete = facts.complete && outcomes[k].status == 0;
    std::istringstream lines(outcomes[k].messages);
    std::string place, text;
    bool perhaps = false;  // the last warning is of a variable that some ways leave without a value
    for (std::string line; std::getline(lines, line);) {
      if (perhaps && line.ends_with(": note: uninitialized use occurs here") && given_to_shuffle(line)) {
        facts.uninitialised.pop_back();
        perhaps = false;
      }
      if (!read_warning(line, place, text)) continue;
      perhaps = false;
      if (text.find("[-Wunused-result]") != std::string::npos) {
        facts.unused.insert(place);
      } else if (text.find("uninitialized]") != std::string::npos) {
        const size_t open = text.find('\''), close = text.find('\'', open + 1);
        if (close == std::string::npos || !seen.insert(place + text).second) continue;
        perhaps = text.find("sometimes-") != std::string::npos;
        facts.uninitialised.push_back({place, text.substr(open + 1, close - open - 1), perhaps});
      }
    }
    if (k % 2 == 0) {
      std::ifstream in(ir_files[k / 2]);
      const std::string ir(std::istreambuf_iterator<char>(in), {});
      shapes += shapes_of(ir) + gaps_of(ir);
      std::ifstream kernels(kernels_file_of(ir_files[k / 2]));
      for (std::string name; std::getline(kernels, name);) shapes += fmt::format("^{}\n", name);
    }
  }
  // Lines that begin with `!` are for the command, the others for the checker.
  for (const auto& u : facts.uninitialised) shapes += fmt::format("!uninitialised\t{}\t{}\t{}\n", u.place, u.variable, u.sometimes ? 1 : 0);
  for (const auto& place : facts.unused) shapes += fmt::format("!unused\t{}\n", place);
  facts.shapes = directory + "/facts";
  std::ofstream(facts.shapes) << shapes;
  return facts;
}

CheckFacts read_check_facts(const std::string& file) {
  CheckFacts facts;
  facts.shapes = file;
  facts.complete = true;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("!")) continue;
    std::vector<std::string> parts;
    std::istringstream words(line);
    for (std::string part; std::getline(words, part, '\t');) parts.push_back(part);
    if (parts[0] == "!unused" && parts.size() == 2) facts.unused.insert(parts[1]);
    if (parts[0] == "!uninitialised" && parts.size() == 4) facts.uninitialised.push_back({parts[1], parts[2], parts[3] == "1"});
  }
  return facts;
}

}  // namespace warpbeam::driver
