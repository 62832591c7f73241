#include "timing/trace.h"

#include <algorithm>
#include <unordered_map>

namespace warpbeam::timing {

void find_shared_lines(std::vector<BlockTrace>& blocks) {
  constexpr uint32_t kSeveral = ~0u;
  std::unordered_map<uint64_t, uint32_t> wanted_by;
  for (uint32_t k = 0; k < blocks.size(); ++k)
    for (const Line& line : blocks[k].lines) {
      const auto [it, fresh] = wanted_by.try_emplace(line.number, k);
      if (!fresh && it->second != k) it->second = kSeveral;
    }
  for (BlockTrace& block : blocks)
    for (Line& line : block.lines) line.own = wanted_by[line.number] != kSeveral;
}

}  // namespace warpbeam::timing
