// Integer arithmetic, logic and bits.
#include <algorithm>
#include <bit>

#include "assembly/selector.h"

namespace warpbeam::assembly {

using isa::Type;
using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

namespace {

bool is_long(Type t) { return isa::bits_of(t) == 64; }

bool small_count(const Operand& o) { return o.kind == OperandKind::Immediate && o.imm < 32; }

}  // namespace

void Selector::add(const Instruction& i) {
  const bool minus = i.form.row->opcode == "sub";
  if (isa::is_float(i.form.type)) return float_arithmetic(i);
  if (i.form.mods.cc) return carry_add(i);
  if (i.form.type == Type::U16x2 || i.form.type == Type::S16x2) {
    if (cc_ >= 90) return integer(i, Operation::IntAdd, "VIADD.16x2", {source(i.operands[1]), source(i.operands[2])});
    return chain(destination(i.operands[0]), {source(i.operands[1]), source(i.operands[2])},
                 {{Operation::Logic, "LOP3"},
                  {Operation::IntAdd, "IADD3"},
                  {Operation::Logic, "LOP3"},
                  {Operation::IntAdd, "IADD3"},
                  {Operation::Logic, "PRMT"}});
  }
  if (is_long(i.form.type)) return add_long(i, minus);
  if (i.form.mods.sat)
    return chain(destination(i.operands[0]), {source(i.operands[1]), source(i.operands[2])},
                 {{Operation::IntAdd, "IADD3"}, {Operation::Logic, "LOP3"}, {Operation::Compare, "ISETP"}, {Operation::Compare, "SEL"}});
  add_words(i, minus);
}

void Selector::add_words(const Instruction& i, bool minus) {
  for (int k : {2, 1}) {
    const Operand &taken = i.operands[static_cast<size_t>(k)], &other = i.operands[static_cast<size_t>(3 - k)];
    const Source rest = source(other);
    if (!(minus && k == 1 && false)) {
      if (const Instruction* p = producer(taken, "mul"); p && half_of(*p) == isa::Half::Lo && isa::bits_of(p->form.type) == 32)
        return integer(i, Operation::IntMul, "IMAD", {source(p->operands[1]), source(p->operands[2]), rest});
    }
    if (const Instruction* p = producer(taken, "shl"); p && isa::bits_of(p->form.type) == 32 && small_count(p->operands[2]))
      return integer(i, Operation::IntAdd, "LEA", {source(p->operands[1]), rest});
  }
  for (int k : {2, 1}) {
    const Operand &taken = i.operands[static_cast<size_t>(k)], &other = i.operands[static_cast<size_t>(3 - k)];
    if (const Instruction* p = producer(taken, "shr"); p && p->form.type == Type::U32 && small_count(p->operands[2]) && !minus)
      return integer(i, Operation::IntAdd, "LEA.HI", {source(p->operands[1]), source(other)});
    for (const char* op : {"add", "sub"})
      if (const Instruction* p = producer(taken, op); p && isa::bits_of(p->form.type) == 32 && !isa::is_float(p->form.type)) {
        const Source a = source(p->operands[1]), b = source(p->operands[2]), c = source(other);
        const auto loose = [](const Source& s) { return s.kind != Source::Register && !s.is_number(0); };
        if (loose(a) + loose(b) + loose(c) > 1) continue;
        return integer(i, Operation::IntAdd, "IADD3", {a, b, c});
      }
  }
  // One more or not: the sum, and the number as it was where the condition does not hold.
  if (!minus && cc_ >= 70)
    for (size_t k : {size_t(2), size_t(1)})
      if (const Instruction* p = producer(i.operands[k], "selp");
          p && isa::bits_of(p->form.type) == 32 && i.operands[3 - k].kind == OperandKind::Register &&
          p->operands[1].kind == OperandKind::Immediate && p->operands[1].imm == 1 && p->operands[2].kind == OperandKind::Immediate &&
          !p->operands[2].imm) {
        const Source before = source(i.operands[3 - k]), condition = source(p->operands[3]);
        if (before.kind != Source::Register || !condition.part) continue;
        const Part to = destination(i.operands[0]);
        emit(Operation::IntAdd, "IADD3", {to}, {before});
        Draft& stays = emit(Operation::Move, "MOV", {to}, {before});
        stays.read(condition.part);
        stays.guarded = stays.keeps = stays.negated = true;
        return;
      }
  integer(i, Operation::IntAdd, "IADD3", {source(i.operands[1]), source(i.operands[2])});
}

// base + (x + y) * size, where base + x * size is there: that and y * size. nvcc's front end, which knows that x + y does not wrap
// around, writes it so.
bool Selector::next_address(const Instruction& product, const Source& base, Part to) {
  const Operand &index = product.operands[1], &size = product.operands[2];
  if (index.kind != OperandKind::Register || size.kind != OperandKind::Immediate || !isa::is_signed(product.form.type) || now_->guard >= 0)
    return false;
  const auto key_of = [&](int reg) {
    return std::tuple{static_cast<int>(base.kind), base.kind == Source::Constant ? base.key : base.part.value, static_cast<int32_t>(reg),
                      size.imm};
  };
  if ((base.kind != Source::Constant && base.kind != Source::Register && base.kind != Source::Uniform) || base.apart) return false;
  bool made = false;
  if (const Instruction* sum = producer(index, "add", false); sum && isa::bits_of(sum->form.type) == 32)
    for (size_t k : {size_t(1), size_t(2)}) {
      const Operand &x = sum->operands[k], &y = sum->operands[3 - k];
      if (made || x.kind != OperandKind::Register || y.kind != OperandKind::Register) continue;
      const auto known = addresses_.find(key_of(x.reg));
      if (known == addresses_.end() || known->second.block != block_ || known->second.since != latest_[static_cast<size_t>(x.reg)])
        continue;
      emit(Operation::IntMulWide, "IMAD.WIDE", {to}, {source(y), number(size.imm), of(known->second.part)});
      made = true;
    }
  addresses_[key_of(index.reg)] = {block_, latest_[static_cast<size_t>(index.reg)], to};
  return made;
}

void Selector::add_long(const Instruction& i, bool minus) {
  const Source left = source(i.operands[1], 2), right = source(i.operands[2], 2);
  if (const Part to = wide_uniform(i.operands[0], {left, right})) {
    emit_uniform("UIADD3", word(to, 0), std::array{low(left), low(right)});
    emit_uniform("UIADD3.X", word(to, 1), std::array{high(left), high(right)});
    return;
  }
  const Part to = destination(i.operands[0]);
  if (minus && cc_ >= 70)
    if (const Instruction* p = producer(i.operands[2], "mul"); p && is_long(p->form.type) && half_of(*p) == isa::Half::Lo &&
                                                               p->operands[2].kind == OperandKind::Immediate &&
                                                               !(p->operands[2].imm >> 32)) {
      // What a division by a number leaves over, x - q * n: the product by -n, of whose upper half a q is left.
      const Source q = source(p->operands[1], 2), n = number(-p->operands[2].imm & 0xffffffff);
      const Part product = temporary(2);
      emit(Operation::IntMulWide, "IMAD.WIDE.U32", {product}, {low(q), n, left});
      Source cross;
      if (!high(q).is_number(0)) {
        const Part t = temporary();
        emit(Operation::IntMul, "IMAD", {t}, {high(q), n});
        cross = of(t);
      }
      emit(Operation::IntAdd, "IADD3", {word(to, 1)}, {high(of(product)), low(q), cross});
      copy_to(word(to, 0), low(of(product)));
      return;
    }
  if (!minus)
    for (int k : {2, 1}) {
      const Operand &taken = i.operands[static_cast<size_t>(k)], &other = i.operands[static_cast<size_t>(3 - k)];
      if (const Instruction* p = producer(taken, "mul", false); p && half_of(*p) == isa::Half::Wide && cc_ >= 70) {
        // In shared memory, whose addresses have 32 bits: a variable's place stays uniform.
        if (const Source s = source(other, 2); s.kind == Source::Constant &&
                                               keys_[static_cast<size_t>(s.key)].what == Fixed::SharedAddress &&
                                               p->operands[2].kind == OperandKind::Immediate && std::has_single_bit(p->operands[2].imm)) {
          const Operand& index = p->operands[1];
          if (near_ && index.kind == OperandKind::Register && single(index.reg) && until_[static_cast<size_t>(index.reg)] == ~0u &&
              single(i.operands[0].reg))
            remade_[i.operands[0].reg] = {source(index), s};
          emit(Operation::IntAdd, "LEA", {word(to, 0)}, {source(index), s});
          emit(Operation::Move, "MOV", {word(to, 1)}, {number(0)});
          return;
        }
        const Source base = source(other, 2);
        const bool once = single(i.operands[0].reg) && (other.kind != OperandKind::Register || single(other.reg));
        if (once && next_address(*p, base, to)) return;
        emit(Operation::IntMulWide, "IMAD.WIDE", {to}, {source(p->operands[1]), source(p->operands[2]), base});
        return;
      }
      if (const Instruction* p = producer(taken, "cvt", false); p && p->form.type == Type::S64 && p->form.atype == Type::S32 && cc_ >= 70) {
        const Source a = source(p->operands[1]), b = source(other, 2);
        const Part carry = temporary(1, Bank::Predicate);
        emit(Operation::IntAdd, "IADD3", {word(to, 0), carry}, {a, low(b)});
        emit(Operation::IntAdd, "LEA.HI.X.SX32", {word(to, 1)}, {a, high(b), of(carry)});
        return;
      }
      if (const Instruction* p = producer(taken, "shl"); p && is_long(p->form.type) && small_count(p->operands[2])) {
        const Instruction* wider = producer(p->operands[1], "cvt");
        if (wider && isa::bits_of(wider->form.atype) == 32 && isa::bits_of(wider->form.type) == 64 && !isa::is_float(wider->form.atype) &&
            cc_ >= 70) {
          emit(Operation::IntMulWide, "IMAD.WIDE", {to},
               {source(wider->operands[1]), number(uint64_t(1) << p->operands[2].imm), source(other, 2)});
          return;
        }
        const Source a = source(p->operands[1], 2), b = source(other, 2);
        const Part carry = temporary(1, Bank::Predicate);
        emit(Operation::IntAdd, "LEA", {word(to, 0), carry}, {low(a), low(b)});
        emit(Operation::IntAdd, "LEA.HI.X", {word(to, 1)}, {low(a), high(a), high(b), of(carry)});
        return;
      }
    }
  const Source a = source(i.operands[1], 2), b = source(i.operands[2], 2);
  const Part carry = temporary(1, Bank::Predicate);
  emit(Operation::IntAdd, "IADD3", {word(to, 0), carry}, {low(a), low(b)});
  emit(cc_ >= 70 ? Operation::IntAdd : Operation::IntAdd, "IADD3.X", {word(to, 1)}, {high(a), high(b), of(carry)});
}

void Selector::carry_add(const Instruction& i) {
  const Part to = destination(i.operands[0]);
  const bool in = i.form.row->opcode.ends_with("c");
  int32_t& flag = carry_[block_];
  const auto once = [&](Part where, const Source& a, const Source& b, bool with, bool gives) {
    const Part before = with && flag >= 0 ? code_.whole(flag) : Part{};
    Part after;
    if (gives) {
      flag = code_.new_value(Bank::Predicate, 1);
      after = code_.whole(flag);
    }
    emit(Operation::IntAdd, with ? "IADD3.X" : "IADD3", {where, after}, {a, b, of(before)});
  };
  const Source a = source(i.operands[1], to.count), b = source(i.operands[2], to.count);
  if (to.count == 2) {
    once(word(to, 0), low(a), low(b), in, true);
    once(word(to, 1), high(a), high(b), true, i.form.mods.cc);
  } else {
    once(to, a, b, in, i.form.mods.cc);
  }
}

void Selector::carry_mad(const Instruction& i) {
  const Part to = destination(i.operands[0]);
  int32_t& flag = carry_[block_];
  const bool in = i.form.row->opcode == "madc", high_half = half_of(i) == isa::Half::Hi;
  if (to.count == 2) {
    const Part product = temporary(2);
    multiply_long(product, source(i.operands[1], 2), source(i.operands[2], 2), {});
    const Source c = source(i.operands[3], 2);
    const Part carry = temporary(1, Bank::Predicate);
    emit(Operation::IntAdd, "IADD3", {word(to, 0), carry}, {low(of(product)), low(c), of(in && flag >= 0 ? code_.whole(flag) : Part{})});
    if (i.form.mods.cc) flag = code_.new_value(Bank::Predicate, 1);
    emit(Operation::IntAdd, "IADD3.X", {word(to, 1), i.form.mods.cc ? code_.whole(flag) : Part{}}, {high(of(product)), high(c), of(carry)});
    return;
  }
  const Part before = in && flag >= 0 ? code_.whole(flag) : Part{};
  Part after;
  if (i.form.mods.cc) {
    flag = code_.new_value(Bank::Predicate, 1);
    after = code_.whole(flag);
  }
  // Chains of long numbers: a wide product serves the low and the high half, so each takes about one instruction.
  emit(Operation::IntMulWide, high_half ? "IMAD.HI" : "IMAD.WIDE", {to, after},
       {source(i.operands[1]), source(i.operands[2]), source(i.operands[3]), of(before)});
}

void Selector::multiply_long(Part to, const Source& a, const Source& b, const Source& c) {
  const bool a_short = high(a).is_number(0), b_short = high(b).is_number(0);
  Source cross;
  if (!a_short) {
    const Part t = temporary();
    emit(Operation::IntMul, "IMAD", {t}, {high(a), low(b)});
    cross = of(t);
  }
  if (!b_short) {
    const Part t = temporary();
    emit(Operation::IntMul, "IMAD", {t}, {low(a), high(b), cross});
    cross = of(t);
  }
  if (cross.kind == Source::Nothing) {
    emit(Operation::IntMulWide, "IMAD.WIDE.U32", {to}, {low(a), low(b), c});
    return;
  }
  const Part product = temporary(2);
  emit(Operation::IntMulWide, "IMAD.WIDE.U32", {product}, {low(a), low(b), c});
  emit(Operation::IntAdd, "IADD3", {word(to, 1)}, {high(of(product)), cross});
  copy_to(word(to, 0), low(of(product)));
}

void Selector::multiply_high_long(Part to, const Source& a, const Source& b) {
  const Part p0 = temporary(2), p1 = temporary(2), p2 = temporary(2), c0 = temporary(1, Bank::Predicate),
             c1 = temporary(1, Bank::Predicate);
  emit(Operation::IntMulWide, "IMAD.WIDE.U32", {p0}, {high(a), low(b)});
  emit(Operation::IntMulWide, "IMAD.WIDE.U32", {p1, c0}, {low(a), high(b), of(p0)});
  const Part t = temporary();
  emit(Operation::IntMulWide, "IMAD.HI.U32", {t}, {low(a), low(b)});
  emit(Operation::IntAdd, "IADD3", {temporary(), c1}, {of(t), low(of(p1))});
  emit(Operation::IntAdd, "IADD3.X", {word(p2, 1)}, {of(c0)});
  copy_to(word(p2, 0), high(of(p1)));
  emit(Operation::IntMulWide, "IMAD.WIDE.U32.X", {to}, {high(a), high(b), of(p2), of(c1)});
}

// Of two products of the same numbers, one the lower and one the upper half, the first makes both.
bool Selector::other_half(const Instruction& i) {
  const int reg = i.operands[0].reg;
  if (reg < 0 || i.guard >= 0 || cc_ < 70 || isa::bits_of(i.form.type) != 32) return false;
  if (const auto known = halves_.find(reg); known != halves_.end()) {
    const Part part = known->second;
    halves_.erase(known);
    if (!make_same(reg, of(part))) copy_to(destination(reg), of(part));
    return true;
  }
  const auto same = [](const Operand& a, const Operand& b) {
    return a.kind == b.kind && a.reg == b.reg && a.imm == b.imm && (a.kind == OperandKind::Register || a.kind == OperandKind::Immediate);
  };
  for (const Operand& o : i.operands)
    if (o.kind == OperandKind::Register && !single(o.reg)) return false;
  constexpr uint32_t kFar = 24;
  for (uint32_t k = at_ + 1; k < std::min(blocks_[block_].end, at_ + kFar); ++k) {
    const Instruction& o = f_.body[k];
    if (o.form.row->opcode != "mul" || o.guard >= 0 || isa::is_float(o.form.type) || isa::bits_of(o.form.type) != 32 ||
        half_of(o) == half_of(i) || half_of(o) == isa::Half::Wide)
      continue;
    if (o.operands[0].reg < 0 || !single(o.operands[0].reg)) continue;
    if (!(same(o.operands[1], i.operands[1]) && same(o.operands[2], i.operands[2])) &&
        !(same(o.operands[1], i.operands[2]) && same(o.operands[2], i.operands[1])))
      continue;
    const Part whole = temporary(2);
    emit(Operation::IntMulWide, "IMAD.WIDE.U32", {whole}, {source(i.operands[1]), source(i.operands[2])});
    const int upper = half_of(i) == isa::Half::Hi ? 1 : 0;
    halves_[o.operands[0].reg] = word(whole, 1 - upper);
    if (!make_same(reg, of(word(whole, upper)))) copy_to(destination(reg), of(word(whole, upper)));
    return true;
  }
  return false;
}

void Selector::multiply(const Instruction& i) {
  const Type t = i.form.type;
  if (isa::is_float(t)) return float_arithmetic(i);
  if (is_long(t) && half_of(i) == isa::Half::Lo) {
    const Source a = source(i.operands[1], 2), b = source(i.operands[2], 2);
    if (const Part to = wide_uniform(i.operands[0], {a, b})) {
      const Part product = temporary(2, Bank::Uniform);
      emit_uniform("UIMAD.WIDE.U32", product, std::array{low(a), low(b)});
      Source cross;
      for (const auto& [x, y] : {std::pair{high(a), low(b)}, std::pair{low(a), high(b)}})
        if (!x.is_number(0) && !y.is_number(0)) {
          const Part t1 = temporary(1, Bank::Uniform);
          std::vector<Source> reads{x, y};
          if (cross.kind != Source::Nothing) reads.push_back(cross);
          emit_uniform("UIMAD", t1, reads);
          cross.kind = Source::Uniform, cross.part = t1;
        }
      emit_uniform("UMOV", word(to, 0), std::array{[&] {
                     Source s;
                     s.kind = Source::Uniform, s.part = word(product, 0);
                     return s;
                   }()});
      code_.blocks[block_].text.back().copy = true;
      std::vector<Source> last{[&] {
        Source s;
        s.kind = Source::Uniform, s.part = word(product, 1);
        return s;
      }()};
      if (cross.kind != Source::Nothing) last.push_back(cross);
      emit_uniform(last.size() > 1 ? "UIADD3" : "UMOV", word(to, 1), last);
      return;
    }
  }
  if (i.form.row->opcode == "mul24")
    return chain(destination(i.operands[0]), {source(i.operands[1]), source(i.operands[2])},
                 {{Operation::Shift, "SGXT"},
                  {Operation::Shift, "SGXT"},
                  {half_of(i) == isa::Half::Hi ? Operation::IntMulWide : Operation::IntMul, "IMAD"}});
  if (is_long(t)) {
    const Part to = destination(i.operands[0]);
    const Source a = source(i.operands[1], 2), b = source(i.operands[2], 2);
    if (half_of(i) == isa::Half::Hi) {
      multiply_high_long(to, a, b);
      if (isa::is_signed(t))
        for (int k = 0; k < 2; ++k) {
          emit(Operation::IntAdd, "IADD3", {word(to, 0)}, {of(word(to, 0)), low(k ? a : b)});
          emit(Operation::IntAdd, "IADD3.X", {word(to, 1)}, {of(word(to, 1)), high(k ? a : b)});
        }
      return;
    }
    return multiply_long(to, a, b, {});
  }
  const Source a = source(i.operands[1]), b = source(i.operands[2]);
  if (cc_ >= 50 && cc_ < 70) {
    if (half_of(i) == isa::Half::Wide && isa::bits_of(t) == 32)
      return chain(destination(i.operands[0]), {a, b},
                   {{Operation::IntMul, "XMAD"},
                    {Operation::IntMul, "XMAD"},
                    {Operation::IntMul, "XMAD"},
                    {Operation::IntMul, "XMAD"},
                    {Operation::IntAdd, "IADD3"}});
    if (isa::bits_of(t) == 32)
      return chain(destination(i.operands[0]), {a, b},
                   {{Operation::IntMul, "XMAD"}, {Operation::IntMul, "XMAD.MRG"}, {Operation::IntMul, "XMAD.PSL"}});
    return integer(i, Operation::IntMul, "XMAD", {a, b});
  }
  if (half_of(i) == isa::Half::Wide && isa::bits_of(t) == 32) {
    emit(Operation::IntMulWide, "IMAD.WIDE", {destination(i.operands[0])}, {a, b});
    return;
  }
  if (other_half(i)) return;
  if (half_of(i) == isa::Half::Hi) {
    emit(Operation::IntMulWide, "IMAD.HI", {destination(i.operands[0])}, {a, b});
    return;
  }
  if (i.operands[2].kind == OperandKind::Immediate && std::has_single_bit(i.operands[2].imm & 0xffffffff))
    return integer(i, Operation::Shift, "SHF", {a, b});
  integer(i, Operation::IntMul, "IMAD", {a, b});
}

void Selector::multiply_add(const Instruction& i) {
  const Type t = i.form.type;
  if (i.form.row->opcode == "fma" || isa::is_float(t)) return float_arithmetic(i);
  if (i.form.mods.cc) return carry_mad(i);
  if (i.form.row->opcode == "mad24")
    return chain(destination(i.operands[0]), {source(i.operands[1]), source(i.operands[2]), source(i.operands[3])},
                 {{Operation::Shift, "SGXT"}, {Operation::Shift, "SGXT"}, {Operation::IntMul, "IMAD"}});
  if (is_long(t)) {
    const Part to = destination(i.operands[0]);
    const Source a = source(i.operands[1], 2), b = source(i.operands[2], 2), c = source(i.operands[3], 2);
    if (half_of(i) == isa::Half::Hi) {
      const Part product = temporary(2), carry = temporary(1, Bank::Predicate);
      multiply_high_long(product, a, b);
      emit(Operation::IntAdd, "IADD3", {word(to, 0), carry}, {low(of(product)), low(c)});
      emit(Operation::IntAdd, "IADD3.X", {word(to, 1)}, {high(of(product)), high(c), of(carry)});
      return;
    }
    return multiply_long(to, a, b, c);
  }
  const Source a = source(i.operands[1]), b = source(i.operands[2]);
  if (half_of(i) == isa::Half::Wide && isa::bits_of(t) == 32) {
    emit(Operation::IntMulWide, "IMAD.WIDE", {destination(i.operands[0])}, {a, b, source(i.operands[3], 2)});
    return;
  }
  if (cc_ >= 50 && cc_ < 70)
    return chain(destination(i.operands[0]), {a, b, source(i.operands[3])},
                 {{Operation::IntMul, "XMAD"}, {Operation::IntMul, "XMAD.MRG"}, {Operation::IntMul, "XMAD.PSL"}});
  if (half_of(i) == isa::Half::Hi) {
    const Part upper = temporary();
    emit(Operation::IntMulWide, "IMAD.HI", {upper}, {a, b});
    emit(Operation::IntAdd, "IADD3", {destination(i.operands[0])}, {of(upper), source(i.operands[3])});
    return;
  }
  integer(i, Operation::IntMul, "IMAD", {a, b, source(i.operands[3])});
}

// Integers have no divider: a reciprocal, two steps of Newton's and corrections.
void Selector::divide(const Instruction& i) {
  const Type t = i.form.type;
  if (isa::is_float(t)) return float_divide(i);
  const bool remainder = i.form.row->opcode == "rem", sign = isa::is_signed(t);
  const Part to = destination(i.operands[0]);
  const Source a = source(i.operands[1], to.count), b = source(i.operands[2], to.count);
  using enum Operation;
  if (is_long(t)) {
    // A function that is called; arguments and results are moved to where it looks for them.
    const Part t0 = temporary(2);
    Draft& d = emit(Operation::Call, "CALL.REL", {}, {a, b});
    d.pinned = d.wall = true;
    if (sign)
      chain(t0, {a, b}, {{Compare, "ISETP"}, {IntAdd, "IADD3"}, {IntAdd, "IADD3.X"}, {Compare, "SEL"}, {Compare, "SEL"}, {Logic, "LOP3"}});
    chain(t0, {a, b},
          {{Convert, "I2F.U64"},
           {Special, "MUFU.RCP"},
           {IntAdd, "IADD3"},
           {Convert, "F2I.U64"},
           {IntMulWide, "IMAD.WIDE.U32"},
           {IntMul, "IMAD"},
           {IntMul, "IMAD"},
           {IntAdd, "IADD3"},
           {IntMulWide, "IMAD.HI.U32"},
           {IntAdd, "IADD3.X"},
           {IntMul, "IMAD"},
           {IntMulWide, "IMAD.WIDE.U32"},
           {IntMul, "IMAD"},
           {IntMulWide, "IMAD.HI.U32"},
           {IntMul, "IMAD"},
           {IntMulWide, "IMAD.HI.U32"},
           {IntAdd, "IADD3"},
           {IntAdd, "IADD3.X"},
           {IntAdd, "IADD3.X"},
           {IntMulWide, "IMAD.WIDE.U32"},
           {IntMul, "IMAD"},
           {IntMul, "IMAD"},
           {IntAdd, "IADD3"},
           {IntAdd, "IADD3.X"},
           {IntMulWide, "IMAD.HI.U32"},
           {IntMul, "IMAD"},
           {IntMulWide, "IMAD.HI.U32"},
           {IntMul, "IMAD"},
           {IntAdd, "IADD3"},
           {IntMulWide, "IMAD.HI.U32"},
           {IntMul, "IMAD"},
           {IntMulWide, "IMAD.HI.U32"},
           {IntAdd, "IADD3"},
           {IntAdd, "IADD3.X"},
           {IntAdd, "IADD3.X"},
           {IntMulWide, "IMAD.WIDE.U32"},
           {IntMul, "IMAD"},
           {IntMul, "IMAD"},
           {IntAdd, "IADD3"},
           {IntAdd, "IADD3.X"}});
    for (int k = 0; k < 2; ++k)
      chain(t0, {of(t0), b},
            {{Compare, "ISETP"}, {Compare, "ISETP.EX"}, {IntAdd, "IADD3"}, {IntAdd, "IADD3.X"}, {Compare, "SEL"}, {Compare, "SEL"}});
    chain(to, {of(t0), b},
          {{IntMul, "IMAD"},
           {IntMul, "IMAD"},
           {IntMul, "IMAD"},
           {IntMul, "IMAD"},
           {IntMul, "IMAD"},
           {IntMul, "IMAD"},
           {IntMul, "IMAD"},
           {IntMul, "IMAD"},
           {Move, "MOV"},
           {Compare, "SEL"},
           {Compare, "SEL"},
           {Compare, "ISETP"},
           {Compare, "ISETP.EX"},
           {Compare, "SEL"},
           {Move, "MOV"}});
    Draft& back = emit(Operation::Call, "RET.REL", {}, {});
    back.pinned = back.wall = true;
    return;
  }
  if (isa::bits_of(t) == 16) {
    chain(to, {a, b},
          {{Convert, "I2F.U16"},
           {Compare, "FSETP"},
           {FloatMul, "FMUL"},
           {Special, "MUFU.RCP"},
           {FloatMul, "FMUL"},
           {Convert, "I2F.U16"},
           {FloatMul, "FMUL"},
           {Convert, "F2I.U32"},
           {Logic, "LOP3"}});
    if (remainder) emit(IntMul, "IMAD", {to}, {of(to), b, a});
    return;
  }
  const Part dividend = temporary(), sign_of = temporary(1, Bank::Predicate);
  Source n = a;
  // What follows from the divisor alone is done once in a block.
  const bool steady = now_->guard < 0 && (i.operands[2].kind != OperandKind::Register || single(i.operands[2].reg));
  // And before a loop, where it does not change.
  const uint32_t here = block_;
  uint32_t home = block_;
  if (steady)
    while (flow_->loop(home) != kNoBlock) {
      const uint32_t loop = flow_->loop(home), before = flow_->dominator(loop);
      if (before == kNoBlock || before >= here) break;
      const bool inside = i.operands[2].kind == OperandKind::Register && b.kind == Source::Register &&
                          flow_->in_loop(block_of_[definition_[static_cast<size_t>(i.operands[2].reg)]], loop);
      if (inside || (b.kind == Source::Uniform)) break;
      home = before;
    }
  const std::tuple<uint32_t, int, int32_t, int32_t, bool> key{home, static_cast<int>(b.kind),
                                                              b.kind == Source::Constant ? b.key : b.part.value, b.part.first, sign};
  Divisor known;
  if (const auto it = divisors_.find(key); steady && it != divisors_.end()) known = it->second;
  const bool fresh = !known.reciprocal;
  std::vector<Draft> after;  // what leaves the block stays behind it
  const auto go_home = [&] {
    block_ = home;
    std::vector<Draft>& text = code_.blocks[home].text;
    if (home != here && !text.empty() && text.back().last) {
      after.push_back(text.back());
      text.pop_back();
    }
  };
  const auto come_back = [&] {
    code_.blocks[home].text.insert(code_.blocks[home].text.end(), after.begin(), after.end());
    after.clear();
    block_ = here;
  };
  if (fresh) {
    go_home();
    known.size = b;
    if (sign) {
      const Part divisor = temporary();
      emit(Absolute, "IABS", {divisor}, {b});
      known.size = of(divisor);
    }
    come_back();
  }
  const Source m = known.size;
  if (sign) {
    emit(Absolute, "IABS", {dividend}, {a});
    n = of(dividend);
    if (!remainder) {
      const Part x = temporary();
      emit(Logic, "LOP3", {x}, {a, b});
      emit(Compare, "ISETP", {sign_of}, {of(x)});
    } else {
      emit(Compare, "ISETP", {sign_of}, {a});
    }
  }
  const Part rest = temporary(), p = temporary(1, Bank::Predicate), last = temporary(1, Bank::Predicate);
  if (fresh) {
    const Part r = temporary(), negative = temporary(), e = temporary(), none = temporary(2);
    go_home();
    known.reciprocal = temporary();
    known.zero = temporary(1, Bank::Predicate);
    chain(r, {m}, {{Convert, "I2F.RP"}, {Special, "MUFU.RCP"}, {IntAdd, "IADD3"}, {Convert, "F2I.TRUNC"}});
    emit(Move, "MOV", {word(none, 0)}, {number(0)});
    copy_to(word(none, 1), of(r));
    emit(IntAdd, "IADD3", {negative}, {of(r)});
    emit(IntMul, "IMAD", {e}, {of(negative), m});
    emit(IntMulWide, "IMAD.HI.U32", {known.reciprocal}, {of(r), of(e), of(none)});
    emit(Compare, "ISETP", {known.zero}, {b});
    come_back();
    if (steady) divisors_[key] = known;
  }
  const Part q = known.reciprocal, zero = known.zero;
  const Part q1 = temporary();
  emit(IntMulWide, "IMAD.HI.U32", {q1}, {of(q), n});
  const Part minus = temporary();
  emit(IntAdd, "IADD3", {minus}, {of(q1)});
  emit(IntMul, "IMAD", {rest}, {m, of(minus), n});
  const auto correct = [&](std::string_view mnemonic, Part what, const Source& by, Part when) {
    Draft& d = emit(IntAdd, mnemonic, {what}, {of(what), by, of(when)});
    d.guarded = true;
  };
  emit(Compare, "ISETP", {p}, {of(rest), m});
  correct("IADD3", rest, m, p);
  if (!remainder) correct("IADD3", q1, number(1), p);
  emit(Compare, "ISETP", {last}, {of(rest), m});
  if (remainder) correct("IADD3", rest, m, last);
  else correct("IADD3", q1, number(1), last);
  const Part result = remainder ? rest : q1;
  if (sign) correct("IADD3", result, {}, sign_of);
  Draft& d = emit(Logic, "LOP3", {to}, {of(result), b, of(zero)});
  d.guarded = true;
  if (to.value != result.value) {
    d.guarded = false;
    d.keeps = now_->guard >= 0;
    d.mnemonic = "SEL";
  }
}

// --- logic

void Selector::gather_logic(const Operand& o, std::vector<Operand>& leaves, bool& grew) const {
  // Widened and cut off again.
  if (const Instruction* wider = producer(o, "cvt"); wider && now_->form.row->opcode == "and" && wider->form.type == Type::U32 &&
                                                     wider->form.atype == Type::U16 && now_->operands[2].kind == OperandKind::Immediate &&
                                                     now_->operands[2].imm < 1 << 16)
    for (const char* op : {"and", "or", "xor"})
      if (const Instruction* p = producer(wider->operands[1], op); p && isa::bits_of(p->form.type) == 16) {
        grew = true;
        leaves.insert(leaves.end(), p->operands.begin() + 1, p->operands.end());
        return;
      }
  // What logic alone reads is for nothing in each of its readers.
  const bool shared = o.kind == OperandKind::Register && single(o.reg) && only_logic(o.reg);
  for (const char* op : {"and", "or", "xor", "not"}) {
    const Instruction* p = producer(o, op, !shared && std::string_view(op) != "not");
    if (!p || p->form.type == Type::Pred || isa::bits_of(p->form.type) != isa::bits_of(now_->form.type)) continue;
    std::vector<Operand> more(p->operands.begin() + 1, p->operands.end());
    // At most three different operands, one of them a number.
    std::vector<Operand> all = leaves;
    for (const Operand& m : more) all.push_back(m);
    grew = true;
    leaves = std::move(all);
    return;
  }
  leaves.push_back(o);
}

// How many low bits of a value may be other than zero.
int Selector::bits_known(const Operand& o, int depth) {
  constexpr int kDeepest = 12;
  if (o.kind == OperandKind::Immediate) return 64 - std::countl_zero(o.imm);
  if (o.kind != OperandKind::Register || depth > kDeepest) return 64;
  const size_t r = static_cast<size_t>(o.reg);
  if (bits_[r]) return bits_[r] - 1;
  if (all_definitions_[r].empty() || all_definitions_[r].size() != definitions_[r]) return 64;
  bits_[r] = 1;  // a loop's own part does not make it more
  int most = 0;
  for (uint32_t d : all_definitions_[r]) most = std::max(most, bits_written(f_.body[d], depth + 1));
  bits_[r] = static_cast<uint8_t>(1 + most);
  return most;
}

int Selector::bits_written(const Instruction& i, int depth) {
  constexpr int kAll = 64;
  const std::string_view op = i.form.row->opcode;
  const auto part = [&](size_t k) { return k < i.operands.size() ? bits_known(i.operands[k], depth) : kAll; };
  const auto count = [&](size_t k) { return static_cast<int>(std::min<uint64_t>(i.operands[k].imm, kAll)); };
  if (isa::is_float(i.form.type) || i.operands.size() < 2) return kAll;
  if (op == "ld") return isa::is_signed(i.form.type) || i.operands[0].kind == OperandKind::Vector ? kAll : isa::bits_of(i.form.type);
  if (op == "bfe") return !isa::is_signed(i.form.type) && i.operands[3].kind == OperandKind::Immediate ? count(3) : kAll;
  if (op == "and") return std::min(part(1), part(2));
  if (op == "or" || op == "xor") return std::max(part(1), part(2));
  if (op == "selp") return std::max(part(1), part(2));
  if (op == "mov") return part(1);
  if (op == "cvt" && !isa::is_float(i.form.atype) && !isa::is_signed(i.form.atype)) return std::min(part(1), isa::bits_of(i.form.atype));
  if (op == "shr" && !isa::is_signed(i.form.type) && i.operands[2].kind == OperandKind::Immediate)
    return std::max(0, std::min(isa::bits_of(i.form.type), part(1)) - count(2));
  if (op == "shl" && i.operands[2].kind == OperandKind::Immediate && part(1) < kAll) return std::min(kAll, part(1) + count(2));
  return kAll;
}

// Halves that are zero, or that a number leaves as they are, take no instruction.
bool Selector::halves(const Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  if (i.operands.size() != 3 || i.guard >= 0) return false;
  for (size_t k : {size_t(1), size_t(2)})
    if (i.operands[k].kind == OperandKind::Register && !single(i.operands[k].reg)) return false;
  const Source a = source(i.operands[1], 2), b = source(i.operands[2], 2);
  Source out;
  out.kind = Source::Register;
  out.apart = true;
  out.words = 2;
  for (int k = 0; k < 2; ++k) {
    const Source x = k ? high(a) : low(a), y = k ? high(b) : low(b);
    const Source* through = nullptr;
    const Source zero = number(0);
    constexpr uint64_t kOnes = 0xffffffff;
    if (op == "and") through = x.is_number(0) || y.is_number(0) ? &zero : x.is_number(kOnes) ? &y : y.is_number(kOnes) ? &x : nullptr;
    else through = x.is_number(0) ? &y : y.is_number(0) ? &x : nullptr;
    if (!through || (through->kind != Source::Register && !through->is_number(0))) return false;
    (k ? out.upper : out.part) = through->kind == Source::Register ? through->part : Part{};
  }
  if (!out.part && !out.upper) return false;
  return make_same(i.operands[0].reg, out);
}

void Selector::logic(const Instruction& i) {
  const Type t = i.form.type;
  if (t == Type::Pred) return predicates(i);
  const std::string_view op = i.form.row->opcode;
  if (is_long(t) && op != "not" && op != "cnot" && i.operands[0].reg >= 0 && halves(i)) return;
  if (op == "and" && !is_long(t) && i.operands[2].kind == OperandKind::Immediate && i.operands[1].kind == OperandKind::Register &&
      single(i.operands[1].reg)) {
    const uint64_t mask = i.operands[2].imm & 0xffffffff;
    if ((mask & (mask + 1)) == 0 && bits_known(i.operands[1]) <= std::popcount(mask) &&
        make_same(i.operands[0].reg, low(source(i.operands[1]))))
      return;
  }
  if ((op == "or" || op == "xor") && isa::bits_of(t) == 32)  // two halves put together
    for (size_t k : {size_t(1), size_t(2)}) {
      const Instruction* p = producer(i.operands[k], "shl");
      if (!p || p->operands[2].kind != OperandKind::Immediate || p->operands[2].imm != 16 || bits_known(i.operands[3 - k]) > 16) continue;
      const auto half = [&](const Operand& o) {
        const Instruction* wider = producer(o, "cvt");
        return source(wider && isa::bits_of(wider->form.atype) == 16 && !isa::is_float(wider->form.atype) ? wider->operands[1] : o);
      };
      const auto narrowed = [&](const Operand& o) -> const Instruction* {  // two of them are one with the pair that they make
        const Instruction* wider = producer(o, "cvt");
        const Instruction* from = wider && isa::bits_of(wider->form.atype) == 16 ? producer(wider->operands[1], "cvt") : nullptr;
        return from && isa::is_float(from->form.type) && isa::bits_of(from->form.type) == 16 && from->form.atype == Type::F32 ? from
                                                                                                                              : nullptr;
      };
      const Instruction *lower = narrowed(i.operands[3 - k]), *upper = narrowed(p->operands[1]);
      if (lower && upper && lower->form.type == upper->form.type && cc_ >= 80)
        return void(
            emit(Operation::ConvertHalf, "F2FP", {destination(i.operands[0])}, {source(lower->operands[1]), source(upper->operands[1])}));
      return integer(i, Operation::Logic, "PRMT", {half(i.operands[3 - k]), half(p->operands[1])});
    }
  // Bits of two registers that stand beside each other.
  if ((op == "or" || op == "xor") && isa::bits_of(t) == 32)
    for (size_t k : {size_t(1), size_t(2)}) {
      const Instruction *upper = producer(i.operands[k], "shl"), *lower = producer(i.operands[3 - k], "shr");
      if (upper && lower && !isa::is_signed(lower->form.type) && isa::bits_of(lower->form.type) == 32 &&
          upper->operands[2].kind == OperandKind::Immediate && lower->operands[2].kind == OperandKind::Immediate &&
          upper->operands[2].imm + lower->operands[2].imm == 32)
        return integer(i, Operation::Shift, "SHF", {source(upper->operands[1]), source(lower->operands[1])});
    }
  if (op == "cnot")
    return chain(destination(i.operands[0]), {source(i.operands[1])}, {{Operation::Compare, "ISETP"}, {Operation::Compare, "SEL"}});
  const auto same_operand = [&](const Operand& a, const Operand& b) {
    constexpr uint64_t kOnes = 0xffffffff;
    // LOP3 turns numbers round.
    if (a.kind == OperandKind::Immediate && b.kind == a.kind && !is_long(t) && ((a.imm ^ b.imm) & kOnes) == kOnes) return true;
    return a.kind == b.kind && a.reg == b.reg && a.imm == b.imm && a.kind != OperandKind::Special;
  };
  const auto fits = [&](const std::vector<Operand>& leaves) {
    std::vector<const Operand*> different;
    int numbers = 0;
    for (const Operand& o : leaves) {
      bool known = false;
      for (const Operand* d : different) known = known || same_operand(*d, o);
      if (known) continue;
      different.push_back(&o);
      numbers += o.kind == OperandKind::Immediate;
    }
    return different.size() <= 3 && numbers <= 1;
  };
  std::vector<Operand> leaves(i.operands.begin() + 1, i.operands.end());
  // Whoever is among the operands may bring its own along, as long as there are three different ones in the end (of a majority there are four on the way).
  constexpr int kDetour = 4, kMost = 16;  // registers of strange texts may be made from each other in a circle
  const auto expand = [&](std::vector<Operand>& from, size_t k) {
    std::vector<Operand> grown(from.begin(), from.begin() + static_cast<ptrdiff_t>(k));
    bool grew = false;
    gather_logic(from[k], grown, grew);
    grown.insert(grown.end(), from.begin() + static_cast<ptrdiff_t>(k) + 1, from.end());
    if (grew) from = std::move(grown);
    return grew;
  };
  std::vector<Operand> trial = leaves;
  for (int steps = 0, all = 0; steps < kDetour && all < kMost; ++all) {
    bool found = false, grew = false;
    for (size_t k = 0; k < trial.size() && !found; ++k)
      if (std::vector<Operand> next = trial; expand(next, k) && fits(next)) trial = std::move(next), found = true;
    if (found) {
      leaves = trial;
      steps = 0;
      continue;
    }
    for (size_t k = 0; k < trial.size() && !grew; ++k) grew = expand(trial, k);
    if (!grew) break;
    ++steps;
  }
  std::vector<Source> reads;
  std::vector<const Operand*> taken;
  for (const Operand& o : leaves) {
    bool known = false;
    for (const Operand* d : taken) known = known || same_operand(*d, o);
    if (known) continue;
    taken.push_back(&o);
    reads.push_back(source(o, is_long(t) ? 2 : 1));
  }
  reads.resize(std::min<size_t>(reads.size(), 3));
  reads.resize(3);
  if (!is_long(t)) {
    std::vector<Source> some(reads.begin(), reads.begin() + static_cast<long>(std::min<size_t>(taken.size(), 3)));
    if (to_uniform(i.operands[0], some)) {
      const int32_t v = code_.new_value(Bank::Uniform, 1);
      value_[static_cast<size_t>(i.operands[0].reg)] = v;
      emit_uniform("ULOP3", code_.whole(v), some);
      return;
    }
    emit(Operation::Logic, "LOP3", {destination(i.operands[0])}, some);
    return;
  }
  // The upper half of what is cut off is zero, for nothing.
  const bool cut =
      op == "and" && std::ranges::any_of(reads, [&](const Source& r) { return r.kind != Source::Nothing && high(r).is_number(0); });
  if (cut && i.operands[0].reg >= 0 && definitions_[static_cast<size_t>(i.operands[0].reg)] == 1 &&
      value_[static_cast<size_t>(i.operands[0].reg)] < 0 && i.guard < 0) {
    std::vector<Source> half;
    for (const Source& r : reads) half.push_back(r.kind == Source::Nothing ? r : low(r));
    Source out = of(temporary());
    emit(Operation::Logic, "LOP3", {out.part}, std::span<const Source>(half));
    out.words = 2;
    out.apart = true;
    if (make_same(i.operands[0].reg, out)) return;
  }
  const Part to = destination(i.operands[0]);
  for (int k = 0; k < 2; ++k) {
    std::vector<Source> half;
    for (const Source& s : reads) half.push_back(s.kind == Source::Nothing ? s : k ? high(s) : low(s));
    // And-ing with a half of zeros or ones takes nothing.
    emit(Operation::Logic, "LOP3", {word(to, k)}, std::span<const Source>(half));
  }
}

void Selector::lop3(const Instruction& i) {
  integer(i, Operation::Logic, "LOP3", {source(i.operands[1]), source(i.operands[2]), source(i.operands[3])});
}

void Selector::shift(const Instruction& i) {
  const Type t = i.form.type;
  const bool left = i.form.row->opcode == "shl";
  if (!is_long(t)) {
    // The distance's lower five bits are all that counts.
    if (const Instruction* p = cc_ >= 70 && isa::bits_of(t) == 32 ? producer(i.operands[2], "and") : nullptr;
        p && p->operands[2].kind == OperandKind::Immediate && p->operands[2].imm == 31)
      return integer(i, Operation::Shift, "SHF", {source(i.operands[1]), source(p->operands[1])});
    const bool product = left && i.operands[2].kind == OperandKind::Immediate && cc_ >= 70;
    return integer(i, Operation::Shift, product ? "IMAD.SHL" : "SHF", {source(i.operands[1]), source(i.operands[2])});
  }
  const Source a = source(i.operands[1], 2), count = source(i.operands[2]);
  if (count.kind == Source::Number && count.number == 32 && (left || !isa::is_signed(t)) &&
      (i.operands[1].reg < 0 || single(i.operands[1].reg))) {
    const Source moved = left ? low(a) : high(a);
    Source out;
    out.kind = Source::Register;
    out.apart = true;
    out.words = 2;
    if (moved.kind == Source::Register) {
      (left ? out.upper : out.part) = moved.part;
      if (make_same(i.operands[0].reg, out)) return;
    }
  }
  if (count.kind == Source::Number && count.number < 32)
    if (const Part to = wide_uniform(i.operands[0], {a})) {
      for (int k = 0; k < 2; ++k) emit_uniform("USHF", word(to, k), std::array{low(a), high(a)});
      return;
    }
  const Part to = destination(i.operands[0]);
  if (count.kind == Source::Number && count.number >= 32) {
    const int moved = left ? 1 : 0;
    const Source from = left ? low(a) : high(a);
    if (count.number == 32) copy_to(word(to, moved), from);
    else emit(Operation::Shift, "SHF", {word(to, moved)}, {from, count});
    if (isa::is_signed(t) && !left) emit(Operation::Shift, "SHF", {word(to, 1)}, {from});
    else emit(Operation::Move, "MOV", {word(to, 1 - moved)}, {number(0)});
    return;
  }
  emit(Operation::Shift, "SHF", {word(to, left ? 1 : 0)}, {low(a), count, high(a)});
  emit(Operation::Shift, "SHF", {word(to, left ? 0 : 1)}, {left ? low(a) : high(a), count});
}

void Selector::funnel(const Instruction& i) {
  integer(i, Operation::Shift, "SHF", {source(i.operands[1]), source(i.operands[3]), source(i.operands[2])});
}

void Selector::permute(const Instruction& i) {
  integer(i, Operation::Logic, "PRMT", {source(i.operands[1]), source(i.operands[3]), source(i.operands[2])});
}

void Selector::fields(const Instruction& i) {
  const Part to = destination(i.operands[0]);
  const std::string_view op = i.form.row->opcode;
  const int words = to.count;
  using enum Operation;
  if (op == "szext") return integer(i, Shift, "SGXT", {source(i.operands[1]), source(i.operands[2])});
  if (op == "bmsk") return integer(i, Shift, "BMSK", {source(i.operands[1]), source(i.operands[2])});
  if (op == "bfe") {
    const Source a = source(i.operands[1], words), b = source(i.operands[2]), c = source(i.operands[3]);
    const bool known = b.kind == Source::Number && c.kind == Source::Number;
    if (words == 2) return chain(to, {a, b, c}, {{Shift, "SHF"}, {Shift, "SHF"}, {Shift, "BMSK"}, {Logic, "LOP3"}, {Logic, "LOP3"}});
    if (cc_ < 70) return integer(i, Shift, "BFE", {a, b});
    if (known && (c.number == 8 || c.number == 16) && b.number % 8 == 0) return integer(i, Logic, "PRMT", {a});
    if (known && b.number == 0)
      return integer(i, isa::is_signed(i.form.type) ? Shift : Logic, isa::is_signed(i.form.type) ? "SGXT" : "LOP3", {a});
    if (known)
      return chain(to, {a}, {{Shift, "SHF"}, {isa::is_signed(i.form.type) ? Shift : Logic, isa::is_signed(i.form.type) ? "SGXT" : "LOP3"}});
    return chain(to, {a, b, c}, {{Logic, "PRMT"}, {Logic, "PRMT"}, {Shift, "SHF"}, {Shift, "SGXT"}});
  }
  const Source a = source(i.operands[1], words), b = source(i.operands[2], words), c = source(i.operands[3]), d = source(i.operands[4]);
  if (cc_ < 70 && words == 1) return integer(i, Shift, "BFI", {a, b});
  if (words == 2)
    return chain(to, {a, b, c}, {{Shift, "BMSK"}, {Shift, "SHF"}, {Shift, "SHF"}, {Shift, "SHF"}, {Logic, "LOP3"}, {Logic, "LOP3"}});
  if (c.kind == Source::Number && d.kind == Source::Number && c.number % 8 == 0 && d.number % 8 == 0 && cc_ >= 70)
    return integer(i, Logic, "PRMT", {a, b});
  if (c.kind == Source::Number && d.kind == Source::Number) {
    const Part t = temporary();
    if (c.number != 0) emit(Shift, "SHF", {t}, {a, number(c.number)});
    emit(Logic, "LOP3", {to}, {c.number ? of(t) : a, number(1), b});
    return;
  }
  chain(to, {a, b, c}, {{Shift, "BMSK"}, {Shift, "SHF"}, {Shift, "SHF"}, {Logic, "LOP3"}});
}

void Selector::bits(const Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  const bool wide = is_long(i.form.type);
  const Part to = destination(i.operands[0]);
  const Source a = source(i.operands[1], wide ? 2 : 1);
  using enum Operation;
  if (op == "popc") {
    if (!wide) return integer(i, BitCount, "POPC", {a});
    const Part x = temporary(), y = temporary();
    emit(BitCount, "POPC", {x}, {low(a)});
    emit(BitCount, "POPC", {y}, {high(a)});
    emit(IntAdd, "IADD3", {to}, {of(x), of(y)});
  } else if (op == "brev") {
    if (!wide) return integer(i, BitCount, "BREV", {a});
    emit(BitCount, "BREV", {word(to, 0)}, {high(a)});
    emit(BitCount, "BREV", {word(to, 1)}, {low(a)});
  } else if (op == "clz") {
    if (wide)
      return chain(to, {low(a), high(a)}, {{BitCount, "FLO"}, {BitCount, "FLO"}, {Compare, "ISETP"}, {Compare, "SEL"}, {IntAdd, "IADD3"}});
    chain(to, {a}, {{BitCount, "FLO"}, {IntAdd, "IADD3"}});
  } else if (op == "bfind") {
    if (wide) return chain(to, {low(a), high(a)}, {{BitCount, "FLO"}, {BitCount, "FLO"}, {Compare, "ISETP"}, {IntAdd, "IADD3"}});
    integer(i, BitCount, "FLO", {a});
  } else {  // fns: a loop over the bits, of which most callers need few
    chain(to, {a, source(i.operands[2]), source(i.operands[3])},
          {{BitCount, "POPC"},
           {Compare, "ISETP"},
           {Shift, "SHF"},
           {Logic, "LOP3"},
           {BitCount, "FLO"},
           {Compare, "ISETP"},
           {Compare, "SEL"},
           {IntAdd, "IADD3"}});
  }
}

void Selector::absolute(const Instruction& i) {
  const Type t = i.form.type;
  if (isa::is_float(t)) return float_sign(i);
  const std::string_view op = i.form.row->opcode;
  const Part to = destination(i.operands[0]);
  using enum Operation;
  if (op == "sad") return chain(to, {source(i.operands[1]), source(i.operands[2]), source(i.operands[3])}, {{Absolute, "VABSDIFF"}});
  const Source a = source(i.operands[1], to.count);
  if (to.count == 1) return integer(i, op == "neg" ? IntAdd : Absolute, op == "neg" ? "IADD3" : "IABS", {a});
  if (op == "neg") {
    const Part carry = temporary(1, Bank::Predicate);
    emit(IntAdd, "IADD3", {word(to, 0), carry}, {low(a)});
    emit(IntAdd, "IADD3.X", {word(to, 1)}, {high(a), of(carry)});
    return;
  }
  chain(to, {a}, {{Compare, "ISETP"}, {IntAdd, "IADD3"}, {IntAdd, "IADD3.X"}, {Compare, "SEL"}, {Compare, "SEL"}});
}

void Selector::order(const Instruction& i) {
  const Type t = i.form.type;
  const Part to = destination(i.operands[0]);
  const Source a = source(i.operands[1], to.count), b = source(i.operands[2], to.count);
  using enum Operation;
  if (t == Type::F64) {
    const Part p = temporary(1, Bank::Predicate);
    emit(DoubleAdd, "DSETP.MIN", {p}, {a, b});
    emit(Compare, "FSEL", {word(to, 0)}, {low(a), low(b), of(p)});
    const Part x = temporary();
    emit(Compare, "SEL", {x}, {high(a), high(b), of(p)});
    emit(Logic, "LOP3", {word(to, 1)}, {of(x), of(p)});
    return;
  }
  if (t == Type::F32) {
    emit(Compare, "FMNMX", {to}, {a, b});
    return;
  }
  if (isa::is_float(t)) {
    emit(HalfCompare, "HMNMX2", {to}, {a, b});
    return;
  }
  if (to.count == 2) {
    const Part p = temporary(1, Bank::Predicate), q = temporary(1, Bank::Predicate);
    emit(Compare, "ISETP", {p}, {low(a), low(b)});
    emit(Compare, "ISETP.EX", {q}, {high(a), high(b), of(p)});
    emit(Compare, "SEL", {word(to, 0)}, {low(a), low(b), of(q)});
    emit(Compare, "SEL", {word(to, 1)}, {high(a), high(b), of(q)});
    return;
  }
  if (cc_ >= 90)
    for (size_t k : {size_t(2), size_t(1)})
      if (const Instruction* p = producer(i.operands[k], "add");
          p && isa::bits_of(p->form.type) == 32 && !isa::is_float(p->form.type) && isa::bits_of(t) == 32)
        return integer(i, Compare, "VIADDMNMX", {source(p->operands[1]), source(p->operands[2]), k == 1 ? b : a});
  integer(i, Compare, cc_ >= 90 ? "VIMNMX" : "IMNMX", {a, b});
}

void Selector::dot(const Instruction& i) {
  emit(Operation::DotProduct, "IDP", {destination(i.operands[0])}, {source(i.operands[1]), source(i.operands[2]), source(i.operands[3])});
}

// Video instructions are sequences of ordinary ones since 5.0.
void Selector::video(const Instruction& i) {
  if (i.operands.size() < 3) return other(i);
  const Source a = source(i.operands[1]), b = source(i.operands[2]), c = i.operands.size() > 3 ? source(i.operands[3]) : Source{};
  const Part to = destination(i.operands[0]);
  using enum Operation;
  const std::string_view op = i.form.row->opcode;
  if (op == "vabsdiff" || op == "vabsdiff4") return chain(to, {a, b, c}, {{Absolute, "VABSDIFF"}});
  if (op.ends_with("4"))
    return chain(to, {a, b, c},
                 {{Logic, "LOP3"},
                  {IntAdd, "IADD3"},
                  {Logic, "LOP3"},
                  {Logic, "LOP3"},
                  {Logic, "PRMT"},
                  {IntAdd, "IADD3"},
                  {Logic, "LOP3"},
                  {Logic, "PRMT"}});
  if (op.ends_with("2"))
    return chain(to, {a, b, c}, {{Logic, "LOP3"}, {IntAdd, "IADD3"}, {Logic, "LOP3"}, {IntAdd, "IADD3"}, {Logic, "PRMT"}});
  chain(to, {a, b, c}, {{Logic, "PRMT"}, {Logic, "PRMT"}, {IntAdd, "IADD3"}});
}

}  // namespace warpbeam::assembly
