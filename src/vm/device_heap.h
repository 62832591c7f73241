// The heap of device malloc, one for each device memory.
//
// Idea: a kernel asks for many pieces of few sizes. Fresh ones lie one behind the other, so that a warp's lanes have neighbours, and what is
// given back waits for the next who wants as much. Precondition: pieces up to kMostKept. Postcondition: each piece is nobody else's, and
// there is room for as long as there is any. Fallback: the first gap that is large enough, once what waits has been put together again.
#pragma once
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vm/machine.h"

namespace warpbeam::vm {

class DeviceHeap {
 public:
  static constexpr uint64_t kGranule = 16;  // bytes that pieces are multiples of, and aligned to

  // What a warp asks for it asks for together.
  static void with(const Launch& launch, const std::function<void(DeviceHeap&)>& use);
  // Has a kernel allocated from the heap of this memory? Its size is settled then.
  static bool exists(DeviceMemory* memory);

  // 0: there is no room. `watched`: somebody looks for accesses past the end.
  uint64_t take(uint64_t bytes, uint64_t alignment, bool watched);
  bool give_back(uint64_t address);  // false: it was not given, or is free already

 private:
  static constexpr uint64_t kMostKept = 64, kFresh = 64 << 10;  // granules of a piece that waits; bytes

  static DeviceHeap& of(DeviceMemory* memory);
  bool stands(DeviceMemory& memory) const;
  bool begin(const Launch& launch);
  uint64_t first_gap(uint64_t bytes, uint64_t alignment);
  void release(uint64_t begin, uint64_t bytes);
  void release_kept();
  uint32_t& granules_at(uint64_t address) { return granules_.get()[(address - base_) / kGranule]; }

  struct Freed {
    void operator()(uint32_t* p) const { std::free(p); }
  };
  std::mutex mutex_;
  uint64_t base_ = 0, size_ = 0, serial_ = 0;
  std::map<uint64_t, uint64_t> gaps_;  // address -> bytes
  std::array<std::vector<uint64_t>, kMostKept + 1> kept_;  // by granules
  uint64_t fresh_ = 0, fresh_end_ = 0;  // none of it given yet
  std::unique_ptr<uint32_t, Freed> granules_;  // of the piece that begins at a granule; touched where there are pieces
};

}  // namespace warpbeam::vm
