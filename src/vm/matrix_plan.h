// Where the lanes of a warp hold the elements of a matrix.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "isa/row.h"
#include "ptx/module.h"
#include "vm/matrix_lanes.h"

namespace warpbeam::vm {

// Elements lie side by side in 32-bit registers (f64: one each); cell[lane * per_lane + k] is the place of a lane's
// k-th in the row-major matrix. b1 counts by 32 elements.
struct Fragment {
  int rows = 0, columns = 0, copies = 1;
  int bits = 0;  // of an element in a register
  int per_lane = 0;
  std::vector<uint16_t> cell;
  int cells() const { return rows * columns * copies; }
  int per_register() const { return bits == 64 ? 1 : 32 / bits; }
  // Registers that are not repetitions, which wmma's of halves have.
  int different() const { return std::min(per_lane, rows * columns * copies / 32) / per_register(); }
};

enum class MatrixPart : uint8_t { A, B, C };

Fragment fragment(isa::Shape shape, isa::Type type, MatrixPart part, int registers);
// The product of eight lanes each that sm_70 has: four small matrices.
Fragment quad_fragment(isa::Type type, MatrixPart part, bool columns);

// A product of matrices in registers.
struct MatrixPlan {
  isa::Shape shape{};
  isa::MatrixTypes types{};
  Fragment a, b, c, d;
  bool sparse = false;
  bool in_fours = false;  // wmma of tf32 adds four products at once, mma eight
  MultiplyLanes multiply = nullptr;
};
// The same instruction form shares one.
const MatrixPlan* matrix_plan(const isa::Matched& form);

}  // namespace warpbeam::vm
