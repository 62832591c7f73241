#include "observe/profiler/samples.h"

#include <algorithm>
#include <iterator>

#include "vm/access.h"

namespace warpbeam::observe {

void SampleStore::merge(SampleStore&& other) {
  std::move(other.accesses.begin(), other.accesses.end(), std::back_inserter(accesses));
  steps.merge(other.steps);
}

void SampleStore::sort() {
  std::sort(accesses.begin(), accesses.end(), [](const AccessSample& a, const AccessSample& b) {
    return std::tie(a.block, a.function->index, a.instruction, a.warp, a.occurrence, a.access.space) <
           std::tie(b.block, b.function->index, b.instruction, b.warp, b.occurrence, b.access.space);
  });
}

void BlockSamples::instruction(uint32_t warp, const vm::FunctionCode* function, uint32_t index, uint32_t active) {
  if (warp >= kSampledWarps) return;
  std::vector<Step>& steps = store_.steps[{block_, warp}];
  if (!steps.empty()) {
    Step& last = steps.back();
    const uint32_t next = last.first + last.count;
    // Labels and other additions of the decoder lie between instructions.
    if (last.function == function && last.mask == active && index >= next && index <= next + 2) {
      last.count = index - last.first + 1;
      return;
    }
  }
  if (steps.size() < kMostSteps) steps.push_back({function, index, 1, active});
}

void BlockSamples::access(uint32_t warp, const vm::FunctionCode* function, uint32_t index, const vm::Access& access) {
  if (warp >= kSampledWarps || store_.accesses.size() >= kMostAccesses) return;
  const uint32_t occurrence = times_[{warp, function, index, static_cast<int>(access.space)}]++;
  if (occurrence >= kSampledTimes) return;
  store_.accesses.push_back({function, index, block_, warp, occurrence, access});
}

}  // namespace warpbeam::observe
