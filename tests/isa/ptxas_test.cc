// The instruction table against the vendor's assembler, where there is one: what the table accepts must assemble, and
// what lies beside it must not. Known differences stand in differences.txt with their reasons.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <tuple>

#include <unistd.h>

#include "fuzz/statements.h"
#include "ptx/module.h"
#include "vm/lane_chapters.h"

namespace warpbeam::isa_test {

using namespace fuzz;

namespace {

namespace fs = std::filesystem;

std::string find_ptxas() {
  const char* path = std::getenv("PATH");
  std::stringstream list(path ? path : "");
  for (std::string folder; std::getline(list, folder, ':');)
    if (fs::exists(folder + "/ptxas")) return folder + "/ptxas";
  return {};
}

std::string module_text(const std::vector<Statement>& statements, int sm) {
  std::string text = module_header(sm) + ".visible .entry k() {\n" + std::string(register_declarations());
  for (const Statement& s : statements) text += s.text() + "\n";
  return text + "ret;\n}\n";
}

std::map<size_t, std::string> complaints_of_ptxas(const std::string& ptxas, const std::vector<Statement>& statements, int sm) {
  const std::string text = module_text(statements, sm);
  const fs::path folder = fs::temp_directory_path() / fmt::format("warpbeam-isa-{}", ::getpid());
  fs::create_directories(folder);
  const std::string file = (folder / "t.ptx").string(), log = (folder / "t.log").string();
  std::ofstream(file) << text;
  const std::string command =
      fmt::format("'{}' -O0 -arch=sm_{} '{}' -o /dev/null > '{}' 2>&1", ptxas, sm == 90 ? "90a" : std::to_string(sm), file, log);
  const int rc = std::system(command.c_str());
  const size_t first = static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(text.find("%q<16>")), '\n')) + 2;
  std::map<size_t, std::string> refused;
  std::ifstream in(log);
  static const std::regex kLine("line ([0-9]+); error *: (.*)");
  for (std::string line; std::getline(in, line);) {
    std::smatch m;
    if (std::regex_search(line, m, kLine)) refused.emplace(std::stoul(m[1]) - first, m[2]);
  }
  if (rc != 0 && refused.empty()) {
    // Statements passed; what follows (register allocation, encoding) looks at the made-up kernel as a whole.
    std::ifstream again(log);
    std::stringstream said;
    said << again.rdbuf();
    const std::string text = said.str();
    EXPECT_EQ(text.find("error"), std::string::npos) << text.substr(0, 2000);
  }
  fs::remove_all(folder);
  return refused;
}

// The statements that ptxas refuses, with what it says. Some complaints name the line of an earlier statement, so those
// without one are asked about again by themselves until nobody complains.
void ask_until_quiet(const std::string& ptxas, const std::vector<Statement>& statements, size_t first, size_t last, int sm,
                     std::map<size_t, std::string>& refused) {
  for (int round = 0; round < 300; ++round) {
    std::vector<Statement> left;
    std::vector<size_t> numbers;
    for (size_t k = first; k < last; ++k)
      if (!refused.contains(k)) {
        left.push_back(statements[k]);
        numbers.push_back(k);
      }
    const auto complaints = complaints_of_ptxas(ptxas, left, sm);
    if (complaints.empty()) break;
    for (const auto& [k, why] : complaints)
      if (k < numbers.size()) refused.emplace(numbers[k], why);
  }
}

// So many statements make a kernel that ptxas can still compile, and so many where most are refused: it starts slowly.
constexpr size_t kToCompile = 300, kToRefuse = 3000;

std::map<size_t, std::string> refused_by_ptxas(const std::string& ptxas, const std::vector<Statement>& statements, int sm,
                                               size_t at_once = kToCompile) {
  std::map<size_t, std::string> refused;
  for (size_t first = 0; first < statements.size(); first += at_once)
    ask_until_quiet(ptxas, statements, first, std::min(first + at_once, statements.size()), sm, refused);
  return refused;
}

// What we say to a statement; empty: accepted.
std::string our_refusal(const Statement& s) {
  const std::string text = module_header(90) + ".visible .entry k() {\n" + std::string(register_declarations()) + s.text() + "\nret;\n}\n";
  const ptx::ParseResult r = ptx::parse(text);
  if (!r.diagnostics.empty()) return r.diagnostics[0].message;
  const ptx::Function& f = r.module->functions[0];
  if (f.body[0].form.row->kind == isa::Kind::Video && !vm::select_video(f.body[0], f)) return "operand selectors";
  return {};
}

