// Instructions whose result depends on their operands alone. One piece of code serves scalars and vectors of lanes; it
// says what the functions in isa/arith say, and leaves to the interpreter's handlers whatever it does not list.
#include <llvm/IR/Intrinsics.h>

#include <cstdlib>
#include <tuple>

#include "jit/emit_half.h"
#include "jit/emit_parts.h"
#include "jit/arithmetic.h"

namespace warpbeam::jit {

using isa::Cmp;
using isa::Half;
using isa::Kind;
using isa::Opcode;
using isa::Rnd;
using isa::Type;
using llvm::Intrinsic::ID;
namespace In = llvm::Intrinsic;

namespace {

bool is_int(Type t) {
  switch (t) {
    case Type::B16:
    case Type::B32:
    case Type::B64:
    case Type::U16:
    case Type::U32:
    case Type::U64:
    case Type::S16:
    case Type::S32:
    case Type::S64: return true;
    default: return false;
  }
}
bool is_half(Type t) { return t == Type::F16 || t == Type::F16x2 || t == Type::BF16 || t == Type::BF16x2; }
bool nearest(const isa::Mods& m) { return m.rnd == Rnd::None || m.rnd == Rnd::Rn; }

bool lane_ir(const vm::Insn& i) {
  const isa::Row& row = *i.source->form.row;
  const isa::Mods& m = i.mods();
  const Type t = i.type();
  const Half half = half_of(i);
  const Opcode op = row.op;
  if (says(row, ".approx") || says(row, ".full") || says(row, ".sat") || says(row, ".relu")) return false;
  if (t == Type::Pred) return op == Opcode::And || op == Opcode::Or || op == Opcode::Xor || op == Opcode::Not;
  if (t == Type::F32 || t == Type::F64) {
    if (op == Opcode::Copysign) return true;
    if (op == Opcode::Neg || op == Opcode::Abs) return true;
    if (op == Opcode::Testp) return false;
    if (op == Opcode::Min || op == Opcode::Max) return !m.nan && !m.xorsign && !m.abs;
    if (t == Type::F64)
      return (op == Opcode::Add || op == Opcode::Sub || op == Opcode::Mul || op == Opcode::Fma || op == Opcode::Mad || op == Opcode::Div ||
              op == Opcode::Sqrt || op == Opcode::Rcp) &&
             nearest(m) && !m.approx && !m.ftz;
    if (m.approx || m.full) return false;
    if (op == Opcode::Add || op == Opcode::Sub) return nearest(m);
    if (op == Opcode::Sqrt) return nearest(m);
    if (op == Opcode::Mul || op == Opcode::Fma || op == Opcode::Mad || op == Opcode::Div || op == Opcode::Rcp) return nearest(m);
    return false;
  }
  if (is_half(t)) return has_half(op, m) && !says(row, ".oob");
  if (!is_int(t)) return false;
  if (m.sat || m.relu) return false;
  const bool word = isa::bits_of(t) >= 32;
  if (op == Opcode::Add || op == Opcode::Sub || op == Opcode::And || op == Opcode::Or || op == Opcode::Xor || op == Opcode::Not ||
      op == Opcode::Cnot || op == Opcode::Min || op == Opcode::Max || op == Opcode::Neg || op == Opcode::Abs || op == Opcode::Shl ||
      op == Opcode::Shr)
    return true;
  if (op == Opcode::Mul || op == Opcode::Mad) return half == Half::Lo || half == Half::Wide || half == Half::Hi;
  if (op == Opcode::Popc || op == Opcode::Clz || op == Opcode::Brev) return word;
  if (op == Opcode::Lop3 || op == Opcode::Shf || op == Opcode::Sad || op == Opcode::Bfind) return word;
  if (op == Opcode::Mul24 || op == Opcode::Mad24) return half == Half::Lo;
  if (op == Opcode::Bfe || op == Opcode::Bfi || op == Opcode::Dp4a) return isa::bits_of(t) == 32;
  if (op == Opcode::Div || op == Opcode::Rem) return isa::bits_of(t) == 32;
  if (op == Opcode::Prmt) return m.permute == isa::Permute::None;
  return false;
}

}  // namespace

bool Shapes::has_ir(const vm::Insn& i) const {
  if (i.step == vm::Step::NotPred) return true;
  if (!known_row(i)) return false;
  const isa::Row& row = *i.row();
  const Type t = i.type();
  switch (row.kind) {
    case Kind::Lane: return lane_ir(i);
    case Kind::Move:
      if (i.list) return t != Type::B128 && isa::bytes_of(t) <= 8 && isa::bytes_of(t) / i.count >= 1;
      return t != Type::B128;
    case Kind::Address: return row.op == isa::Opcode::Cvta;
    case Kind::Convert: return has_conversion(i);
    case Kind::Select: return row.op == isa::Opcode::Selp;
    case Kind::Carry: return half_of(i) != Half::Hi || isa::bits_of(t) == 32;
    case Kind::Compare: {
      const bool set = row.operands.list[0].fixed != Type::Pred;
      const Type c = set ? i.source->form.atype : t;
      if (set && t != Type::U32 && t != Type::S32 && t != Type::F32) return false;
      if (c == Type::F16 || c == Type::BF16) return !i.mods().ftz;
      return is_int(c) || c == Type::F32 || c == Type::F64;
    }
    case Kind::Memory: return row.cls == isa::Class::Load || row.cls == isa::Class::Store;
    case Kind::Warp:
      return row.op == isa::Opcode::Vote || row.op == isa::Opcode::Activemask || (row.op == isa::Opcode::Redux) ||
             row.op == isa::Opcode::Shfl;
    case Kind::Barrier: return true;
    default: return false;
  }
}

V Arithmetic::compute_float(const vm::Insn& i, const std::vector<V>& o) {
  const Opcode op = i.source->form.row->op;
  const isa::Mods& m = i.mods();
  const Width bytes = static_cast<Width>(isa::bytes_of(i.type()));
  std::vector<V> x;
  for (V v : o) x.push_back(float_of(v, bytes));
  llvm::Type* ty = x[0]->getType();
  const auto number = [&](double v) { return llvm::ConstantFP::get(ty, v); };
  const auto flush = [&](V v) {
    if (!m.ftz) return v;
    V raw = bits_of(v);
    V tiny = b_.CreateICmpEQ(b_.CreateAnd(raw, 0x7f800000), llvm::Constant::getNullValue(raw->getType()));
    return float_of(b_.CreateSelect(tiny, b_.CreateAnd(raw, 0x80000000), raw), 4);
  };
  if (op == Opcode::Copysign) {
    const uint64_t sign = uint64_t(1) << (bytes * 8 - 1);
    llvm::Type* it = o[0]->getType();
    return b_.CreateOr(b_.CreateAnd(o[0], llvm::ConstantInt::get(it, sign)), b_.CreateAnd(o[1], llvm::ConstantInt::get(it, sign - 1)));
  }
  // min and max: a NaN loses to a number, -0 is below +0.
  const auto extreme = [&] {
    const bool max = op == Opcode::Max;
    V a = x[0], c = x[1];
    V equal = float_of(max ? b_.CreateAnd(bits_of(a), bits_of(c)) : b_.CreateOr(bits_of(a), bits_of(c)), bytes);
    V r = b_.CreateSelect(max ? b_.CreateFCmpOGT(a, c) : b_.CreateFCmpOLT(a, c), a,
                          b_.CreateSelect(max ? b_.CreateFCmpOGT(c, a) : b_.CreateFCmpOLT(c, a), c, equal));
    r = b_.CreateSelect(b_.CreateFCmpUNO(c, c), a, r);
    return b_.CreateSelect(b_.CreateFCmpUNO(a, a), c, r);
  };
  if (bytes == 4) {
    for (V& v : x) v = flush(v);
    const auto finish = [&](V r) {
      // The NaN of a variable that only arithmetic reads need not be canonical yet.
      if (!shapes_.is_loose(i.op[0]) || m.sat) r = canonical(r);
      r = flush(r);
      if (m.sat) {
        V above = b_.CreateFCmpOGT(r, number(0));
        r = b_.CreateSelect(above, b_.CreateSelect(b_.CreateFCmpOLT(r, number(1)), r, number(1)), number(0));
      }
      return bits_of(r);
    };
    if (op == Opcode::Add) return finish(rounded(Opcode::Add, x[0], x[1]));
    if (op == Opcode::Sub) return finish(rounded(Opcode::Sub, x[0], x[1]));
    // .ftz decides on the value rounded as if exponents had no lower end, which is what the same operation gives
    // further up. Where an operand leaves the range there, the result is far from the smallest normal number: infinity
    // and NaN keep what they are compared for.
    const auto scaled = [&](V v) { return b_.CreateFMul(v, number(0x1p64)); };
    const auto unless_tiny = [&](V r, V further_up) {
      const V raw = bits_of(r), tiny = b_.CreateFCmpOLT(intrinsic(In::fabs, further_up), number(0x1p-62));
      return float_of(b_.CreateSelect(tiny, b_.CreateAnd(raw, 0x80000000), raw), 4);
    };
    const auto product = [&](V a, V c) { return rounded(Opcode::Mul, a, c); };
    const auto quotient = [&](V a, V c) { return rounded(Opcode::Div, a, c); };
    const auto flushed = [&](auto operation, V a, V c) {
      const V r = operation(a, c);
      return finish(m.ftz ? unless_tiny(r, operation(scaled(a), c)) : r);
    };
    if (op == Opcode::Mul) return flushed(product, x[0], x[1]);
    if (op == Opcode::Div) return flushed(quotient, x[0], x[1]);
    if (op == Opcode::Rcp) return flushed(quotient, number(1), x[0]);
    if (op == Opcode::Fma || op == Opcode::Mad) {
      const V r = rounded(Opcode::Fma, x[0], x[1], x[2]);
      return finish(m.ftz ? unless_tiny(r, rounded(Opcode::Fma, scaled(x[0]), x[1], scaled(x[2]))) : r);
    }
    if (op == Opcode::Sqrt) return finish(rounded(Opcode::Sqrt, x[0]));
    if (op == Opcode::Neg) return bits_of(canonical(b_.CreateFNeg(x[0])));
    if (op == Opcode::Abs) return bits_of(canonical(intrinsic(In::fabs, x[0])));
    return bits_of(canonical(extreme()));
  }
  // f64: operations take a NaN of one operand along, rounded() says which; the others make theirs quiet.
  const auto quiet = [&](V v) { return float_of(b_.CreateOr(bits_of(v), 0x8000000000000ull), 8); };
  switch (op) {
    case Opcode::Neg: return bits_of(with_nan(b_.CreateFNeg(x[0]), {x[0]}, {0}));
    case Opcode::Abs: return bits_of(with_nan(intrinsic(In::fabs, x[0]), {x[0]}, {0}));
    case Opcode::Min:
    case Opcode::Max: {
      const V r = extreme();
      return bits_of(b_.CreateSelect(b_.CreateFCmpUNO(r, r), quiet(r), r));
    }
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::Div: return bits_of(rounded(op, x[0], x[1]));
    case Opcode::Rcp: return bits_of(rounded(Opcode::Div, number(1), x[0]));
    case Opcode::Sqrt: return bits_of(rounded(op, x[0]));
    default: return bits_of(rounded(Opcode::Fma, x[0], x[1], x[2]));
  }
}

V Arithmetic::compare(const vm::Insn& i, V a, V c) {
  const bool set = i.source->form.row->operands.list[0].fixed != Type::Pred;
  const Type t = set ? i.source->form.atype : i.type();
  Cmp cmp = i.mods().cmp;
  if (isa::is_float(t)) {
    const Width bytes = static_cast<Width>(isa::bytes_of(t));
    const auto number = [&](V bits) {
      return t == Type::F16    ? float_of(half_to_float(b_, bits, processor_), 4)
             : t == Type::BF16 ? float_of(brain_to_float(b_, bits), 4)
                               : float_of(bits, bytes);
    };
    V x = number(a), y = number(c);
    if (i.mods().ftz) {
      const auto flush = [&](V v) {
        V raw = bits_of(v);
        V tiny = b_.CreateICmpEQ(b_.CreateAnd(raw, 0x7f800000), llvm::Constant::getNullValue(raw->getType()));
        return float_of(b_.CreateSelect(tiny, b_.CreateAnd(raw, 0x80000000), raw), 4);
      };
      x = flush(x);
      y = flush(y);
    }
    switch (cmp) {
      case Cmp::Eq: return b_.CreateFCmpOEQ(x, y);
      case Cmp::Ne: return b_.CreateFCmpONE(x, y);
      case Cmp::Lt:
      case Cmp::Lo: return b_.CreateFCmpOLT(x, y);
      case Cmp::Le:
      case Cmp::Ls: return b_.CreateFCmpOLE(x, y);
      case Cmp::Gt:
      case Cmp::Hi: return b_.CreateFCmpOGT(x, y);
      case Cmp::Ge:
      case Cmp::Hs: return b_.CreateFCmpOGE(x, y);
      case Cmp::Equ: return b_.CreateFCmpUEQ(x, y);
      case Cmp::Neu: return b_.CreateFCmpUNE(x, y);
      case Cmp::Ltu: return b_.CreateFCmpULT(x, y);
      case Cmp::Leu: return b_.CreateFCmpULE(x, y);
      case Cmp::Gtu: return b_.CreateFCmpUGT(x, y);
      case Cmp::Geu: return b_.CreateFCmpUGE(x, y);
      case Cmp::Num: return b_.CreateFCmpORD(x, y);
      default: return b_.CreateFCmpUNO(x, y);
    }
  }
  const bool sg = isa::is_signed(t);
  switch (cmp) {
    case Cmp::Eq: return b_.CreateICmpEQ(a, c);
    case Cmp::Ne: return b_.CreateICmpNE(a, c);
    case Cmp::Lt:
    case Cmp::Lo: return sg ? b_.CreateICmpSLT(a, c) : b_.CreateICmpULT(a, c);
    case Cmp::Le:
    case Cmp::Ls: return sg ? b_.CreateICmpSLE(a, c) : b_.CreateICmpULE(a, c);
    case Cmp::Gt:
    case Cmp::Hi: return sg ? b_.CreateICmpSGT(a, c) : b_.CreateICmpUGT(a, c);
    default: return sg ? b_.CreateICmpSGE(a, c) : b_.CreateICmpUGE(a, c);
  }
}

V Arithmetic::join_predicates(const vm::Insn& i, V a, V c) {
  switch (i.mods().boolop) {
    case isa::BoolOp::And: return b_.CreateAnd(a, c);
    case isa::BoolOp::Or: return b_.CreateOr(a, c);
    case isa::BoolOp::Xor: return b_.CreateXor(a, c);
    default: return a;
  }
}

V Arithmetic::compute(const vm::Insn& i, const std::vector<V>& o) {
  const isa::Row& row = *i.source->form.row;
  const isa::Mods& m = i.mods();
  const Type t = i.type();
  if (i.step == vm::Step::NotPred) return b_.CreateNot(o[0]);
  switch (row.kind) {
    case Kind::Move:
      return i.op[1] >= 0 && shapes_.is_loose(i.op[1]) && !shapes_.is_loose(i.op[0]) ? bits_of(canonical(float_of(o[0], 4))) : o[0];
    case Kind::Address: {
      uint64_t window = 0;
      if (m.space == isa::Space::Shared || m.space == isa::Space::SharedCluster) window = vm::kSharedWindow;
      if (m.space == isa::Space::Local) window = vm::kLocalWindow;
      return b_.CreateAdd(o[0], llvm::ConstantInt::get(o[0]->getType(), m.to ? 0 - window : window));
    }
    case Kind::Convert: {
      const V packed = convert_packed(b_, i, o);
      return packed ? packed : compute_convert(i, o[0]);
    }
    case Kind::Select: return b_.CreateSelect(o[2], o[0], o[1]);
    case Kind::Lane:
      if (t == Type::Pred || !isa::is_float(t)) return compute_integer(i, o);
      if (is_half(t)) return half_arithmetic(b_, row.op, i.mods(), o, t, processor_);
      return compute_float(i, o);
    default: return nullptr;
  }
}

}  // namespace warpbeam::jit
