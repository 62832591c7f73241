#include "vm/matrix_lanes.h"

#include <immintrin.h>

#include <cstring>
#include <utility>

#include "vm/lane_vectors.h"
#include "vm/matrix_plan.h"

#define WB_INLINE [[gnu::always_inline]] inline

namespace warpbeam::vm {
namespace {

using isa::Type;

namespace plain {
#include "vm/matrix_lanes.inc"
}

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd"))), apply_to = function)
#define WB_WIDE
namespace wide {
#include "vm/matrix_lanes.inc"
}
#pragma clang attribute pop

const bool is_wide = __builtin_cpu_supports("x86-64-v4");

}  // namespace

MultiplyLanes multiply_lanes(const MatrixPlan& p) {
  if (p.sparse || p.a.copies != 1) return nullptr;
  return is_wide ? wide::choose(p) : plain::choose(p);
}

void transpose_registers(std::byte* registers, size_t count) {
  is_wide ? wide::transpose_registers(registers, count) : plain::transpose_registers(registers, count);
}
void load_rows(std::byte* const* rows, bool transposed, int matrices, std::byte* registers) {
  is_wide ? wide::load_rows(rows, transposed, matrices, registers) : plain::load_rows(rows, transposed, matrices, registers);
}
void store_rows(std::byte* const* rows, bool transposed, int matrices, const std::byte* registers) {
  is_wide ? wide::store_rows(rows, transposed, matrices, registers) : plain::store_rows(rows, transposed, matrices, registers);
}

}  // namespace warpbeam::vm
