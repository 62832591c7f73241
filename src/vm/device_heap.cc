#include "vm/device_heap.h"

#include <algorithm>
#include <bit>

#include "vm/grid.h"

namespace warpbeam::vm {

DeviceHeap& DeviceHeap::of(DeviceMemory* memory) {
  static std::mutex mutex;
  // Never destroyed: kernels may run while the process ends.
  static auto& heaps = *new std::map<DeviceMemory*, DeviceHeap>;
  std::lock_guard lock(mutex);
  return heaps[memory];
}

// The memory may have been reset since, or another one may live at its place.
bool DeviceHeap::stands(DeviceMemory& memory) const {
  const auto still = base_ ? memory.find(base_) : std::nullopt;
  return still && still->serial == serial_;
}

bool DeviceHeap::exists(DeviceMemory* memory) {
  DeviceHeap& heap = of(memory);
  std::lock_guard lock(heap.mutex_);
  return heap.stands(*memory);
}

bool DeviceHeap::begin(const Launch& launch) {
  if (stands(*launch.memory)) return true;
  auto a = launch.memory->allocate(launch.heap_limit, 256, MemoryKind::Variable, kHeapOrigin);
  if (!a) return false;
  base_ = a->base;
  size_ = launch.heap_limit;
  serial_ = a->serial;
  for (auto& pieces : kept_) pieces.clear();
  fresh_ = fresh_end_ = 0;
  gaps_ = {{base_, size_}};
  granules_.reset(static_cast<uint32_t*>(std::calloc(size_ / kGranule + 1, sizeof(uint32_t))));
  if (!granules_) throw std::bad_alloc();
  return true;
}

void DeviceHeap::with(const Launch& launch, const std::function<void(DeviceHeap&)>& use) {
  DeviceHeap& heap = of(launch.memory);
  std::lock_guard lock(heap.mutex_);
  if (heap.begin(launch)) use(heap);
}

uint64_t DeviceHeap::first_gap(uint64_t bytes, uint64_t alignment) {
  for (auto it = gaps_.begin(); it != gaps_.end(); ++it) {
    const uint64_t begin = it->first, end = begin + it->second, at = (begin + alignment - 1) & ~(alignment - 1);
    if (at < begin || at > end || end - at < bytes) continue;
    gaps_.erase(it);
    if (at > begin) gaps_[begin] = at - begin;
    if (end > at + bytes) gaps_[at + bytes] = end - at - bytes;
    return at;
  }
  return 0;
}

void DeviceHeap::release(uint64_t begin, uint64_t bytes) {
  if (!bytes) return;
  auto next = gaps_.lower_bound(begin);
  if (next != gaps_.end() && begin + bytes == next->first) {
    bytes += next->second;
    next = gaps_.erase(next);
  }
  if (next != gaps_.begin() && std::prev(next)->first + std::prev(next)->second == begin) std::prev(next)->second += bytes;
  else gaps_[begin] = bytes;
}

void DeviceHeap::release_kept() {
  release(fresh_, fresh_end_ - fresh_);
  fresh_ = fresh_end_ = 0;
  for (size_t n = 0; n < kept_.size(); ++n) {
    for (const uint64_t piece : kept_[n]) release(piece, n * kGranule);
    kept_[n].clear();
  }
}

uint64_t DeviceHeap::take(uint64_t bytes, uint64_t alignment, bool watched) {
  if (!std::has_single_bit(alignment) || bytes > size_) return 0;
  const uint64_t apart = watched ? kGranule : 0, granules = (std::max<uint64_t>(bytes, 1) + apart + kGranule - 1) / kGranule;
  bytes = granules * kGranule;
  const auto given = [&](uint64_t piece) {
    if (piece) granules_at(piece) = static_cast<uint32_t>(granules);
    return piece;
  };
  if (granules <= kMostKept && alignment <= kGranule) {
    if (std::vector<uint64_t>& waiting = kept_[granules]; !waiting.empty()) {
      const uint64_t piece = waiting.back();
      waiting.pop_back();
      return given(piece);
    }
    if (fresh_end_ - fresh_ < bytes) {
      release(fresh_, fresh_end_ - fresh_);
      fresh_ = first_gap(kFresh, kGranule);
      fresh_end_ = fresh_ ? fresh_ + kFresh : 0;
    }
    if (fresh_) {
      fresh_ += bytes;
      return given(fresh_ - bytes);
    }
  }
  alignment = std::max(alignment, kGranule);
  if (const uint64_t piece = first_gap(bytes, alignment)) return given(piece);
  release_kept();
  return given(first_gap(bytes, alignment));
}

bool DeviceHeap::give_back(uint64_t address) {
  if (address < base_ || address - base_ >= size_ || address % kGranule) return false;
  uint32_t& granules = granules_at(address);
  if (!granules) return false;
  if (granules <= kMostKept) kept_[granules].push_back(address);
  else release(address, granules * kGranule);
  granules = 0;
  return true;
}

uint64_t device_malloc(const Launch& launch, uint64_t bytes) {
  uint64_t given = 0;
  DeviceHeap::with(launch, [&](DeviceHeap& heap) { given = heap.take(bytes, DeviceHeap::kGranule, launch.observer != nullptr); });
  return given;
}

bool device_free(const Launch& launch, uint64_t address) {
  bool known = false;
  DeviceHeap::with(launch, [&](DeviceHeap& heap) { known = heap.give_back(address); });
  return known;
}

}  // namespace warpbeam::vm
