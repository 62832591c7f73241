// Comparisons, choices, moves and conversions.
#include <algorithm>

#include "assembly/selector.h"

namespace warpbeam::assembly {

using isa::Type;
using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

namespace {

bool is_half(Type t) { return isa::is_float(t) && isa::bits_of(t) <= 32 && t != Type::F32; }

}  // namespace

void Selector::compare_to(const Instruction& i, Part to, Part other, const Source& chained) {
  const Type t = i.form.row->opcode == "set" ? i.form.atype : i.form.type;
  using enum Operation;
  if (isa::bits_of(t) == 64) {
    const Source a = source(i.operands[1], 2), b = source(i.operands[2], 2);
    if (t == Type::F64) {
      emit(DoubleAdd, "DSETP", {to, other}, {a, b, chained});
      return;
    }
    const Part first = temporary(1, Bank::Predicate);
    emit(Compare, "ISETP", {first}, {low(a), low(b)});
    emit(Compare, "ISETP.EX", {to, other}, {high(a), high(b), of(first), chained});
    return;
  }
  const Source a = source(i.operands[1]), b = source(i.operands[2]);
  // Compared with zero: the logic instruction before can do that.
  if (t != Type::F32 && !is_half(t) && b.is_number(0) && (i.form.mods.cmp == isa::Cmp::Eq || i.form.mods.cmp == isa::Cmp::Ne))
    for (const char* op : {"and", "or", "xor"})
      if (const Instruction* p = producer(i.operands[1], op); p && isa::bits_of(p->form.type) == 32) {
        emit(Logic, "LOP3", {to, other}, {source(p->operands[1]), source(p->operands[2]), chained});
        return;
      }
  emit(is_half(t) ? HalfCompare : Compare, t == Type::F32 ? "FSETP" : is_half(t) ? "HSETP2" : "ISETP", {to, other}, {a, b, chained});
}

void Selector::compare(const Instruction& i) {
  const Part to = destination(i.operands[0]), other = i.operands[0].pair >= 0 ? destination(i.operands[0].pair) : Part{};
  compare_to(i, to, other, i.operands.size() > 3 ? source(i.operands[3]) : Source{});
}

void Selector::set(const Instruction& i) {
  const Part p = temporary(1, Bank::Predicate), to = destination(i.operands[0]);
  if (is_half(i.form.atype)) {
    emit(Operation::HalfCompare, "HSET2", {to}, {source(i.operands[1]), source(i.operands[2])});
    return;
  }
  compare_to(i, p, {}, i.operands.size() > 3 ? source(i.operands[3]) : Source{});
  emit(Operation::Compare, "SEL", {to}, {of(p)});
}

void Selector::choose(const Instruction& i) {
  const Part to = destination(i.operands[0]);
  const Source a = source(i.operands[1], to.count), b = source(i.operands[2], to.count);
  Source c = source(i.operands[3]);
  if (i.form.row->opcode == "slct") {
    const Part p = temporary(1, Bank::Predicate);
    emit(Operation::Compare, says(i, "f32 d") ? "FSETP" : "ISETP", {p}, {c});
    c = of(p);
  }
  if (to.count == 2) {
    for (int k = 0; k < 2; ++k) emit(Operation::Compare, "SEL", {word(to, k)}, {k ? high(a) : low(a), k ? high(b) : low(b), c});
    return;
  }
  emit(Operation::Compare, i.form.type == Type::F32 ? "FSEL" : "SEL", {to}, {a, b, c});
}

void Selector::predicates(const Instruction& i) {
  const Part to = destination(i.operands[0]);
  const std::string_view op = i.form.row->opcode;
  if (op == "not") {
    // A predicate is read negated for nothing.
    if (i.operands[1].reg >= 0 && single(i.operands[1].reg) && definitions_[static_cast<size_t>(i.operands[0].reg)] == 1 && i.guard < 0) {
      same_[static_cast<size_t>(i.operands[0].reg)] = register_source(i.operands[1].reg);
      return;
    }
    emit(Operation::Logic, "PLOP3", {to}, {source(i.operands[1])});
    return;
  }
  // A comparison takes another predicate along.
  for (size_t k : {size_t(2), size_t(1)}) {
    const Operand& o = i.operands[k];
    const Instruction* p = producer(o, "setp");
    if (!p || p->operands.size() > 3 || p->operands[0].pair >= 0) continue;
    const Operand& other = i.operands[3 - k];
    compare_to(*p, to, {}, other.kind == OperandKind::Register ? register_source(other.reg) : Source{});
    return;
  }
  emit(Operation::Logic, "PLOP3", {to}, {source(i.operands[1]), source(i.operands[2])});
}

// Where a conversion finds a narrow number that it can take as it is: signed ones of 8 and 16 bits, and either half of a word. (Unsigned bytes are
// made words of first, which then are converted faster.)
const Operand* Selector::narrow_part(const Operand& from, bool is_signed, int bits) const {
  if (bits > 16) return nullptr;
  if (const Instruction* p = producer(from, "mov", false);
      p && p->operands[0].kind == OperandKind::Vector && isa::bits_of(p->form.type) == 32)
    return &p->operands[1];
  if (!is_signed) return nullptr;
  const Operand* part = &from;
  if (const Instruction* p = producer(*part, "cvt"); p && isa::bits_of(p->form.type) <= 16 && !isa::is_float(p->form.atype))
    part = &p->operands[1];
  if (const Instruction* p = producer(*part, "bfe");
      p && p->operands[2].kind == OperandKind::Immediate && p->operands[3].kind == OperandKind::Immediate)
    if (p->operands[2].imm % 8 == 0 && (p->operands[3].imm == 8 || p->operands[3].imm == 16)) part = &p->operands[1];
  return part;
}

void Selector::move(const Instruction& i) {
  const Operand &to = i.operands[0], &from = i.operands[1];
  if (to.kind == OperandKind::Vector) {  // a register taken apart
    const int parts = static_cast<int>(to.list.size());
    const Source s = source(from, isa::bits_of(i.form.type) / 32);
    const int bits = isa::bits_of(i.form.type) / std::max(parts, 1);
    for (int k = 0; k < parts; ++k) {
      if (to.list[static_cast<size_t>(k)].reg < 0) continue;
      const int reg = to.list[static_cast<size_t>(k)].reg;
      const bool steady = this->steady(from, reg);
      if (bits >= 32) {
        Source piece = k == 0 ? low(s) : high(s);
        if (bits == 32 && s.kind == Source::Register && !s.apart && s.part.count > 2) piece = of(word(s.part, k));
        if (bits == 64 && s.kind == Source::Register && s.part.count == 4)
          piece = of(Part{s.part.value, static_cast<uint8_t>(s.part.first + 2 * k), 2});
        if (!steady || !make_same(reg, piece)) copy_to(destination(reg), piece);
      } else if (k == 0 || is_half(f_.registers[static_cast<size_t>(reg)].type) || only_half_arithmetic(reg)) {
        if (!steady || !make_same(reg, low(s))) copy_to(destination(reg), low(s));
      } else {
        emit(Operation::Logic, "PRMT", {destination(reg)}, {bits * k >= 32 ? high(s) : low(s)});
      }
    }
    return;
  }
  if (from.kind == OperandKind::Vector) {  // put together
    const int parts = static_cast<int>(from.list.size());
    const int bits = isa::bits_of(i.form.type) / std::max(parts, 1);
    if (bits == 32 && parts == 2) {
      const Source lo = source(from.list[0]), hi = source(from.list[1]);
      Source s;
      s.kind = Source::Register;
      s.words = 2;
      bool steady = true;
      for (const Operand& o : from.list) steady = steady && this->steady(o, to.reg);
      if (lo.kind == Source::Number && hi.kind == Source::Number && make_same(to.reg, number(lo.number | hi.number << 32, 2))) return;
      if (steady && lo.kind == Source::Register && (hi.kind == Source::Register || hi.is_number(0))) {
        s.part = lo.part;
        s.apart = true;
        if (hi.kind == Source::Register) s.upper = hi.part;
        if (hi.kind == Source::Register && hi.part.value == lo.part.value && hi.part.first == lo.part.first + 1) {
          s.apart = false;
          s.part.count = 2;
        }
        if (make_same(to.reg, s)) return;
      }
      const Part d = destination(to);
      copy_to(word(d, 0), lo);
      copy_to(word(d, 1), hi);
      return;
    }
    const Part d = destination(to);
    if (bits >= 32) {
      int at = 0;
      for (const Operand& o : from.list) {
        const int n = bits / 32;
        copy_to(Part{d.value, static_cast<uint8_t>(at), static_cast<uint8_t>(n)}, source(o, n));
        at += n;
      }
      return;
    }
    if (bits == 16 && parts == 4) {
      emit(Operation::Logic, "PRMT", {word(d, 0)}, {source(from.list[0]), source(from.list[1])});
      emit(Operation::Logic, "PRMT", {word(d, 1)}, {source(from.list[2]), source(from.list[3])});
      return;
    }
    if (bits == 16 && parts == 2 && cc_ >= 80) {  // two conversions and the pair they make are one
      const Instruction *a = producer(from.list[0], "cvt"), *b = producer(from.list[1], "cvt");
      if (a && b && a->form.type == b->form.type && is_half(a->form.type) && a->form.atype == Type::F32 && b->form.atype == Type::F32)
        return void(emit(Operation::ConvertHalf, "F2FP", {d}, {source(a->operands[1]), source(b->operands[1])}));
    }
    std::vector<Source> reads;
    for (const Operand& o : from.list) reads.push_back(source(o));
    reads.resize(std::min<size_t>(reads.size(), 3));
    emit(Operation::Logic, "PRMT", {d}, std::span<const Source>(reads));
    for (int k = 2; k < parts; k += 2) emit(Operation::Logic, "PRMT", {d}, {of(d)});
    return;
  }
  const int words = std::max(1, isa::bits_of(i.form.type) / 32);
  const Source s = source(from, words);
  if (to.reg < 0) return;
  if (s.kind == Source::Nothing) return void(emit(Operation::Move, "MOV", {destination(to)}, {}));
  const bool steady = from.kind != OperandKind::Register || this->steady(from, to.reg);
  if (f_.registers[static_cast<size_t>(to.reg)].type == Type::Pred && s.kind != Source::Register) {
    emit(Operation::Logic, "PLOP3", {destination(to)}, {});
    return;
  }
  if (steady && make_same(to.reg, s)) return;
  const Part d = destination(to);
  if (d.count == 4 && s.kind == Source::Register && s.part.count == 4) {
    for (int k = 0; k < 4; ++k) copy_to(word(d, k), of(word(s.part, k)));
    return;
  }
  copy_to(d, s);
}

void Selector::address_space(const Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  if (op == "isspacep" || op == "mapa" || op == "getctarank") {
    const Part to = destination(i.operands[0]);
    const Source a = source(i.operands[1], isa::bits_of(i.form.type) / 32);
    if (op == "isspacep") return chain(to, {high(a)}, {{Operation::Compare, "ISETP"}});
    if (op == "mapa") return chain(to, {low(a), source(i.operands[2])}, {{Operation::Logic, "PRMT"}});
    return chain(to, {low(a)}, {{Operation::Shift, "SHF"}});
  }
  const isa::Space space = i.form.mods.space;
  const Operand &to = i.operands[0], &from = i.operands[1];
  const Source s = source(from, isa::bits_of(i.form.type) / 32);
  const bool window = (space == isa::Space::Shared || space == isa::Space::SharedCluster || space == isa::Space::Local) &&
                      from.kind != OperandKind::Immediate;
  if (!window || i.form.mods.to) {
    if (steady(from, to.reg) && make_same(to.reg, s)) return;
    return copy_to(destination(to), s);
  }
  // A generic address: the window's number goes above the offset.
  const Part d = destination(to);
  copy_to(word(d, 0), low(s));
  if (d.count == 2)
    emit(Operation::Move, "MOV", {word(d, 1)}, {constant(Fixed::SharedWindow, space == isa::Space::Local ? "local" : "", 0, 1)});
}

void Selector::convert(const Instruction& i) {
  const Type to_type = i.form.type, from_type = i.form.atype == Type::None ? i.form.type : i.form.atype;
  const Operand &to = i.operands[0], &from = i.operands[1];
  const int from_bits = isa::bits_of(from_type), to_bits = isa::bits_of(to_type);
  using enum Operation;
  if (to.reg < 0) return;
  const Source a = source(from, from_bits == 64 ? 2 : 1);
  const bool to_float = isa::is_float(to_type), from_float = isa::is_float(from_type);
  if (i.form.row->syntax.starts_with("cvt.pack")) {
    const Source b = source(i.operands[2]);
    emit(Logic, "I2IP", {destination(to)}, {a, b, i.operands.size() > 3 ? source(i.operands[3]) : Source{}});
    return;
  }
  if (i.operands.size() > 2) {  // two floats into one register
    emit(ConvertHalf, "F2FP", {destination(to)}, {a, source(i.operands[2])});
    return;
  }
  if (!to_float && !from_float) {
    const bool steady = this->steady(from, to.reg);
    if (i.form.mods.sat) return chain(destination(to), {a}, {{Compare, "IMNMX"}, {Compare, "IMNMX"}});
    if (to_bits == 64 && from_bits <= 32) {
      Source wide = a;
      if (a.kind == Source::Number) {
        wide.words = 2;
        if (isa::is_signed(from_type) && from_bits == 32)
          wide.number = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(a.number)));
        if (steady && make_same(to.reg, wide)) return;
      }
      Source first = a;
      if (from_bits < 32) {
        const Part t = temporary();
        emit(Logic, isa::is_signed(from_type) ? "PRMT" : "LOP3", {t}, {a});
        first = of(t);
      }
      if (cc_ >= 75 && from_bits == 32 && (first.kind == Source::Uniform || first.kind == Source::Constant) && steady) {
        Source s;
        s.kind = Source::Uniform;
        s.part = uniform(first);
        s.words = 2;
        s.apart = true;
        if (isa::is_signed(from_type)) {
          s.upper = temporary(1, Bank::Uniform);
          emit_uniform("USHF", s.upper, std::array{first});
        }
        if (make_same(to.reg, s)) return;
      }
      if (!isa::is_signed(from_type)) {
        if (first.kind == Source::Register && steady) {
          Source s = first;
          s.words = 2;
          s.apart = true;
          s.part.count = 1;
          s.upper = {};
          if (make_same(to.reg, s)) return;
        }
        const Part d = destination(to);
        copy_to(word(d, 0), first);
        emit(Move, "MOV", {word(d, 1)}, {number(0)});
        return;
      }
      if (first.kind == Source::Register && steady) {
        const Part top = temporary();
        emit(Shift, "SHF", {top}, {first});
        Source s = first;
        s.words = 2;
        s.apart = true;
        s.part.count = 1;
        s.upper = top;
        if (make_same(to.reg, s)) return;
      }
      const Part d = destination(to);
      copy_to(word(d, 0), first);
      emit(Shift, "SHF", {word(d, 1)}, {of(word(d, 0))});
      return;
    }
    if (to_bits <= 32 && from_bits >= to_bits && (to_bits >= 16 || from_bits == to_bits)) {  // a part of it
      // Narrow values stand in whole registers; whoever looks at the upper bits cuts them off.
      if (steady && make_same(to.reg, low(a))) return;
      return copy_to(destination(to), low(a));
    }
    if (to_bits == 64 && from_bits == 64) {
      if (steady && make_same(to.reg, a)) return;
      return copy_to(destination(to), a);
    }
    // From narrow to wide: loads have done that already.
    if (from.reg >= 0 && single(from.reg) && from_bits <= to_bits) {
      const Instruction& p = f_.body[definition_[static_cast<size_t>(from.reg)]];
      if (p.form.row->cls == isa::Class::Load && isa::bits_of(p.form.type) <= from_bits && make_same(to.reg, low(a))) return;
    }
    // The upper bits are zero as it is.
    if (!isa::is_signed(from_type) && bits_known(from) <= from_bits) {
      if (steady && make_same(to.reg, low(a))) return;
      return copy_to(destination(to), low(a));
    }
    return integer(i, Logic, "PRMT", {low(a)});
  }
  const Part d = destination(to);
  if (to_float && from_float) {
    if (to_type == from_type || i.form.mods.rnd >= isa::Rnd::Rni) {
      if (i.form.mods.rnd >= isa::Rnd::Rni) return void(emit(Convert, to_bits == 64 ? "FRND.F64" : "FRND", {d}, {a}));
      return void(emit(to_bits == 64   ? DoubleAdd
                       : to_bits == 32 ? FloatAdd
                                       : Half,
                       to_bits == 64   ? "DADD"
                       : to_bits == 32 ? "FADD"
                                       : "HADD2",
                       {d}, {a}));
    }
    if (to_bits == 64 || from_bits == 64) return void(emit(Convert, to_bits == 64 ? "F2F.F64" : "F2F", {d}, {a}));
    if (to_type == Type::F32 && from_type == Type::F16) return void(emit(HalfToFloat, "HADD2.F32", {d}, {a}));
    if (to_type == Type::F32) return void(emit(Shift, "SHF", {d}, {a}));
    if (to_type == Type::TF32) return void(emit(cc_ >= 80 ? ConvertHalf : Convert, "F2F.TF32", {d}, {a}));
    return void(emit(cc_ >= 80 ? ConvertHalf : Convert, cc_ >= 80 ? "F2FP" : "F2F", {d}, {a}));
  }
  if (to_type == Type::B32 || to_type == Type::TF32 || i.form.mods.rnd == isa::Rnd::Rna)
    return void(emit(ConvertHalf, "F2F.TF32", {d}, {a}));
  if (to_float) {
    if (to_bits == 16) {
      const bool direct = to_type == Type::F16 && cc_ >= 70;
      if (direct) return void(emit(Convert, "I2F.F16", {d}, {a}));
      return chain(d, {a}, {{Convert, "I2F"}, {ConvertHalf, "F2FP"}});
    }
    if (const Operand* word = cc_ >= 89 && to_bits == 32 ? narrow_part(from, isa::is_signed(from_type), from_bits) : nullptr)
      return void(emit(Convert, isa::is_signed(from_type) ? "I2F.S16" : "I2F.U16", {d}, {source(*word)}));
    const bool quick = cc_ >= 89 && from_bits <= 32 && to_bits == 32;
    return void(emit(quick ? ConvertHalf : Convert, quick ? "I2FP" : from_bits == 64 ? "I2F.64" : "I2F", {d}, {a}));
  }
  if (from_type == Type::BF16) return chain(d, {a}, {{Shift, "SHF"}, {Convert, "F2I"}});
  emit(Convert, to_bits == 64 ? "F2I.64" : "F2I", {d}, {a});
}

}  // namespace warpbeam::assembly
