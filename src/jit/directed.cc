// Idea: AVX-512 rounds toward zero, up or down by the instruction. Precondition: floats and doubles of whole warps.
// Postcondition: the bits of isa/arith. Fallback: elsewhere, and for a slice of a warp, the interpreter's handlers do it.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "jit/arithmetic.h"
#include "jit/late_nans.h"

namespace warpbeam::jit {

namespace In = llvm::Intrinsic;
using isa::Rnd;
using isa::Type;
using isa::Opcode;

namespace {

constexpr uint32_t kSilent = 8;  // no exceptions, and the rounding that the instruction names

In::ID instruction(Opcode op, bool wide) {
  if (op == Opcode::Add) return wide ? In::x86_avx512_add_pd_512 : In::x86_avx512_add_ps_512;
  if (op == Opcode::Sub) return wide ? In::x86_avx512_sub_pd_512 : In::x86_avx512_sub_ps_512;
  if (op == Opcode::Mul) return wide ? In::x86_avx512_mul_pd_512 : In::x86_avx512_mul_ps_512;
  if (op == Opcode::Div) return wide ? In::x86_avx512_div_pd_512 : In::x86_avx512_div_ps_512;
  if (op == Opcode::Sqrt) return wide ? In::x86_avx512_sqrt_pd_512 : In::x86_avx512_sqrt_ps_512;
  return wide ? In::x86_avx512_vfmadd_pd_512 : In::x86_avx512_vfmadd_ps_512;
}

uint32_t direction_of(Rnd rnd) {
  switch (rnd) {
    case Rnd::Rm: return 1;
    case Rnd::Rp: return 2;
    case Rnd::Rz: return 3;
    default: return 0;
  }
}

}  // namespace

// What a double operation gives where an operand is a NaN: the bits of the first of these that is one.
V Arithmetic::with_nan(V result, std::vector<V> operands, const std::vector<unsigned>& order) {
  if (!result->getType()->getScalarType()->isDoubleTy()) return result;
  if (auto* operation = llvm::dyn_cast<llvm::Instruction>(result)) {
    uses(Technique::LateNans);
    mark_late_nan(*operation, order);
    return result;
  }
  return with_nan_bits(b_, result, operands, order);
}

V Arithmetic::rounded(Opcode op, V a, V b, V c) {
  const std::vector<unsigned> order = op == Opcode::Sqrt  ? std::vector<unsigned>{0}
                                      : op == Opcode::Div ? std::vector<unsigned>{0, 1}
                                      : c                 ? std::vector<unsigned>{1, 2, 0}
                                                          : std::vector<unsigned>{1, 0};
  if (!direction_) {
    const V r = op == Opcode::Add    ? b_.CreateFAdd(a, b)
                : op == Opcode::Sub  ? b_.CreateFSub(a, b)
                : op == Opcode::Mul  ? b_.CreateFMul(a, b)
                : op == Opcode::Div  ? b_.CreateFDiv(a, b)
                : op == Opcode::Sqrt ? intrinsic(In::sqrt, a)
                                     : intrinsic(In::fma, a, b, c);
    return with_nan(r, {a, b, c}, order);
  }
  auto* type = llvm::cast<llvm::FixedVectorType>(a->getType());
  const bool wide = type->getElementType()->isDoubleTy();
  const unsigned lanes = wide ? 8 : 16, parts = type->getNumElements() / lanes;
  std::vector<V> out;
  for (unsigned p = 0; p < parts; ++p) {
    std::vector<V> operands;
    for (V v : {a, b, c})
      if (v) operands.push_back(b_.CreateShuffleVector(v, llvm::createSequentialMask(p * lanes, lanes, 0)));
    operands.push_back(b_.getInt32(direction_ | kSilent));
    out.push_back(with_nan(b_.CreateIntrinsic(instruction(op, wide), {}, operands), operands, order));
  }
  return llvm::concatenateVectors(b_, out);
}

int directed_operands(const vm::Insn& i) {
  static const bool without = left_out("directed");
  const isa::Row* row = known_row(i);
  if (!row || row->kind != isa::Kind::Lane || without || says(*row, ".approx") || says(*row, ".full")) return 0;
  const isa::Mods& m = i.mods();
  const bool f64 = i.type() == Type::F64;
  if ((!f64 && i.type() != Type::F32) || m.approx || m.full || (f64 && m.ftz) || !direction_of(m.rnd)) return 0;
  switch (row->op) {
    case Opcode::Rcp:
    case Opcode::Sqrt: return 1;
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::Div: return 2;
    case Opcode::Fma:
    case Opcode::Mad: return 3;
    default: return 0;
  }
}

V Arithmetic::directed(const vm::Insn& i, const std::vector<V>& operands) {
  direction_ = direction_of(i.mods().rnd);
  const V result = compute_float(i, operands);
  direction_ = 0;
  return result;
}

}  // namespace warpbeam::jit
