// Floating point: most is one instruction; divisions, roots and functions are sequences, with calls for what is rare.
#include <algorithm>

#include "assembly/selector.h"

namespace warpbeam::assembly {

using isa::Type;
using ptx::Instruction;

namespace {

enum class Op { Add, Mul, Fma };

}  // namespace

void Selector::float_arithmetic(const Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  const Op what = op == "mul" ? Op::Mul : op == "fma" || op == "mad" ? Op::Fma : Op::Add;
  const Type t = i.form.type;
  const Part to = destination(i.operands[0]);
  const Source a = source(i.operands[1], to.count), b = source(i.operands[2], to.count);
  const Source c = what == Op::Fma ? source(i.operands[3], to.count) : Source{};
  // A product that says nothing of rounding is added without being rounded.
  if (what == Op::Add && (t == Type::F32 || t == Type::F64) && i.form.mods.rnd == isa::Rnd::None)
    for (size_t k : {size_t(1), size_t(2)}) {
      const Instruction* p = producer(i.operands[k], "mul");
      if (!p || p->form.type != t || p->form.mods.rnd != isa::Rnd::None || i.form.mods.ftz != p->form.mods.ftz) continue;
      emit(t == Type::F32 ? Operation::FloatFma : Operation::DoubleFma, t == Type::F32 ? "FFMA" : "DFMA", {to},
           {source(p->operands[1], to.count), source(p->operands[2], to.count), k == 1 ? b : a});
      return;
    }
  switch (t) {
    case Type::F32:
      if (what == Op::Add) emit(Operation::FloatAdd, "FADD", {to}, {a, b});
      else if (what == Op::Mul) emit(Operation::FloatMul, "FMUL", {to}, {a, b});
      else emit(Operation::FloatFma, "FFMA", {to}, {a, b, c});
      return;
    case Type::F64:
      if (what == Op::Add) emit(Operation::DoubleAdd, "DADD", {to}, {a, b});
      else if (what == Op::Mul) emit(Operation::DoubleFma, "DMUL", {to}, {a, b});
      else emit(Operation::DoubleFma, "DFMA", {to}, {a, b, c});
      return;
    case Type::F32x2:
      for (int k = 0; k < 2; ++k) {
        const auto half = [&](const Source& s) { return s.kind == Source::Nothing ? s : k ? high(s) : low(s); };
        emit(what == Op::Fma   ? Operation::FloatFma
             : what == Op::Mul ? Operation::FloatMul
                               : Operation::FloatAdd,
             what == Op::Fma   ? "FFMA"
             : what == Op::Mul ? "FMUL"
                               : "FADD",
             {word(to, k)}, {half(a), half(b), half(c)});
      }
      return;
    default:  // halves and bf16, of which one instruction takes two
      emit(Operation::Half, what == Op::Fma ? "HFMA2" : what == Op::Mul ? "HMUL2" : "HADD2", {to}, {a, b, c});
  }
}

// A sign is a modifier of whoever reads the value.
void Selector::float_sign(const Instruction& i) {
  const Type t = i.form.type;
  const Part none;
  const Source a = source(i.operands[1], isa::bits_of(t) == 64 ? 2 : 1);
  if (i.form.row->opcode == "copysign") {
    const Part to = destination(i.operands[0]);
    const Source b = source(i.operands[2], to.count);
    emit(Operation::Logic, "LOP3", {word(to, to.count - 1)},
         {high(a).kind && to.count == 2 ? high(a) : low(a), to.count == 2 ? high(b) : low(b)});
    if (to.count == 2) copy_to(word(to, 0), low(a));
    return;
  }
  if (i.operands[0].reg >= 0 && a.kind == Source::Register && i.operands[1].reg >= 0 && single(i.operands[1].reg) &&
      make_same(i.operands[0].reg, a))
    return;
  const Part to = destination(i.operands[0]);
  if (t == Type::F64) {
    emit(Operation::DoubleAdd, "DADD", {to}, {a});
  } else if (t == Type::F32) {
    emit(Operation::FloatAdd, "FADD", {to}, {a});
  } else {
    emit(Operation::Half, "HADD2", {to}, {a});
  }
  (void)none;
}

// The quick way with a test; what it cannot do is a call that next to nobody makes.
void Selector::guarded_slow_path(std::initializer_list<Source> sources, Part to, std::initializer_list<Step> before,
                                 std::initializer_list<Step> after) {
  const Part p = temporary(1, Bank::Predicate), t = temporary(to.count);
  if (before.size() > 1) chain(t, sources, before);
  else chain(p, sources, before);
  if (cc_ >= 70) {
    Draft& d = emit(Operation::Converge, "BSSY", {}, {});
    d.pinned = true;
  }
  Draft& branch = emit(Operation::Branch, "BRA", {}, {});
  branch.pinned = branch.wall = branch.guarded = true;
  branch.reads = {};
  branch.read(p);
  std::vector<Source> all(sources);
  if (before.size() > 1) all.insert(all.begin(), of(t));
  all.resize(std::min<size_t>(all.size(), 3));
  if (after.size()) {
    Source last;
    size_t k = 0;
    for (const Step& s : after) {
      const Part result = ++k == after.size() ? to : temporary(to.count);
      std::vector<Source> reads = all;
      if (last.kind != Source::Nothing) reads.insert(reads.begin(), last);
      reads.resize(std::min<size_t>(reads.size(), 3));
      emit(s.operation, s.mnemonic, {result}, reads);
      last = of(result);
    }
  } else {
    copy_to(to, of(t));
  }
  if (cc_ >= 70) {
    Draft& d = emit(Operation::Converge, "BSYNC", {}, {});
    d.pinned = d.wall = true;
  }
}

void Selector::float_divide(const Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  const Type t = i.form.type;
  if (says(i, ".approx") || says(i, ".full")) return approximate(i);
  const Part to = destination(i.operands[0]);
  const Source a = source(i.operands[1], to.count), b = op == "div" ? source(i.operands[2], to.count) : Source{};
  using enum Operation;
  const Part p = temporary(1, Bank::Predicate);
  // The predicate that says whether the quick way did; a trace says so with what makes it (timing::Space::None).
  const auto finish = [&] {
    if (cc_ >= 70) emit(Converge, "BSSY", {}, {}).pinned = true;
    Draft& d = emit(Branch, "BRA", {}, {});
    d.pinned = d.wall = true;
    d.guarded = true;
    d.reads = {};
    d.read(p);
    if (cc_ >= 70) {
      Draft& s = emit(Converge, "BSYNC", {}, {});
      s.pinned = s.wall = true;
    }
  };
  if (t == Type::F32 && op == "div") {
    const Part r = temporary(), e = temporary(), r1 = temporary(), q = temporary(), rest = temporary();
    emit(Special, "MUFU.RCP", {r}, {b});
    emit(Special, "FCHK", {p}, {a, b}).access = true;
    emit(FloatFma, "FFMA", {e}, {b, of(r), number(0x3f800000)});
    emit(FloatFma, "FFMA", {r1}, {of(r), of(e), of(r)});
    emit(FloatFma, "FFMA", {q}, {a, of(r1), number(0)});
    emit(FloatFma, "FFMA", {rest}, {b, of(q), a});
    emit(FloatFma, "FFMA", {to}, {of(r1), of(rest), of(q)});
    return finish();
  }
  if (t == Type::F32 && op == "rcp") {
    const Part x = temporary(), y = temporary(), r = temporary(), e = temporary(), e1 = temporary();
    emit(IntAdd, "IADD3", {x}, {a, number(0x1800000)});
    emit(Logic, "LOP3", {y}, {of(x), number(0x7f800000)});
    emit(Compare, "ISETP", {p}, {of(y), number(0x1ffffff)}).access = true;
    finish();
    emit(Special, "MUFU.RCP", {r}, {a});
    emit(FloatFma, "FFMA", {e}, {a, of(r), number(0xbf800000)});
    emit(FloatAdd, "FADD", {e1}, {of(e)});
    emit(FloatFma, "FFMA", {to}, {of(r), of(e1), of(r)});
    return;
  }
  if (t == Type::F32) {  // sqrt
    const Part r = temporary(), x = temporary(), s = temporary(), h = temporary(), e = temporary();
    emit(Special, "MUFU.RSQ", {r}, {a});
    emit(IntAdd, "IADD3", {x}, {a, number(0xf3000000)});
    emit(Compare, "ISETP", {p}, {of(x), number(0x727fffff)}).access = true;
    finish();
    emit(FloatMul, "FMUL", {s}, {a, of(r)});
    emit(FloatMul, "FMUL", {h}, {of(r), number(0x3f000000)});
    emit(FloatFma, "FFMA", {e}, {of(s), of(s), a});
    emit(FloatFma, "FFMA", {to}, {of(e), of(h), of(s)});
    return;
  }
  if (op == "div") {
    const Part r = temporary(2), e = temporary(2), e1 = temporary(2), r1 = temporary(2), e2 = temporary(2), r2 = temporary(2),
               q = temporary(2), rest = temporary(2);
    emit(Special, "MUFU.RCP64H", {word(r, 1)}, {high(b)});
    emit(Move, "MOV", {word(r, 0)}, {number(1)});
    emit(DoubleFma, "DFMA", {e}, {b, of(r), number(0x3ff0000000000000, 2)});
    emit(DoubleFma, "DFMA", {e1}, {of(e), of(e), of(e)});
    emit(DoubleFma, "DFMA", {r1}, {of(r), of(e1), of(r)});
    emit(DoubleFma, "DFMA", {e2}, {b, of(r1), number(0x3ff0000000000000, 2)});
    emit(DoubleFma, "DFMA", {r2}, {of(r1), of(e2), of(r1)});
    emit(DoubleFma, "DMUL", {q}, {a, of(r2)});
    emit(DoubleFma, "DFMA", {rest}, {b, of(q), a});
    emit(DoubleFma, "DFMA", {to}, {of(r2), of(rest), of(q)});
    const Part x = temporary(), p1 = temporary(1, Bank::Predicate);
    emit(FloatFma, "FFMA", {x}, {high(b), high(of(to))});
    emit(Compare, "FSETP", {p1}, {high(a)});
    emit(Compare, "FSETP", {p}, {of(x), of(p1)}).access = true;
    return finish();
  }
  if (op == "rcp") {
    const Part r = temporary(2), e = temporary(2), e1 = temporary(2), r1 = temporary(2), e2 = temporary(2);
    emit(Special, "MUFU.RCP64H", {word(r, 1)}, {high(a)});
    emit(IntAdd, "IADD3", {word(r, 0)}, {high(a), number(0x300402)});
    emit(Compare, "FSETP", {p}, {of(word(r, 0))}).access = true;
    emit(DoubleFma, "DFMA", {e}, {a, of(r), number(0x3ff0000000000000, 2)});
    emit(DoubleFma, "DFMA", {e1}, {of(e), of(e), of(e)});
    emit(DoubleFma, "DFMA", {r1}, {of(r), of(e1), of(r)});
    emit(DoubleFma, "DFMA", {e2}, {a, of(r1), number(0x3ff0000000000000, 2)});
    emit(DoubleFma, "DFMA", {to}, {of(r1), of(e2), of(r1)});
    return finish();
  }
  const Part r = temporary(2), x = temporary(2), e = temporary(2), c = temporary(2), e1 = temporary(2), r1 = temporary(2), s = temporary(2),
             h = temporary(2), rest = temporary(2);
  emit(Special, "MUFU.RSQ64H", {word(r, 1)}, {high(a)});
  emit(IntAdd, "IADD3", {word(r, 0)}, {high(a), number(0xfcb00000)});
  emit(Compare, "ISETP", {p}, {of(word(r, 0)), number(0x7ca00000)}).access = true;
  emit(Move, "MOV", {word(c, 0)}, {number(0)});
  emit(Move, "MOV", {word(c, 1)}, {number(0x3fd80000)});
  emit(DoubleFma, "DMUL", {x}, {of(r), of(r)});
  emit(DoubleFma, "DFMA", {e}, {a, of(x), number(0x3ff0000000000000, 2)});
  emit(DoubleFma, "DFMA", {e1}, {of(e), of(c), number(0x3fe0000000000000, 2)});
  emit(DoubleFma, "DMUL", {x}, {of(r), of(e)});
  emit(DoubleFma, "DFMA", {r1}, {of(e1), of(x), of(r)});
  emit(DoubleFma, "DMUL", {s}, {a, of(r1)});
  emit(IntAdd, "IADD3", {word(h, 1)}, {high(of(r1)), number(0xfff00000)});
  copy_to(word(h, 0), low(of(r1)));
  emit(DoubleFma, "DFMA", {rest}, {of(s), of(s), a});
  emit(DoubleFma, "DFMA", {to}, {of(rest), of(h), of(s)});
  finish();
}

// The special function unit flushes subnormal numbers: without .ftz they are scaled first, and the result scaled back.
void Selector::approximate(const Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  const Type t = i.form.type;
  const Part to = destination(i.operands[0]);
  const Source a = source(i.operands[1], to.count);
  const bool flush = i.form.mods.ftz || t == Type::F16 || t == Type::BF16;
  using enum Operation;
  if (t == Type::F64) {
    emit(Special, op == "rcp" ? "MUFU.RCP64H" : "MUFU.RSQ64H", {word(to, 1)}, {high(a)});
    emit(Move, "MOV", {word(to, 0)}, {number(0)});
    return;
  }
  if (t == Type::F16x2 || t == Type::BF16x2) {
    const Part x = temporary(), y = temporary();
    emit(Special, op == "tanh" ? "MUFU.TANH" : "MUFU.EX2", {x}, {a});
    emit(Special, op == "tanh" ? "MUFU.TANH" : "MUFU.EX2", {y}, {a});
    emit(Logic, "PRMT", {to}, {of(x), of(y)});
    return;
  }
  if (op == "tanh") return void(emit(Special, "MUFU.TANH", {to}, {a}));
  if (op == "sin" || op == "cos") {
    const Part x = temporary();
    emit(FloatMul, "FMUL.RZ", {x}, {a, number(0x3e22f983)});
    emit(Special, op == "sin" ? "MUFU.SIN" : "MUFU.COS", {to}, {of(x)});
    return;
  }
  if (op == "div") {
    const Source b = source(i.operands[2]);
    const Part r = temporary();
    if (says(i, ".full")) {
      const Part p = temporary(1, Bank::Predicate), x = temporary(), y = temporary();
      emit(Compare, "FSETP", {p}, {b, number(0x7e800000)});
      emit(FloatMul, "FMUL", {x}, {b, of(p)});
      emit(FloatMul, "FMUL", {y}, {a, of(p)});
      Part x1 = x, y1 = y;
      if (!flush) {
        const Part q = temporary(1, Bank::Predicate);
        x1 = temporary(), y1 = temporary();
        emit(Compare, "FSETP", {q}, {b, number(0x00800000)});
        emit(FloatMul, "FMUL", {x1}, {of(x), of(q), number(0x4b800000)});
        emit(FloatMul, "FMUL", {y1}, {of(y), of(q), number(0x4b800000)});
      }
      emit(Special, "MUFU.RCP", {r}, {of(x1)});
      emit(FloatMul, "FMUL", {to}, {of(r), of(y1)});
      return;
    }
    if (flush) {
      emit(Special, "MUFU.RCP", {r}, {b});
      emit(FloatMul, "FMUL", {to}, {a, of(r)});
      return;
    }
    const Part p = temporary(1, Bank::Predicate), x = temporary(), r1 = temporary();
    emit(Compare, "FSETP", {p}, {b, number(0x00800000)});
    emit(FloatMul, "FMUL", {x}, {b, of(p), number(0x4b800000)});
    emit(Special, "MUFU.RCP", {r}, {of(x)});
    emit(FloatMul, "FMUL", {r1}, {of(r), of(p), number(0x4b800000)});
    emit(FloatMul, "FMUL", {to}, {a, of(r1)});
    return;
  }
  const std::string_view unit = op == "rcp"     ? "MUFU.RCP"
                                : op == "sqrt"  ? "MUFU.SQRT"
                                : op == "rsqrt" ? "MUFU.RSQ"
                                : op == "lg2"   ? "MUFU.LG2"
                                                : "MUFU.EX2";
  if (flush) return void(emit(Special, unit, {to}, {a}));
  const Part p = temporary(1, Bank::Predicate), x = temporary(), r = temporary();
  emit(Compare, "FSETP", {p}, {a, number(0x00800000)});
  emit(FloatMul, "FMUL", {x}, {a, of(p), number(0x4b800000)});
  emit(Special, unit, {r}, {of(x)});
  emit(op == "lg2" ? FloatAdd : FloatMul, op == "lg2" ? "FADD" : "FMUL", {to}, {of(r), of(p), number(0x4b800000)});
}

void Selector::test_property(const Instruction& i) {
  chain(destination(i.operands[0]), {source(i.operands[1], isa::bits_of(i.form.type) == 64 ? 2 : 1)},
        {{Operation::Logic, "LOP3"}, {Operation::Compare, "ISETP"}});
}

}  // namespace warpbeam::assembly
