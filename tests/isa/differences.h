// The known differences between the instruction table and others.
#pragma once
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace warpbeam::isa_test {

// differences.txt: `accepts|refuses  pattern  # reason`, said of the table.
struct Difference {
  std::regex pattern;
  std::string reason;
  mutable int used = 0;
};
inline std::vector<Difference> read_differences(const std::string& what) {
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
// Whether one of them is of this text.
inline bool known(const std::vector<Difference>& list, const std::string& text) {
  for (const Difference& d : list)
    if (std::regex_search(text, d.pattern)) return ++d.used, true;
  return false;
}

}  // namespace warpbeam::isa_test
