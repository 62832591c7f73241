// The recorded digests by name: tests/vectors/tensor.txt.
#pragma once
#include <cstdint>
#include <fstream>
#include <map>
#include <string>

namespace warpbeam::tensor_test {

inline std::map<std::string, uint64_t> read_recording() {
  std::map<std::string, uint64_t> recorded;
  std::ifstream in(WARPBEAM_TEST_VECTORS "/tensor.txt");
  for (std::string line; std::getline(in, line);) {
    const size_t tab = line.find('\t');
    recorded[line.substr(0, tab)] = std::stoull(line.substr(tab + 1, 16), nullptr, 16);
  }
  return recorded;
}

}  // namespace warpbeam::tensor_test
