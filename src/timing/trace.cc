#include "timing/trace.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>

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

void find_late_lines(BlockTrace& block) {
  if (block.executed == block.instructions) return;
  const auto early_accesses = [](const WarpTrace& w) { return w.steps.empty() ? 0 : w.steps[w.steps.size() / 2].first_access; };
  const auto lines_of = [&](const Access& a) {
    const bool has_lines = a.space == Space::Global || a.space == Space::Texture;
    return std::span(block.lines).subspan(has_lines ? a.first_line : 0, has_lines ? a.lines : 0);
  };
  // What comes before a loop alone (a body's own place, before those of all others are read) says nothing of how the loop goes on.
  std::unordered_set<uint32_t> goes_on;
  for (const WarpTrace& w : block.warps)
    for (size_t k = early_accesses(w); k < w.accesses.size(); ++k) goes_on.insert(w.accesses[k].ptx);
  std::unordered_set<uint64_t> early, late;
  for (const WarpTrace& w : block.warps)
    for (size_t k = 0; k < early_accesses(w); ++k)
      if (goes_on.contains(w.accesses[k].ptx))
        for (const Line& line : lines_of(w.accesses[k])) early.insert(line.number);
  for (const WarpTrace& w : block.warps)
    for (size_t k = early_accesses(w); k < w.accesses.size(); ++k)
      for (Line& line : lines_of(w.accesses[k])) {
        line.late = !early.contains(line.number);
        if (line.late) late.insert(line.number);
      }
  block.late_lines = late.size();
}

}  // namespace warpbeam::timing
