// A few accesses and paths of a few warps, kept in full, for the pages that show what lanes did. Which ones they are
// depends on block, warp and instruction alone, so that every run keeps the same.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "vm/code.h"
#include "vm/observer.h"

namespace warpbeam::observe {

inline constexpr uint64_t kSampledBlocks = 2;
inline constexpr uint32_t kSampledWarps = 4;  // of a block
inline constexpr uint32_t kSampledTimes = 3;  // that a warp comes to an instruction
inline constexpr size_t kMostAccesses = 160;  // of a block
inline constexpr size_t kMostSteps = 300;     // of a warp

struct AccessSample {
  const vm::FunctionCode* function = nullptr;
  uint32_t instruction = 0;
  uint64_t block = 0;
  uint32_t warp = 0, occurrence = 0;
  vm::Access access;
};

// A stretch of instructions that the same lanes executed one after the other.
struct Step {
  const vm::FunctionCode* function = nullptr;
  uint32_t first = 0, count = 0;
  uint32_t mask = 0;
};

struct SampleStore {
  std::vector<AccessSample> accesses;
  std::map<std::pair<uint64_t, uint32_t>, std::vector<Step>> steps;  // by block and warp
  void merge(SampleStore&& other);
  void sort();
};

// Of one block.
class BlockSamples {
 public:
  explicit BlockSamples(uint64_t block) : block_(block) {}
  void instruction(uint32_t warp, const vm::FunctionCode* function, uint32_t index, uint32_t active);
  void access(uint32_t warp, const vm::FunctionCode* function, uint32_t index, const vm::Access& access);
  SampleStore take() { return std::move(store_); }

 private:
  uint64_t block_;
  SampleStore store_;
  std::map<std::tuple<uint32_t, const vm::FunctionCode*, uint32_t, int>, uint32_t> times_;
};

}  // namespace warpbeam::observe