// differences.txt: `accepts|refuses  pattern  # reason`, said of the table.
struct Difference {
  std::regex pattern;
  std::string reason;
  mutable int used = 0;
};
std::vector<Difference> read_differences(const std::string& what) {
  std::vector<Difference> list;
  std::ifstream in(WARPBEAM_ISA_TESTS "/differences.txt");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::stringstream words(line);
    std::string kind, pattern;
    words >> kind >> pattern;
    if (kind == what) list.push_back({std::regex("^" + pattern), line.substr(line.find(" # ") + 3)});
  }
  return list;
}
bool known(const std::vector<Difference>& list, const std::string& text) {
  for (const Difference& d : list)
    if (std::regex_search(text, d.pattern)) return ++d.used, true;
  return false;
}

void report(const std::map<std::string, std::string>& problems) {
  for (const auto& [text, why] : problems) fmt::print("{}   {}\n", text, why);
  EXPECT_TRUE(problems.empty()) << problems.size() << " statements differ";
}

TEST(PtxasAccepts, WhatTheTableAccepts) {
  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) GTEST_SKIP() << "no ptxas on the PATH to compare with";
  const auto differences = read_differences("accepts");
  std::map<std::string, std::string> problems;
  std::vector<Statement> statements;
  for (const isa::RowForm& form : isa::all_forms())
    for (Statement& s : legal_statements(form, Bounds{})) {
      if (std::string why = our_refusal(s); !why.empty()) problems[s.text()] = "refused by our own parser: " + why;
      statements.push_back(std::move(s));
    }
  for (const auto& [k, why] : refused_by_ptxas(ptxas, statements, 90)) {
    const std::string text = statements[k].text();
    if (!known(differences, text)) problems[text] = why;
  }
  report(problems);
  for (const Difference& d : differences) EXPECT_GT(d.used, 0) << "no longer a difference: " << d.reason;
  fmt::print("{} statements\n", statements.size());
}

// `since` says where the first of a row's statements works; types and words of it may be younger.
TEST(PtxasAccepts, EveryRowOnItsFirstDevice) {
  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) GTEST_SKIP() << "no ptxas on the PATH to compare with";
  const auto differences = read_differences("accepts");
  for (const auto& [from, to, sm] : {std::tuple{0, 75, 75}, std::tuple{76, 80, 80}}) {
    std::vector<Statement> statements;
    std::set<const isa::Row*> rows, accepted;
    for (const isa::RowForm& form : isa::all_forms())
      if (form.row->since.sm >= from && form.row->since.sm <= to)
        for (Statement& s : legal_statements(form, Bounds{40, false})) {
          if (!known(differences, s.text())) rows.insert(form.row);
          statements.push_back(std::move(s));
        }
    const auto refused = refused_by_ptxas(ptxas, statements, sm);
    for (size_t k = 0; k < statements.size(); ++k)
      if (!refused.contains(k)) accepted.insert(statements[k].row);
    for (const isa::Row* row : rows) EXPECT_TRUE(accepted.contains(row)) << "no statement works on sm_" << sm << ": " << row->syntax;
  }
}

TEST(PtxasAccepts, NothingTheTableRefusesSlow) {
  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) GTEST_SKIP() << "no ptxas on the PATH to compare with";
  const auto differences = read_differences("refuses"), order = read_differences("order"), looser = read_differences("accepts");
  std::map<std::string, std::string> problems;
  std::vector<Statement> statements;
  std::set<std::string> seen;
  Bounds bounds;
  bounds.per_row = 12;
  for (const isa::RowForm& form : isa::all_forms())
    for (Statement& s : near_misses(form, bounds))
      if (seen.insert(s.text()).second) statements.push_back(std::move(s));
  const auto refused = refused_by_ptxas(ptxas, statements, 90, kToRefuse);
  for (size_t k = 0; k < statements.size(); ++k) {
    const std::string text = statements[k].text(), ours = our_refusal(statements[k]);
    const auto theirs = refused.find(k);
    if (ours.empty() == (theirs == refused.end())) continue;
    if (ours.empty() ? known(order, text) || known(looser, text) : known(differences, text)) continue;
    problems[text] = ours.empty() ? "only ptxas refuses: " + theirs->second : "only the table refuses: " + ours;
  }
  report(problems);
  for (const Difference& d : differences) EXPECT_GT(d.used, 0) << "no longer a difference: " << d.reason;
  fmt::print("{} statements, {} refused\n", statements.size(), refused.size());
}

}  // namespace
}  // namespace warpbeam::isa_test
