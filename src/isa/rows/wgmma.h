// Products of a warp group: four warps, 64 rows. B, and A unless it is in registers, lie in shared memory and are named by
// descriptors; the scales negate A and B, the last numbers say which of them lie column by column.
#pragma once
#include "isa/rows/tensor.h"

namespace warpbeam::isa::rows {

struct WgmmaRow : EngineRow<Kind::Tensor, Class::Tensor> {
  static constexpr Since since{80, 90};
  static constexpr Effects effects{.reads = true, .orders = true, .meets = true, .waits = true, .traps = true};
};
// Each warp holds 16 of the 64 rows.
constexpr OperandForm wgmma_form(const Matched& m, int operand) {
  if (operand == 0) return matrix_registers(m.row->matrices(m).d, 16 * m.mods.shape.n);
  // 16-bit matrices: eight operands say how A lies in memory, seven have it in registers.
  if (operand == 1 && m.row->operands.count == 8) return m.operand_count == 8 ? OperandForm{} : OperandForm{Type::B32, 4};
  if (operand == 1) return {Type::B32, 4, true};
  return {};
}
struct WgmmaProduct : WgmmaRow { static constexpr Form form = wgmma_form; };
constexpr bool integer_columns(const Matched& m) { return m.mods.shape.n <= 32 || m.mods.shape.n % 16 == 0; }

struct WgmmaFence : WgmmaRow { static constexpr char syntax[] = "wgmma.fence.sync.aligned"; };
struct WgmmaCommit : WgmmaRow { static constexpr char syntax[] = "wgmma.commit_group.sync.aligned"; };
struct WgmmaWait : WgmmaRow { static constexpr char syntax[] = "wgmma.wait_group.sync.aligned #a:u32"; };
struct WgmmaF16 : WgmmaProduct {
  static constexpr char syntax[] = "wgmma.mma_async.sync.aligned.m64nk16.type.f16.f16 d, a:b64, b:b64, c:pred, #e:s32, #f:s32, #g:s32{, #h:s32}";
  using T = HalfOrSingle;
  static constexpr MatrixTypes types(const Matched& m) { return {m.type, Type::F16, Type::F16, m.type}; }
  static constexpr Matrices matrices = types;
};
struct WgmmaBf16 : WgmmaProduct {
  static constexpr char syntax[] = "wgmma.mma_async.sync.aligned.m64nk16.f32.bf16.bf16 d, a:b64, b:b64, c:pred, #e:s32, #f:s32, #g:s32{, #h:s32}";
  static constexpr Matrices matrices = same_types<Type::F32, Type::BF16>;
};
struct WgmmaTf32 : WgmmaProduct {
  static constexpr char syntax[] = "wgmma.mma_async.sync.aligned.m64nk8.f32.tf32.tf32 d, a:b64, b:b64, c:pred, #e:s32, #f:s32";
  static constexpr Matrices matrices = same_types<Type::F32, Type::TF32>;
};
struct WgmmaFp8 : WgmmaProduct {
  static constexpr char syntax[] = "wgmma.mma_async.sync.aligned.m64nk32.f32.type.atype d, a:b64, b:b64, c:pred, #e:s32, #f:s32";
  using T = Fp8;
  using A = Fp8;
  static constexpr Matrices matrices = mixed_types<Type::F32>;
};
struct WgmmaFp8F16 : WgmmaProduct {
  static constexpr char syntax[] = "wgmma.mma_async.sync.aligned.m64nk32.f16.type.atype d, a:b64, b:b64, c:pred, #e:s32, #f:s32";
  using T = Fp8;
  using A = Fp8;
  static constexpr Matrices matrices = mixed_types<Type::F16>;
};
struct WgmmaBytes : WgmmaProduct {
  static constexpr char syntax[] = "wgmma.mma_async.sync.aligned.m64nk32{.satfinite}.s32.type.atype d, a:b64, b:b64, c:pred";
  using T = Bytes;
  using A = Bytes;
  static constexpr Matrices matrices = mixed_types<Type::S32>;
  static constexpr Legal legal = integer_columns;
};
struct WgmmaBits : WgmmaProduct {
  static constexpr char syntax[] = "wgmma.mma_async.sync.aligned.m64nk256.s32.b1.b1.and.popc d, a:b64, b:b64, c:pred";
  static constexpr Matrices matrices = same_types<Type::S32, Type::B1>;
  static constexpr Legal legal = integer_columns;
};

using WgmmaRows = RowList<WgmmaFence, WgmmaCommit, WgmmaWait, WgmmaF16, WgmmaBf16, WgmmaTf32, WgmmaFp8, WgmmaFp8F16, WgmmaBytes, WgmmaBits>;

}  // namespace warpbeam::isa::rows
