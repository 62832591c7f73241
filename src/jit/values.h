// How compiled code holds values, and the accesses that it knows how to do.
#pragma once
#include <llvm/IR/Value.h>

#include <array>
#include <vector>

#include "jit/roots.h"

namespace warpbeam::jit {

inline constexpr int kLanes = 32;

// Lane l has base + l * slope.
struct Line {
  llvm::Value *base = nullptr, *slope = nullptr;
};

// Lane l has base + pattern[l], numbers of 32 bits whatever the base is.
struct UniformPlusPattern {
  llvm::Value *base = nullptr, *pattern = nullptr;
};

struct Value {
  std::array<llvm::Value*, 4> run{};  // when runs > 0: the value in each run's first lane
  llvm::Value* lanes = nullptr;       // when runs == 0
  uint8_t runs = 0;
  int64_t stride = 0;
  bool even = false;                  // run r begins r * gap after run 0
  int64_t gap = 0;
  Line line;                          // beside `lanes`, where it is known (runtime_stride.h)
  UniformPlusPattern spread;                      // likewise (uniform_plus_pattern.h)
  bool uniform() const { return runs == 1 && stride == 0; }
};

// A load or store that compiled code knows how to do.
struct Access {
  const vm::Insn* insn = nullptr;
  bool load = true, sign = false, shared = false;
  Width memory = 0;      // bytes of an element in memory
  Width reg = 0;         // of its register
  int count = 1;
  std::vector<int32_t> slots;
  int64_t root = Roots::kNone;
  uint64_t total() const { return static_cast<uint64_t>(memory) * static_cast<uint64_t>(count); }
};

}  // namespace warpbeam::jit
