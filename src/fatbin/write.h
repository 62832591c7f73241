// Writes a container. Ours hold PTX text, uncompressed and ended by a zero byte.
#pragma once
#include <string>
#include <vector>

namespace warpbeam::fatbin {

struct Text {
  int cc = 0;
  std::string ptx;
};

std::string write(const std::vector<Text>& texts);

}  // namespace warpbeam::fatbin
