// The SIMD forms of the video instructions (__vadd4, __vabsdiffu2 …): vectors of bytes or halves, in twice their width. Elements
// that a selector moves, and masks, are the interpreter's (isa/arith/video.h has what they all do).
#include <llvm/IR/Intrinsics.h>

#include "jit/emitter.h"

namespace warpbeam::jit {

namespace In = llvm::Intrinsic;
using llvm::FixedVectorType;

bool Emitter::emit_video(const vm::Insn& i) {
  const isa::Row* row = i.source && !i.call ? i.source->form.row : nullptr;
  if (!row || row->kind != isa::Kind::Video || slice_ || left_out(row->opcode)) return false;
  std::string_view op = row->opcode;
  if (!op.ends_with('2') && !op.ends_with('4')) return false;
  for (int k = 0; k < 3; ++k)
    if (i.source->operands[static_cast<size_t>(k)].selector.unit) return false;
  const unsigned elements = static_cast<unsigned>(op.back() - '0'), bits = 32 / elements, all = kLanes * elements;
  op.remove_suffix(1);
  const isa::Mods& m = i.mods();
  const bool set = op == "vset", adds = m.op == isa::Op::Add;
  const bool a_signed = isa::is_signed(set ? i.type() : i.source->form.atype), d_signed = !set && isa::is_signed(i.type());
  auto* narrow = FixedVectorType::get(b_.getIntNTy(bits), all);
  auto* wide = FixedVectorType::get(b_.getIntNTy(2 * bits), all);
  const auto k = [&](int64_t v) { return llvm::ConstantInt::getSigned(wide, v); };
  const auto operand = [&](int at, bool is_signed) {
    const V v = b_.CreateBitCast(lanes_of(read(i.op[at], 4), 4), narrow);
    return is_signed ? b_.CreateSExt(v, wide) : b_.CreateZExt(v, wide);
  };
  const V a = operand(1, a_signed), c = operand(2, m.b_signed);
  V r = nullptr;
  if (op == "vadd") r = b_.CreateAdd(a, c);
  else if (op == "vsub") r = b_.CreateSub(a, c);
  else if (op == "vabsdiff") r = b_.CreateSub(b_.CreateBinaryIntrinsic(In::smax, a, c), b_.CreateBinaryIntrinsic(In::smin, a, c));
  else if (op == "vmin") r = b_.CreateBinaryIntrinsic(In::smin, a, c);
  else if (op == "vmax") r = b_.CreateBinaryIntrinsic(In::smax, a, c);
  else if (op == "vavrg") {  // up from zero on, down below
    const V sum = b_.CreateAdd(a, c);
    r = b_.CreateAShr(b_.CreateAdd(sum, b_.CreateZExt(b_.CreateICmpSGE(sum, k(0)), wide)), k(1));
  } else if (set) {
    using isa::Cmp;
    V holds = nullptr;
    switch (m.cmp) {
      case Cmp::Eq: holds = b_.CreateICmpEQ(a, c); break;
      case Cmp::Ne: holds = b_.CreateICmpNE(a, c); break;
      case Cmp::Lt: case Cmp::Lo: holds = b_.CreateICmpSLT(a, c); break;
      case Cmp::Le: case Cmp::Ls: holds = b_.CreateICmpSLE(a, c); break;
      case Cmp::Gt: case Cmp::Hi: holds = b_.CreateICmpSGT(a, c); break;
      case Cmp::Ge: case Cmp::Hs: holds = b_.CreateICmpSGE(a, c); break;
      default: return false;
    }
    r = b_.CreateZExt(holds, wide);
  }
  if (!r) return false;
  if (m.sat) {
    const int64_t low = d_signed ? -(int64_t{1} << (bits - 1)) : 0, high = d_signed ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
    r = b_.CreateBinaryIntrinsic(In::smin, b_.CreateBinaryIntrinsic(In::smax, r, k(low)), k(high));
  }
  Value v;
  if (adds) {
    v.lanes = lanes_of(read(i.op[3], 4), 4);
    for (unsigned e = 0; e < elements; ++e) {
      std::vector<int> pick;
      for (unsigned l = 0; l < kLanes; ++l) pick.push_back(static_cast<int>(l * elements + e));
      v.lanes = b_.CreateAdd(v.lanes, b_.CreateSExt(b_.CreateShuffleVector(r, pick), type_of(4, true)));
    }
  } else {
    v.lanes = b_.CreateBitCast(b_.CreateTrunc(r, narrow), type_of(4, true));
  }
  write(i.op[0], 4, v);
  return true;
}

}  // namespace warpbeam::jit
