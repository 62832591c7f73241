#include "jit/shapes.h"

#include <algorithm>
#include <bit>

#include "jit/shape_arithmetic.h"

namespace warpbeam::jit {

using isa::Kind;
using isa::Opcode;
using isa::Special;
using isa::Type;

constexpr uint8_t kWarpBits = 5;

static int log2_of(uint64_t v) { return std::countr_zero(v); }

Shape Shapes::special(const vm::FrameSlot& s) const {
  switch (s.kind) {
    case vm::SlotKind::SharedAddress: return uniform_shape(Reach::Block, 0, 24);
    case vm::SlotKind::LocalAddress:
    case vm::SlotKind::ParamAddress: return uniform_shape(Reach::Block);
    default: break;
  }
  const bool one_dimension = block[1] == 1 && block[2] == 1;
  switch (s.special) {
    case Special::Tid: {
      const uint32_t x = block[0], c = s.component;
      if (c > 2 || block[c] == 1) return uniform_shape(Reach::Block, 62, 0);
      const int bits = std::bit_width(block[c] - 1);
      if (packed == 1 && c == 0 && (one_dimension || x % 32 == 0))
        return with_pace(runs_of(1, 1, Reach::Warp, kWarpBits, bits), one_dimension ? std::optional(32)
                                                                      : x == 32     ? std::optional(0)
                                                                                    : std::nullopt);
      if (c == 0 && std::has_single_bit(x) && x < 32)
        return with_pace(spaced(runs_of(static_cast<int>(32 / x), 1, Reach::Warp, 62, bits), 0), 0);
      if (c == 1 && x % 32 == 0)
        return with_pace(uniform_shape(Reach::Warp, 0, static_cast<uint8_t>(bits)),
                         x == 32 && block[2] == 1 ? std::optional(1) : std::nullopt);
      if (c == 1 && std::has_single_bit(x) && x < 32) {
        const Shape y = runs_of(static_cast<int>(32 / x), 0, Reach::Warp, 0, bits);
        if (x * block[1] % 32) return y;  // a warp may go on in the next plane, or block
        return with_pace(spaced(y, 1), block[2] == 1 ? std::optional(32 / x) : std::nullopt);
      }
      if (c == 2 && (x * block[1]) % 32 == 0) return uniform_shape(Reach::Warp, 0, static_cast<uint8_t>(bits));
      return vector_shape();
    }
    case Special::Ctaid: {
      constexpr int kBits = 31;
      if (packed == 1 || s.component > 0) return uniform_shape(Reach::Block);
      if (packed == 32) return runs_of(1, 1, Reach::Warp, 0, kBits);
      return spaced(runs_of(static_cast<int>(packed), 0, Reach::Warp, 0, kBits), 1);
    }
    case Special::Laneid: return lone() ? uniform_shape(Reach::Block, 62, 0) : runs_of(1, 1, Reach::Block, 62, 5);
    case Special::LanemaskEq:
    case Special::LanemaskLt:
    case Special::LanemaskLe:
    case Special::LanemaskGe:
    case Special::LanemaskGt: return lone() ? uniform_shape(Reach::Block) : vector_shape();
    case Special::Warpid: return with_pace(uniform_shape(Reach::Warp, 0, 5), 1);
    default: return uniform_shape(Reach::Block);
  }
}

Shape Shapes::source(int32_t at, Width bytes) const {
  const Source s = flow->source(at, bytes);
  switch (s.kind) {
    case SourceKind::Variable: return variables[s.variable];
    case SourceKind::Constant: {
      Shape c =
          uniform_shape(Reach::Block, static_cast<uint8_t>(s.bits ? log2_of(s.bits) : 62), static_cast<uint8_t>(std::bit_width(s.bits)));
      c.known = true;
      c.number = s.bits;
      return c;
    }
    case SourceKind::Special: return special(*s.special);
    default: return vector_shape();
  }
}

bool Shapes::needs_blend(uint32_t node, uint32_t variable) const {
  bool needed = flow->nodes[node].at_end.has(variable);
  flow->nodes[node].waits.each([&](size_t w) { needed = needed || flow->nodes[w].live_in.has(variable); });
  return needed;
}

// Of a load or store of local memory that has become variables.
Shape Shapes::of_cells(const vm::Insn& i, const CellAccess& access) const {
  const bool load = i.source->form.row->cls == isa::Class::Load;
  const auto& first = access.elements[0];
  if (access.elements.size() == 1 && first.size() == 1 && flow->cells[static_cast<size_t>(first[0] - kParamKeys)].bytes == i.width)
    return load ? source(first[0], i.width) : source(i.op[0], i.width);
  Reach reach = Reach::Block;
  bool same = true;
  const auto join_in = [&](const Shape& s) {
    same = same && s.uniform();
    reach = std::max(reach, s.reach);
    return s.unset;
  };
  for (size_t k = 0; k < access.elements.size(); ++k) {
    if (!load && join_in(source(i.list ? i.list[k] : i.op[0], i.width))) return {};
    for (const int32_t key : access.elements[k])
      if (load && join_in(source(key, flow->cells[static_cast<size_t>(key - kParamKeys)].bytes))) return {};
  }
  return same ? uniform_shape(reach) : vector_shape();
}

// A whole warp lies on one side of a bound, as with `tid < 64`: its values begin at a multiple of what they span, and so does
// what is beyond the bound.
static bool warps_agree(const Shapes& s, const vm::Insn& i) {
  using isa::Cmp;
  const isa::Mods& m = i.mods();
  const Type t = i.type();
  if (isa::is_float(t) || t == Type::Pred || isa::bytes_of(t) < 4 || (m.boolop != isa::BoolOp::None && !s.source(i.op[3], 0).uniform()))
    return false;
  const Width bytes = static_cast<Width>(isa::bytes_of(t));
  const Shape a = s.source(i.op[1], bytes), c = s.source(i.op[2], bytes);
  if (a.runs != 1 || c.runs != 1 || (a.stride == 0) == (c.stride == 0)) return false;
  const bool swap = c.stride != 0;
  const Shape &v = swap ? c : a, &bound = swap ? a : c;
  const int span = std::bit_width(static_cast<uint64_t>(v.stride) * 31);
  if (v.stride < 0 || v.align < span) return false;
  const bool less = m.cmp == Cmp::Lt || m.cmp == Cmp::Lo, most = m.cmp == Cmp::Le || m.cmp == Cmp::Ls;
  const bool more = m.cmp == Cmp::Gt || m.cmp == Cmp::Hi, least = m.cmp == Cmp::Ge || m.cmp == Cmp::Hs;
  if (swap ? more || most : less || least) return bound.align >= span;
  uint64_t known = 0;
  return (swap ? less || least : more || most) && constant_of(s, i.op[swap ? 1 : 2], bytes, known) && log2_of(known + 1) >= span;
}

bool Shapes::counts_on(int32_t at) const {
  if (wraps != Wraps::Differences) return wraps == Wraps::Nothing;
  const Source s = flow->source(at, 4);
  return s.kind != SourceKind::Variable || !differences[s.variable];
}

bool arrives_in_shared(const vm::Insn& i) {
  const isa::Row* row = known_row(i);
  if (!row || row->op != Opcode::Mbarrier || !(says(*row, ".arrive") || says(*row, ".arrive_drop"))) return false;
  const isa::Mods& m = i.mods();
  return !m.expect_tx && !m.no_complete && (m.space == isa::Space::Shared || m.space == isa::Space::SharedCluster);
}

// Is the state that arriving gives asked for its phase and for nothing else? Lanes that arrive together then have the same.
static bool tells_phase_alone(const Flow& flow, int32_t at) {
  const auto state = flow.variable(at);
  for (size_t k = 0; state && k < flow.slots.size(); ++k)
    for (const Slot& s : flow.slots[k]) {
      if (!s.read || flow.variable(s.at) != state) continue;
      const vm::Insn& i = flow.code->insns[k];
      const isa::Row* row = known_row(i);
      const bool tests = row && row->op == Opcode::Mbarrier && (says(*row, ".test_wait") || says(*row, ".try_wait"));
      if (!tests || i.mods().parity || i.count <= 2 || i.wide[2].slot != s.at || i.wide[1].slot == s.at) return false;
    }
  return true;
}

Shape Shapes::result(const vm::Insn& i) const {
  if (i.step == vm::Step::NotPred) return source(i.op[1], 0).uniform() ? uniform_shape(source(i.op[1], 0).reach) : vector_shape();
  if (i.step == vm::Step::PickTarget) {
    const Shape target = source(i.op[1], 8);
    return target.unset ? Shape{} : target.uniform() ? uniform_shape(target.reach) : vector_shape();
  }
  if (!i.row()) return vector_shape();
  const ptx::Instruction& s = *i.source;
  const isa::Row& row = *s.form.row;
  const isa::Mods& m = s.form.mods;
  if (const CellAccess* cells = flow->cell_access(i)) return of_cells(i, *cells);
  if (flow->fixed_local.contains(&i)) return vector_shape();  // another place for every lane
  if (row.kind == Kind::Async && row.op == isa::Opcode::Mbarrier && i.count > 2 && (says(row, ".test_wait") || says(row, ".try_wait"))) {
    // All lanes ask for the same phase of one barrier, at the same time.
    const Shape at = source(i.wide[1].slot, i.wide[1].width), phase = source(i.wide[2].slot, i.wide[2].width);
    if (at.unset || phase.unset) return {};
    return at.uniform() && phase.uniform() ? uniform_shape(Reach::Warp) : vector_shape();
  }
  if (arrives_in_shared(i)) {
    const Shape at = source(i.wide[1].slot, i.wide[1].width);
    const Shape count = i.count > 2 ? source(i.wide[2].slot, i.wide[2].width) : uniform_shape(Reach::Block);
    if (at.unset || count.unset) return {};
    return at.uniform() && count.uniform() && tells_phase_alone(*flow, i.wide[0].slot) ? uniform_shape(Reach::Warp) : vector_shape();
  }
  if (!has_ir(i)) return vector_shape();
  if (row.kind == Kind::Barrier) return uniform_shape(Reach::Block);  // bar.red
  // What all operands have in common.
  bool first = true, scalar = true, flat = true, any = false;
  Reach reach = Reach::Block;
  int runs = 1;
  const auto& slots = flow->slots[static_cast<size_t>(&i - flow->code->insns.data())];
  for (const Slot& slot : slots) {
    if (!slot.read || (i.guard >= 0 && &slot == &slots[0])) continue;  // the guard may be an operand, too
    const Shape o = source(slot.at, slot.bytes);
    if (o.unset) return {};  // comes later
    any = true;
    scalar = scalar && o.uniform();
    flat = flat && !o.vector() && o.stride == 0;
    reach = std::max(reach, o.reach);
    runs = std::max<int>(runs, o.runs);
    (void)first;
  }
  (void)any;
  const Opcode op = row.op;
  const Type t = s.form.type;
  const Width bytes = t == Type::Pred ? 0 : static_cast<Width>(isa::bytes_of(t));
  switch (row.kind) {
    case Kind::Memory: {
      if (row.cls != isa::Class::Load) return vector_shape();
      const bool param = i.op[1] < 0 && m.space == isa::Space::Param;
      if (param || (i.op[1] < 0 && (m.space == isa::Space::ParamEntry))) return uniform_shape(Reach::Block);
      if (i.op[1] < 0 && m.space == isa::Space::Local) return vector_shape();
      if (i.op[1] < 0) return uniform_shape(m.space == isa::Space::Const ? Reach::Block : Reach::Warp);
      const Shape a = source(i.op[1], i.base_width);
      if (a.unset) return {};
      // One address in local memory is another place for every lane.
      const bool own = m.space != isa::Space::Global && m.space != isa::Space::Const && m.space != isa::Space::Shared &&
                       m.space != isa::Space::SharedCluster && m.space != isa::Space::Generic;
      if (own) return vector_shape();
      if (!a.uniform() || (m.space == isa::Space::Generic && flow->local_escapes)) return vector_shape();
      const bool unchanging = m.space == isa::Space::Const || m.nc;
      return uniform_shape(unchanging ? a.reach : Reach::Warp);
    }
    case Kind::Warp:
      if (op == Opcode::Vote || op == Opcode::Activemask || op == Opcode::Redux) return uniform_shape(Reach::Warp);
      return vector_shape();
    case Kind::Move:
    case Kind::Address: {
      if (i.list) return scalar ? uniform_shape(reach) : vector_shape();
      Shape a = source(i.op[1], bytes ? bytes : 0);
      if (row.kind == Kind::Address) {
        a.bits = 64;
        if (m.space == isa::Space::Shared || m.space == isa::Space::Local) a.align = std::min<uint8_t>(a.align, 32);
      }
      return a;
    }
    case Kind::Compare: return scalar || warps_agree(*this, i) ? uniform_shape(reach) : vector_shape();
    case Kind::Select: {
      if (scalar) return uniform_shape(reach);
      if (op != Opcode::Selp || isa::is_float(t)) return vector_shape();
      const Shape c = source(i.op[3], 0);
      if (!c.uniform()) return vector_shape();
      Shape r = join(source(i.op[1], bytes), source(i.op[2], bytes));
      if (r.vector()) return r;
      const auto pace = c.reach == Reach::Block ? pace_of(r) : std::nullopt;
      r.reach = std::max(r.reach, c.reach);
      return with_pace(r, pace);
    }
    case Kind::Convert: {
      const Type a = s.form.atype;
      const bool packs = s.operands.size() != 2;
      if (packs || isa::is_float(t) || isa::is_float(a)) return scalar ? uniform_shape(reach) : vector_shape();
      const Shape x = source(i.op[1], i.count);
      if (x.vector()) return x;
      if (x.stride == 0 && x.bits <= 30 && isa::bytes_of(t) >= 4 && isa::bytes_of(a) >= 4) return x;
      if (x.stride == 0) {
        const bool may_be_negative =
            (isa::is_signed(a) && x.bits >= std::min(31, isa::bits_of(a))) || (isa::is_signed(t) && i.width > isa::bytes_of(t));
        return runs_of(x.runs, 0, x.reach, isa::bytes_of(t) >= isa::bytes_of(a) && !m.sat ? x.align : 0,
                       may_be_negative ? 64 : std::min<int>(x.bits, isa::bits_of(t)));
      }
      if (m.sat || isa::bytes_of(t) < 4 || isa::bytes_of(a) < 4 || i.count != isa::bytes_of(a)) return vector_shape();
      if (isa::bytes_of(t) == 8 && isa::bytes_of(a) == 4 && x.bits > 30 && !counts_on(i.op[1])) return vector_shape();
      if (i.width != isa::bytes_of(t)) return vector_shape();
      // What does not wrap in any warp may do so from warp to warp.
      return warps_wrap && isa::bytes_of(t) > isa::bytes_of(a) && x.bits > 30 ? with_pace(x, std::nullopt) : x;
    }
    case Kind::Lane: break;
    default: return scalar ? uniform_shape(reach) : vector_shape();
  }
  if (isa::is_float(t) || t == Type::Pred) return scalar ? uniform_shape(reach) : vector_shape();
  if (bytes != 4 && bytes != 8) return scalar ? uniform_shape(reach) : vector_shape();
  const Shape a = source(i.op[1], bytes);
  const Shape b = i.op[2] >= 0 ? source(i.op[2], op == Opcode::Shl || op == Opcode::Shr ? 4 : bytes) : a;
  const bool lo = half_of(i) == isa::Half::Lo, wide = half_of(i) == isa::Half::Wide;
  uint64_t c;
  if (op == Opcode::Add && !m.sat && row.types.size() > 2) return add(a, b, false);
  if (op == Opcode::Sub && !m.sat && row.types.size() > 2) return add(a, b, true);
  if (op == Opcode::Mul && lo) return multiply(a, b, bytes);
  if (op == Opcode::Mad && lo) return add(multiply(a, b, bytes), source(i.op[3], bytes), false);
  if ((op == Opcode::Mul || op == Opcode::Mad) && wide && bytes == 4) {
    Shape r = multiply(a, b, bytes, !isa::is_signed(t));
    // What does not wrap in any warp may do so from warp to warp.
    for (const Shape& x : {a, b})
      if (warps_wrap && x.paced && x.bits > 30) r = with_pace(r, std::nullopt);
    for (const auto& [x, at] : {std::pair{a, i.op[1]}, std::pair{b, i.op[2]}}) {
      if (x.bits <= 30 || counts_on(at)) continue;
      if (x.stride != 0) return vector_shape();
      if (x.even && x.gap != 0) r.even = false, r.gap = 0;
    }
    return op == Opcode::Mad ? add(r, source(i.op[3], 8), false) : r;
  }
  if (op == Opcode::Shl && constant_of(*this, i.op[2], 4, c)) {
    if (a.vector() || c > 32 || std::abs(a.stride) > INT32_MAX) return flat ? runs_of(runs, 0, reach, 0, 64) : vector_shape();
    const auto pace = pace_of(a);
    return with_pace(spaced(runs_of(a.runs, a.stride * (int64_t(1) << c), a.reach, a.align + static_cast<int>(c),
                                    a.bits + c > 31 ? 64 : static_cast<int>(a.bits + c)),
                            a.even ? std::optional(a.gap * (int64_t(1) << c)) : std::nullopt),
                     pace ? std::optional(*pace * (int64_t(1) << c)) : std::nullopt);
  }
  const int run_bits = a.runs ? kWarpBits - log2_of(a.runs) : 0;  // lanes of a run
  if (const int guessed = guessed_operand(i)) {
    const Shape &x = guessed == 1 ? b : a, &mask = guessed == 1 ? a : b;
    const bool ones = guesses[flow->source(i.op[guessed], bytes).variable] == LowBits::Ones;
    return runs_of(1, ones ? 1 : 0, x.reach, kWarpBits, std::min(x.bits, mask.bits));
  }
  if (op == Opcode::And) {
    for (const auto& [x, at] : {std::pair{a, i.op[2]}, std::pair{b, i.op[1]}}) {
      if (x.vector() || !constant_of(*this, at, bytes, c)) continue;
      const int width = std::bit_width(c);
      if (x.stride == 0) return runs_of(x.runs, 0, x.reach, std::max<int>(c ? log2_of(c) : 62, x.align), std::min<int>(x.bits, width));
      if (x.stride != 1) return vector_shape();
      if (!(c & (c + 1)) && x.align >= width) return runs_of(std::max<int>(x.runs, 32 >> width), 1, Reach::Block, 62, width);  // from 0 on
      // The lowest bits count the lanes of a run. All of them stay, or none, and what the run begins with loses others.
      const int lanes = kWarpBits - log2_of(x.runs);
      const uint64_t counting = (uint64_t(1) << lanes) - 1;
      if (x.align < lanes) return vector_shape();
      if ((c & counting) == counting) return runs_of(x.runs, 1, x.reach, x.align, std::min<int>(x.bits, width));
      if (!(c & counting)) return runs_of(x.runs, 0, x.reach, std::max<int>(c ? log2_of(c) : 62, x.align), std::min<int>(x.bits, width));
      return vector_shape();
    }
  }
  if (op == Opcode::Shr && constant_of(*this, i.op[2], 4, c) && !a.vector() && c < 32) {
    const int align = std::max<int>(0, a.align - static_cast<int>(c));
    const int bits = isa::is_signed(t) && a.bits > 31 ? 64 : std::max<int>(0, a.bits - static_cast<int>(c));
    if (a.stride == 0) return runs_of(a.runs, 0, a.reach, align, bits);
    if (a.stride != 1 || a.align < std::min<int>(static_cast<int>(c), run_bits)) return vector_shape();
    if (static_cast<int>(c) >= run_bits && a.align >= run_bits) {
      // Warp by warp a multiple of what is shifted out: the quotient grows as evenly.
      const bool even = a.runs == 1 && a.paced && a.bits <= 30 && a.align >= c && a.pace % (int64_t(1) << c) == 0;
      return with_pace(runs_of(a.runs, 0, a.reach, 0, bits), even ? std::optional(a.pace >> c) : std::nullopt);
    }
    if (static_cast<int>(c) < run_bits && a.align >= static_cast<int>(c)) return runs_of(32 >> c, 0, a.reach, 0, bits);
    return vector_shape();
  }
  if (op == Opcode::Or && !a.vector() && !b.vector() && (a.stride || b.stride)) {
    // Bits that do not meet: or is a sum. The run's own lanes count among the bits of the one that grows.
    const auto below = [](const Shape& x, const Shape& y) { return x.bits <= y.align && y.stride == 0; };
    // What does not grow, under the lowest bit that any lane of the other can have.
    const auto under = [](const Shape& x, const Shape& y) {
      return x.stride == 0 && y.stride != 0 && x.bits <= std::min<int>(y.align, std::countr_zero(static_cast<uint64_t>(y.stride)));
    };
    if (below(a, b) || below(b, a) || under(a, b) || under(b, a)) return add(a, b, false);
    // From warp to warp they may meet.
    if (or_for_sum(*this, i)) return with_pace(add(a, b, false), std::nullopt);
    return vector_shape();
  }
  return flat ? runs_of(runs, 0, reach, 0, 64) : vector_shape();
}

Shape Shapes::written(const vm::Insn& i, const Slot& slot) const {
  const Shape r = slot.at == i.op[5] && slot.at != i.op[0] ? vector_shape() : result(i);
  return lone() && r.vector() ? uniform_shape(Reach::Warp) : r;
}

int Shapes::guessed_operand(const vm::Insn& i) const {
  if (guesses.empty() || !i.is(isa::Opcode::And) || i.guard >= 0) return 0;
  if (i.type() == Type::Pred || isa::bytes_of(i.type()) != 4) return 0;
  for (int k = 1; k <= 2; ++k) {
    const Source s = flow->source(i.op[k], 4);
    if (s.kind != SourceKind::Variable || guesses[s.variable] == LowBits::Unknown) continue;
    const Shape mask = source(i.op[k], 4), x = source(i.op[3 - k], 4);
    // Lanes are told apart by the bits that are guessed, and by no others.
    if (mask.one_value() && x.runs == 1 && x.stride == 1 && x.align >= kWarpBits) return k;
  }
  return 0;
}

}  // namespace warpbeam::jit
