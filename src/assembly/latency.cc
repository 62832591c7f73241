#include "assembly/latency.h"

namespace warpbeam::assembly {

uint32_t latency_of(Operation o) {
  using enum Operation;
  switch (o) {
    case LoadGlobal:
    case LoadLocal:
    case AtomicGlobal:
    case Texture:
    case Surface: return 200;
    case LoadShared:
    case LoadTiles:
    case AtomicShared:
    case AtomicLoop: return 30;
    case LoadConst: return 40;
    case Special:
    case Convert:
    case BitCount:
    case SpecialReg:
    case Shuffle:
    case Match:
    case Redux: return 22;
    case MatrixHalf:
    case MatrixInt:
    case MatrixDouble: return 30;
    case DoubleAdd:
    case DoubleFma: return 10;
    case Uniform: return 10;
    default: return 5;
  }
}

bool takes_predicates(Operation o) {
  using enum Operation;
  switch (o) {
    case IntAdd:
    case Logic:
    case Shift:
    case Compare:
    case HalfCompare:
    case DoubleAdd:
    case IntMul:
    case IntMulWide:
    case Vote:
    case Uniform: return true;
    default: return false;
  }
}

Spacing spacing_of(Operation o) {
  switch (o) {
#define WB_OPERATION(id, name, unit, about) \
  case Operation::id: return spaced_##unit;
    static constexpr Spacing spaced_Alu{1, 2}, spaced_Move{}, spaced_FmaHeavy{2, 2}, spaced_Fma{}, spaced_Half{}, spaced_Fp64{3, 2},
        spaced_Uniform{}, spaced_Branch{}, spaced_Tensor{}, spaced_Special{4, 8}, spaced_Lsu{5, 4}, spaced_Barrier{}, spaced_Const{},
        spaced_Texture{};
#include "assembly/operations.inc"
#undef WB_OPERATION
  }
  return {};
}

bool is_queued(Operation o) {
  switch (o) {
#define WB_OPERATION(id, name, unit, about) \
  case Operation::id: return queued_##unit;
    static constexpr bool queued_Alu = false, queued_Move = false, queued_FmaHeavy = false, queued_Fma = false, queued_Half = false,
                          queued_Fp64 = false, queued_Uniform = false, queued_Branch = false, queued_Tensor = false, queued_Special = true,
                          queued_Lsu = true, queued_Barrier = true, queued_Const = true, queued_Texture = true;
#include "assembly/operations.inc"
#undef WB_OPERATION
  }
  return false;
}

}  // namespace warpbeam::assembly
