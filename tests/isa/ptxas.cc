#include "ptxas.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <unistd.h>

#include "ptx/module.h"
#include "vm/lane_chapters.h"

namespace warpbeam::isa_test {
namespace {

namespace fs = std::filesystem;

std::string module_text(const std::vector<std::string>& lines, int sm) {
  std::string text = fuzz::module_header(sm) +
                     ".global .align 16 .b32 g[16]; .shared .align 16 .b32 s[16]; .const .align 16 .b32 c[16];\n" +
                     ".visible .entry k() {\n.local .align 16 .b32 l[16]; .reg .v2 .b32 %v; .reg .v4 .f32 %w; " +
                     std::string(fuzz::register_declarations());
  for (const std::string& line : lines) text += line + "\n";
  return text + "ret;\n}\n";
}

struct Answer {
  bool accepted = false;                     // the whole text
  std::map<size_t, std::string> complaints;  // by line
  std::string text;
};

Answer ask(const std::string& ptxas, const std::vector<std::string>& lines, int sm) {
  const std::string text = module_text(lines, sm);
  const fs::path folder = fs::temp_directory_path() / fmt::format("warpbeam-isa-{}", ::getpid());
  fs::create_directories(folder);
  const std::string file = (folder / "t.ptx").string(), log = (folder / "t.log").string();
  std::ofstream(file) << text;
  const std::string command =
      fmt::format("timeout 20 '{}' -O0 -arch=sm_{} '{}' -o /dev/null > '{}' 2>&1", ptxas, sm == 90 ? "90a" : std::to_string(sm), file, log);
  Answer answer;
  answer.accepted = std::system(command.c_str()) == 0;
  const size_t first = static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(text.find("%q<16>")), '\n')) + 2;
  std::ifstream in(log);
  static const std::regex kLine("line ([0-9]+); (?:error|fatal) *: (.*)");
  for (std::string line; std::getline(in, line);) {
    std::smatch m;
    if (std::regex_search(line, m, kLine)) answer.complaints.emplace(std::stoul(m[1]) - first, m[2]);
    answer.text += line + "\n";
  }
  fs::remove_all(folder);
  return answer;
}

// Some complaints name the line of an earlier statement, so those without one are asked about again by themselves until
// nobody complains.
void ask_until_quiet(const std::string& ptxas, const std::vector<std::string>& lines, size_t first, size_t last, int sm,
                     std::map<size_t, std::string>& refused) {
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> left;
    std::vector<size_t> numbers;
    for (size_t k = first; k < last; ++k)
      if (!refused.contains(k)) {
        left.push_back(lines[k]);
        numbers.push_back(k);
      }
    const Answer answer = ask(ptxas, left, sm);
    for (const auto& [k, why] : answer.complaints)
      if (k < numbers.size()) refused.emplace(numbers[k], why);
    if (!answer.complaints.empty()) continue;
    // Statements passed; what follows (register allocation, encoding) looks at the made-up kernel as a whole. Where ptxas itself
    // breaks, or comes to no end, each line is asked about alone.
    if (!answer.accepted)
      for (const size_t k : numbers)
        if (const Answer alone = ask(ptxas, {lines[k]}, sm); !alone.accepted) refused.emplace(k, alone.text);
    break;
  }
}

}  // namespace

std::string find_ptxas() {
  const char* path = std::getenv("PATH");
  std::stringstream list(path ? path : "");
  for (std::string folder; std::getline(list, folder, ':');)
    if (fs::exists(folder + "/ptxas")) return folder + "/ptxas";
  return {};
}

std::map<size_t, std::string> refused_by_ptxas(const std::string& ptxas, const std::vector<std::string>& lines, int sm, size_t at_once) {
  std::map<size_t, std::string> refused;
  for (size_t first = 0; first < lines.size(); first += at_once)
    ask_until_quiet(ptxas, lines, first, std::min(first + at_once, lines.size()), sm, refused);
  return refused;
}

std::string our_refusal(const std::string& line) {
  const ptx::ParseResult r = ptx::parse(module_text({line}, 90));
  if (!r.diagnostics.empty()) return r.diagnostics[0].message;
  const ptx::Function& f = r.module->functions[0];
  if (f.body[0].form.row->kind == isa::Kind::Video && !vm::select_video(f.body[0], f)) return "operand selectors";
  return {};
}

std::vector<std::string> lines_of(const std::vector<fuzz::Statement>& statements) {
  std::vector<std::string> lines;
  for (const fuzz::Statement& s : statements) lines.push_back(s.text());
  return lines;
}

}  // namespace warpbeam::isa_test
