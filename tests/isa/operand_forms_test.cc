// How operands may be written: forms of every operand of every opcode, in ptxas and here. What ptxas takes is taken.
// differences.txt has, as `forms`, what is not and why.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "differences.h"
#include "ptxas.h"

namespace warpbeam::isa_test {
namespace {

// `@` stands for what the plain statement has at that place: a register, or what stands in the brackets of an address.
// clang-format off
constexpr const char* kAddresses[] = {
    "[@]",        "[ @ ]",       "[@+0]",      "[@ + 0]",     "[@-0]",    "[@+-4]",     "[@ - 16]",      "[@+16]",   "[@+4+12]", "[@+(16)]",
    "[@+4*4]",    "[@+0x10]",    "[@+16U]",    "[@+WARP_SZ]", "[(@)]",    "[16+@]",     "[+16]",         "[16]",     "[0x10]",   "[-16]",
    "[g]",        "[g+16]",      "[g + 0]",    "[g-16]",      "[g+-16]",  "[g+4*4]",    "[g[0]]",        "[g[4]]",   "[g[1+3]]", "[g[%r1]]",
    "[g[%r1+4]]", "[g[%d1]]",    "[g[4]+16]",  "[s]",         "[s+16]",   "[s[4]]",     "[c+16]",        "[c[%r1]]", "[l+16]",   "[l[%r1]]",
    "[%r1]",      "[%r1+16]",    "[%r1+%r2]",  "[%d1+%d2]",   "[%f1]",    "[%f1+16]",   "[%g1]",         "[%p1]",
    "[@+1.0]",    "[1.0]",       "[@+0f00000000]", "[g+1.0]", "[{@}]",    "[@,0]",      "[@]+16",        "@",        "{[@]}",    "g",
    "[%v.x]",     "[%v]",        "[%tid.x]",   "[%clock64]",  "[_]",      "[]",         "[@++16]",       "[@+]",     "[!@]",     "[-@]",
    "[generic(g)]", "[g+%r1]",   "[@/**/+ 16]", "[@+~15]",    "[@+!0*16]", "[@-(-16)]", "[nothing]",     "[g+s]",    "[@[4]]",   "[@+1?16:0]",
};
constexpr const char* kSources[] = {
    "@",         " @ ",       "{@}",       "{ @ }",      "{{@}}",      "-@",         "+@",        "!@",         "~@",        "(@)",
    "@+0",       "@ + 1",     "@-1",       "@+1+2",      "@+@",        "@*2",        "1+@",       "@|@",        "@[0]",      "@.x",
    "1",         "+1",        "-1",        "- 1",        "0x7",        "0x7U",       "07",        "0b11",       "7u",        "7U",
    "(1)",       "(1+2)*3",   "1+2",       "1<<2",       "1?2:3",      "!1",         "~1",        "-(-1)",      "WARP_SZ",   "-WARP_SZ",
    "(.s64)1",   "(.u64)-1",  "1.5",       "-1.5",       "1.",         ".5",         "1e3",       "1.5e-3",     "0f3f800000", "-0f3f800000",
    "0F3F800000", "0d3ff0000000000000", "1.5+1",         "0f3f800000+1",             "%p1",       "!%p1",       "%c1",       "%h1",
    "%r1",       "%d1",       "%f1",       "%g1",        "%q1",        "%v",         "%v.x",      "%v.y",       "%w.x",      "%tid.x",
    "%tid",      "%ntid.y",   "%laneid",   "%warpid",    "%clock",     "%clock64",   "%clock_hi", "%globaltimer", "%globaltimer_lo", "%envreg3",
    "%lanemask_lt", "%smid",  "%nsmid",    "%gridid",    "%dynamic_smem_size", "%total_smem_size", "%pm0", "%pm0_64", "%is_explicit_cluster", "%cluster_ctarank",
    "%clusterid.x", "%reserved_smem_offset_begin",       "%current_graph_exec", "%aggr_smem_size",
    "g",         "g+4",       "g-4",       "g[1]",       "g[%r1]",     "s",          "s+4",       "c",          "l",         "l+4",
    "generic(g)", "generic(s)", "generic(g)+4", "generic(g+4)", "k",   "_",          "[@]",       "{@,@}",      "{1,2}",     "{@,_}",
    "{_,@}",     "{%h1,%h2}", "{%r1,%r2}", "{%h1,1}",    "{%c1,%c2,%c3,%c4}",        "%p1|%p2",   "@|%p1",      "nothing",   "0x1ffffffff", "-0x80000000",
    "18446744073709551615",   "99999999999", "",
};
constexpr const char* kDestinations[] = {
    "@",      " @ ",     "{@}",  "{ @ }", "-@",   "!@",   "(@)",    "@+0",   "@|%p1", "@ | %p1", "@|_",  "_",     "_|%p1", "_|_",
    "@|!%p1", "!@|%p1",  "1",    "g",     "[@]",  "%p1",  "%p1|%p2", "%p1|_", "_|%p2", "%h1",    "%r1",  "%d1",   "%f1",   "%g1",
    "%q1",    "%v",      "%v.x", "%w.y",  "%c1",  "{@,@}", "{@,_}", "{_,@}", "{%h1,%h2}", "{%r1,%r2}", "{_,_}", "%tid.x", "{}", "{_}",
};
constexpr const char* kPredicates[] = {"@", "!@", "! @", "!!@", "(@)", "-@", "{@}", "1", "0", "!0", "_", "%r1", "%p1|%p2", "%tid.x", "g", "nothing", ""};
constexpr const char* kGuards[] = {"@%p1 ", "@!%p1 ", "@ %p1 ", "@ ! %p1 ", "@!!%p1 ", "@%r1 ", "@1 ", "@!0 ", "@(%p1) ", "@%p1; ", "@%p1\t", "@{%p1} "};
// clang-format on

std::string replaced(std::string_view form, std::string_view plain) {
  std::string text;
  for (const char c : form) {
    if (c == '@') text += plain;
    else text += c;
  }
  return text;
}

// One of each kind of operands; image, matrix and video instructions have forms of their own.
constexpr std::string_view kOpcodes[] = {"mov",       "add",      "mad",  "cvt",      "setp",    "selp",  "slct", "shl",      "bfe",
                                         "lop3",      "prmt",     "sin",  "ld",       "st",      "ldu",   "atom", "red",      "prefetch",
                                         "cvta",      "mapa",     "shfl", "vote",     "bar",     "match", "cp",   "mbarrier", "bra",
                                         "nanosleep", "isspacep", "dp4a", "copysign", "barrier", "addc"};

// The statement with another text at operand `place`.
std::string with_operand(fuzz::Statement s, size_t place, std::string text) {
  s.operands[place].text = std::move(text);
  return s.text();
}

void add_forms(std::set<std::string>& lines, const fuzz::Statement& s) {
  for (const char* guard : kGuards) lines.insert(guard + s.text());
  for (size_t k = 0; k < s.operands.size(); ++k) {
    const std::string& plain = s.operands[k].text;
    const auto add = [&](const auto& forms, std::string_view inner) {
      for (const char* form : forms) lines.insert(with_operand(s, k, replaced(form, inner)));
    };
    if (s.operands[k].address && plain.ends_with(']')) add(kAddresses, std::string_view(plain).substr(1, plain.size() - 2));
    else if (plain.starts_with('{')) continue;
    else if (static_cast<int>(k) < s.row->operands.count && s.row->operands.list[k].written) add(kDestinations, plain);
    else if (s.operands[k].type == isa::Type::Pred) add(kPredicates, plain);
    else add(kSources, plain);
  }
}

TEST(OperandForms, AreThoseOfPtxasSlow) {
  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) GTEST_SKIP() << "no ptxas on the PATH to compare with";
  std::set<std::string> lines;
  std::set<std::pair<isa::Opcode, size_t>> seen;
  const char* only = std::getenv("WB_FORMS_OF");
  for (const isa::RowForm& form : isa::all_forms()) {
    if (only ? form.row->opcode != only : std::ranges::find(kOpcodes, form.row->opcode) == std::end(kOpcodes)) continue;
    for (const fuzz::Statement& s : fuzz::legal_statements(form, {4, false}))
      if (seen.emplace(form.row->op, s.operands.size()).second) add_forms(lines, s);
  }
  const std::vector<std::string> all(lines.begin(), lines.end());
  std::vector<std::string> asked;
  for (const std::string& line : all)
    if (!our_refusal(line).empty()) asked.push_back(line);
  fmt::print("{} lines, {} refused here\n", all.size(), asked.size());
  const auto refused = refused_by_ptxas(ptxas, asked, 90, 100);
  const auto differences = read_differences("forms");
  std::map<std::string, std::string> problems;
  for (size_t k = 0; k < asked.size(); ++k)
    if (!refused.contains(k) && !known(differences, asked[k])) problems[asked[k]] = our_refusal(asked[k]);
  for (const auto& [line, why] : problems) fmt::print("{}   {}\n", line, why);
  EXPECT_TRUE(problems.empty()) << problems.size() << " lines are taken by ptxas only";
  if (!only)
    for (const Difference& d : differences) EXPECT_GT(d.used, 0) << "no longer a difference: " << d.reason;
}

}  // namespace
}  // namespace warpbeam::isa_test
