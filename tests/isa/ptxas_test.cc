// The instruction table against the vendor's assembler, where there is one: what the table accepts must assemble, and
// what lies beside it must not. Known differences stand in differences.txt with their reasons.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <tuple>

#include "differences.h"
#include "fuzz/statements.h"
#include "ptxas.h"

namespace warpbeam::isa_test {

using namespace fuzz;

namespace {

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
      if (std::string why = our_refusal(s.text()); !why.empty()) problems[s.text()] = "refused by our own parser: " + why;
      statements.push_back(std::move(s));
    }
  for (const auto& [k, why] : refused_by_ptxas(ptxas, lines_of(statements), 90)) {
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
    const auto refused = refused_by_ptxas(ptxas, lines_of(statements), sm);
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
  const auto refused = refused_by_ptxas(ptxas, lines_of(statements), 90, kToRefuse);
  for (size_t k = 0; k < statements.size(); ++k) {
    const std::string text = statements[k].text(), ours = our_refusal(text);
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
