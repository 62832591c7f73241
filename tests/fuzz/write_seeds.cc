// write_seeds FOLDER DICTIONARY: what the fuzzer starts from, out of the instruction table: for every instruction a
// text with a few statements of each of its forms, and libFuzzer's list of words.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <vector>

#include "isa/special.h"
#include "fuzz/statements.h"

using namespace warpbeam;

constexpr size_t kMostBytes = 11000;

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: write_seeds FOLDER DICTIONARY\n");
    return 2;
  }
  std::map<std::string, std::vector<std::string>> bodies;  // statements by opcode
  std::set<std::string> dictionary;
  for (const isa::RowForm& form : isa::all_forms()) {
    std::vector<std::string>& body = bodies[std::string(form.row->opcode)];
    for (const fuzz::Statement& s : fuzz::legal_statements(form, {.per_row = 3, .variants = true})) body.push_back(s.text() + "\n");
    dictionary.emplace(form.row->opcode);
    for (const isa::Slot& slot : form.slots) {
      for (const isa::ModWord* word : slot.words) dictionary.emplace(word->word);
      for (std::string_view word : slot.plain) dictionary.emplace(word);
    }
  }
  for (int t = 1; t < isa::kTypeCount; ++t) dictionary.emplace(isa::kTypes[t].name);
  for (const isa::SpecialRow& row : isa::kSpecials) dictionary.emplace(row.name);
  for (const char* word : {".version 8.5",   ".target sm_90",  ".address_size 64", ".func",
                           ".entry",         ".visible",       ".extern",          ".weak",
                           ".common",        ".reg",           ".align",           ".ptr",
                           ".file",          ".loc",           ".section",         ".pragma",
                           ".branchtargets", ".callprototype", ".calltargets",     ".maxntid",
                           ".reqntid",       ".minnctapersm",  ".noreturn",        ".attribute(.managed)",
                           "generic(",       "WARP_SZ",        "0f3F800000",       "0d3FF0000000000000",
                           "@%p1",           "@!%p1",          "inlined_at",       "function_name"})
    dictionary.emplace(word);
  for (const auto& [opcode, body] : bodies) {
    if (body.empty()) continue;
    // Some instructions have thousands of forms; a text is to stay below the fuzzer's -max_len, so those are thinned out.
    size_t bytes = 0;
    for (const std::string& statement : body) bytes += statement.size();
    const size_t step = bytes / kMostBytes + 1;
    std::ofstream file(fmt::format("{}/row_{}.ptx", words[1], opcode));
    file << fuzz::module_header(90) << ".visible .entry k() {\n" << fuzz::register_declarations();
    for (size_t k = 0; k < body.size(); k += step) file << body[k];
    file << "}\n";
  }
  std::ofstream file(words[2]);
  file << "# Written by write_seeds from the instruction table.\n";
  for (const std::string& word : dictionary) file << fmt::format("\"{}\"\n", word);
  return 0;
}
