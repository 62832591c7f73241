#include "observe/profiler/gpu_places.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpbeam::observe {
namespace {

constexpr uint64_t kGranule = 512, kBlock = 2 << 20, kLargestPacked = 1 << 20, kFirst = 8 << 20;

uint64_t round_up(uint64_t v, uint64_t unit) { return (v + unit - 1) / unit * unit; }

// Blocks that have been begun: each one's free end.
class Blocks {
 public:
  uint64_t take(uint64_t size) {
    const uint64_t bytes = round_up(std::max<uint64_t>(size, 1), kGranule);
    if (bytes <= kLargestPacked)
      for (Free& free : free_)
        if (free.end - free.begin >= bytes) return std::exchange(free.begin, free.begin + bytes);
    const uint64_t place = next_;
    next_ += round_up(bytes, kBlock);
    free_.push_back({place + bytes, next_});
    return place;
  }

 private:
  struct Free {
    uint64_t begin, end;
  };
  std::vector<Free> free_;
  uint64_t next_ = kFirst;
};

}  // namespace

GpuPlaces::GpuPlaces(std::vector<vm::Allocation> live) {
  std::ranges::sort(live, {}, &vm::Allocation::serial);
  Blocks blocks;
  for (const vm::Allocation& a : live)
    if (a.kind == vm::MemoryKind::Device) ranges_.push_back({a.base, a.base + std::max<uint64_t>(a.size, 1), blocks.take(a.size) - a.base});
  std::ranges::sort(ranges_, {}, &Range::begin);
}

uint64_t GpuPlaces::shift(uint64_t address) const {
  auto next = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
  if (next == ranges_.begin() || address >= std::prev(next)->end) return 0;
  return std::prev(next)->shift;
}

}  // namespace warpbeam::observe
