// Idea: video instructions for bytes and halves (__vadd4, __vabsdiffu2 …) are vectors of them, in twice their width.
// Precondition: no selector, no mask. Postcondition: the bits of isa/arith/video.h. Fallback: the interpreter's handlers.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>

#include "jit/emitter.h"

namespace warpbeam::jit {

namespace In = llvm::Intrinsic;
using llvm::FixedVectorType;

using isa::Opcode;

namespace {

// How many a word has; 0: the instruction is about single numbers.
unsigned elements_of(Opcode op) {
  switch (op) {
    case Opcode::Vadd2:
    case Opcode::Vsub2:
    case Opcode::Vavrg2:
    case Opcode::Vabsdiff2:
    case Opcode::Vmin2:
    case Opcode::Vmax2:
    case Opcode::Vset2: return 2;
    case Opcode::Vadd4:
    case Opcode::Vsub4:
    case Opcode::Vavrg4:
    case Opcode::Vabsdiff4:
    case Opcode::Vmin4:
    case Opcode::Vmax4:
    case Opcode::Vset4: return 4;
    default: return 0;
  }
}

}  // namespace

bool Emitter::emit_video(const vm::Insn& i) {
  const isa::Row* row = known_row(i);
  if (!row || row->kind != isa::Kind::Video || as_.slice) return false;
  const unsigned elements = elements_of(row->op);
  if (!elements) return false;
  for (int k = 0; k < 3; ++k)
    if (i.source->operands[static_cast<size_t>(k)].selector.unit) return false;
  const unsigned bits = 32 / elements, all = kLanes * elements;
  const isa::Mods& m = i.mods();
  const bool set = row->op == Opcode::Vset2 || row->op == Opcode::Vset4, adds = m.op == isa::Op::Add;
  const bool a_signed = isa::is_signed(set ? i.type() : i.source->form.atype), d_signed = !set && isa::is_signed(i.type());
  auto* narrow = FixedVectorType::get(b_.getIntNTy(bits), all);
  auto* wide = FixedVectorType::get(b_.getIntNTy(2 * bits), all);
  const auto k = [&](int64_t v) { return llvm::ConstantInt::getSigned(wide, v); };
  const auto operand = [&](int at, bool is_signed) {
    const V v = b_.CreateBitCast(lanes_of(read(i.op[at], 4), 4), narrow);
    return is_signed ? b_.CreateSExt(v, wide) : b_.CreateZExt(v, wide);
  };
  const V a = operand(1, a_signed), c = operand(2, m.b_signed);
  const auto compared = [&]() -> V {
    using isa::Cmp;
    switch (m.cmp) {
      case Cmp::Eq: return b_.CreateICmpEQ(a, c);
      case Cmp::Ne: return b_.CreateICmpNE(a, c);
      case Cmp::Lt:
      case Cmp::Lo: return b_.CreateICmpSLT(a, c);
      case Cmp::Le:
      case Cmp::Ls: return b_.CreateICmpSLE(a, c);
      case Cmp::Gt:
      case Cmp::Hi: return b_.CreateICmpSGT(a, c);
      case Cmp::Ge:
      case Cmp::Hs: return b_.CreateICmpSGE(a, c);
      default: return nullptr;
    }
  };
  V r = nullptr;
  switch (row->op) {
    case Opcode::Vadd2:
    case Opcode::Vadd4: r = b_.CreateAdd(a, c); break;
    case Opcode::Vsub2:
    case Opcode::Vsub4: r = b_.CreateSub(a, c); break;
    case Opcode::Vabsdiff2:
    case Opcode::Vabsdiff4: r = b_.CreateSub(b_.CreateBinaryIntrinsic(In::smax, a, c), b_.CreateBinaryIntrinsic(In::smin, a, c)); break;
    case Opcode::Vmin2:
    case Opcode::Vmin4: r = b_.CreateBinaryIntrinsic(In::smin, a, c); break;
    case Opcode::Vmax2:
    case Opcode::Vmax4: r = b_.CreateBinaryIntrinsic(In::smax, a, c); break;
    case Opcode::Vavrg2:
    case Opcode::Vavrg4: {  // up from zero on, down below
      const V sum = b_.CreateAdd(a, c);
      r = b_.CreateAShr(b_.CreateAdd(sum, b_.CreateZExt(b_.CreateICmpSGE(sum, k(0)), wide)), k(1));
      break;
    }
    default: {
      const V holds = compared();
      if (!holds) return false;
      r = b_.CreateZExt(holds, wide);
    }
  }
  if (m.sat) {
    const int64_t low = d_signed ? -(int64_t{1} << (bits - 1)) : 0,
                  high = d_signed ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
    r = b_.CreateBinaryIntrinsic(In::smin, b_.CreateBinaryIntrinsic(In::smax, r, k(low)), k(high));
  }
  uses(Technique::BytesAndHalves);
  Value v;
  if (adds) {
    v.lanes = lanes_of(read(i.op[3], 4), 4);
    for (unsigned e = 0; e < elements; ++e) {
      const V own = b_.CreateShuffleVector(r, llvm::createStrideMask(e, elements, kLanes));
      v.lanes = b_.CreateAdd(v.lanes, b_.CreateSExt(own, type_of(4, true)));
    }
  } else {
    v.lanes = b_.CreateBitCast(b_.CreateTrunc(r, narrow), type_of(4, true));
  }
  write(i.op[0], 4, v);
  return true;
}

}  // namespace warpbeam::jit
