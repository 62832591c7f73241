// The numbers of a GPU's timing table (model/timing.h) as the model uses them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "assembly/machine_code.h"
#include "model/device.h"

namespace warpbeam::timing {

// What executes machine instructions. Each scheduler has one of each; Lsu, Texture and Const lead to what all of them share.
enum class Unit : uint8_t { Alu, FmaLite, FmaHeavy, Fp64, Special, Uniform, Branch, Lsu, Const, Texture, Tensor, Barrier };
inline constexpr size_t kUnits = 12;

inline constexpr size_t kOperations = static_cast<size_t>(assembly::Operation::None) + 1;

struct OperationRate {
  Unit unit{}, other{};  // whichever of the two is free
  double latency = 0;   // cycles until what it writes can be read
  double interval = 0;  // cycles that the unit is busy with it
};

struct Rates {
  std::array<OperationRate, kOperations> operations;
#define WB_RATE(name, unit, about) double name = 0;
#include "timing/rates.inc"
#undef WB_RATE
  int multiprocessors = 1, schedulers = 4, issue_width = 1, max_warps = 64;
  uint64_t l1_bytes = 0;   // of a multiprocessor, shared memory included where they are one
  uint64_t l2_bytes = 0;
  int l2_parts = 1;        // between which what one part has not passes, and is counted in both
  bool unified_l1 = true;
  double dram_bytes_per_second = 0;  // by the memory's clock
  const OperationRate& of(assembly::Operation o) const { return operations[static_cast<size_t>(o)]; }
  double clock_ghz() const { return clock_mhz / 1e3; }
};

const Rates& rates_of(const model::Device& device);

}  // namespace warpbeam::timing
