// Fat binaries: the container in which host objects carry device code. One header, then one entry per architecture,
// each with a header of its own; ours hold PTX text, uncompressed and ended by a zero byte.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warpbeam::driver {

struct FatbinEntry {
  bool is_ptx = true;
  int cc = 0;
  std::string text;
};

std::string write_fatbin(const std::vector<FatbinEntry>& entries);

// Reads all containers in a section, one after the other; linked objects hold several. Compressed entries and machine
// code are named without their text.
Result<std::vector<FatbinEntry>> read_fatbins(std::string_view bytes);

}  // namespace warpbeam::driver
