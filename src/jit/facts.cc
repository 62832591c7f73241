#include "jit/facts.h"

#include <algorithm>
#include <bit>

#include "jit/lane_memory.h"
#include "jit/operands.h"
#include "jit/shape_arithmetic.h"

namespace warpbeam::jit {

using isa::Kind;
using isa::Space;

namespace {

Access elements_of(const vm::Insn& i) {
  Access a;
  a.insn = &i;
  a.load = i.row()->cls == isa::Class::Load;
  a.memory = static_cast<Width>(isa::bytes_of(i.type()));
  a.reg = i.width;
  a.sign = isa::is_signed(i.type()) && a.load;
  a.count = i.list ? i.count : 1;
  for (int k = 0; k < a.count; ++k) a.slots.push_back(i.list ? i.list[k] : i.op[0]);
  return a;
}

}  // namespace

// The last instruction of the node that writes what lies at `at` before its instruction `end`, if all lanes do it.
const vm::Insn* Facts::made_before(const Node& node, int32_t at, uint32_t end) const {
  for (uint32_t k = end; k-- > node.begin;) {
    if (std::ranges::none_of(flow_.slots[k], [&](const Slot& s) { return s.written && s.at == at; })) continue;
    const vm::Insn& i = flow_.code->insns[k];
    return i.guard < 0 && !i.call && !i.list && i.source && i.source->form.row ? &i : nullptr;
  }
  return nullptr;
}

const vm::Insn* Facts::exit_insn(const Region& r) const {
  if (r.exit_node >= 0) return flow_.nodes[static_cast<size_t>(r.exit_node)].last;
  if (r.exit_to >= 0) return &flow_.code->insns[flow_.nodes[static_cast<size_t>(r.exit_to)].begin];
  return nullptr;
}

Bits Facts::written_in(const Region& r) const {
  Bits written(flow_.variables.size());
  for (uint32_t b : r.nodes)
    for (uint32_t k = flow_.nodes[b].begin; k < flow_.nodes[b].end; ++k)
      for (const Slot& s : flow_.slots[k])
        if (const auto v = flow_.variable(s.at); s.written && v) written.add(*v);
  return written;
}

// Nothing but results from operands; the block's parameters may be among them.
bool Facts::only_computes(const vm::Insn& i) const {
  if (i.silent()) return true;
  if (!shapes_.has_ir(i)) return false;
  const bool parameter = i.row() && i.row()->cls == isa::Class::Load && i.op[1] < 0 &&
                         (i.mods().space == isa::Space::Param || i.mods().space == isa::Space::ParamEntry);
  return i.effects().pure() || parameter;
}

bool Facts::may_wrap(const vm::Insn& i) const {
  if (!i.row()) return false;
  return (i.row()->kind == Kind::Convert && isa::bytes_of(i.type()) == 8) || half_of(i) == isa::Half::Wide || or_for_sum(shapes_, i);
}

bool Facts::leaves_nothing(const vm::Insn& i) const {
  return i.effects().pure() && std::ranges::none_of(flow_.slots[number_of(i)], &Slot::written);
}

// The comparison that makes the predicate in the node, and what it is `wanted` to say.
const vm::Insn* Facts::compared(const Node& node, int32_t predicate, bool& wanted) const {
  const vm::Insn* i = made_before(node, predicate, node.end);
  for (; i && i->step == vm::Step::NotPred; i = made_before(node, predicate, number_of(*i))) {
    wanted = !wanted;
    predicate = i->op[1];
  }
  const bool plain = i && i->is(isa::Opcode::Setp) && i->op[0] == predicate && i->mods().boolop == isa::BoolOp::None;
  return plain ? i : nullptr;
}

// Is the predicate, as it is before instruction `end` of the node, made by comparing numbers that grow in even steps, as
// `tid < s`?
bool Facts::compares_steps(const Node& node, int32_t predicate, uint32_t end) const {
  const vm::Insn* i = made_before(node, predicate, end);
  if (!i) return false;
  if (i->step == vm::Step::NotPred) return compares_steps(node, i->op[1], number_of(*i));
  const isa::Kind kind = i->source->form.row->kind;
  if (kind == Kind::Lane) return compares_steps(node, i->op[1], number_of(*i)) || compares_steps(node, i->op[2], number_of(*i));
  if (kind != Kind::Compare || isa::is_float(i->type())) return false;
  const Width bytes = static_cast<Width>(isa::bytes_of(i->type()));
  return shapes_.source(i->op[1], bytes).runs > 0 && shapes_.source(i->op[2], bytes).runs > 0;
}

// Of the instructions [begin, end), those that addresses are made by and that may run before everything else: nothing
// before them minds, and running them once more in their place gives the same.
std::vector<uint32_t> Facts::early(uint32_t begin, uint32_t end, const std::vector<Access>& accesses) const {
  const size_t n = flow_.variables.size();
  Bits read_before(n), written_before(n);   // by instructions that stay
  Bits used_early(n), made_early(n);
  std::vector<uint32_t> movable;
  const auto variable = [&](const Slot& s) -> int64_t {
    const auto v = flow_.variable(s.at);
    return v ? static_cast<int64_t>(*v) : -1;
  };
  for (uint32_t k = begin; k < end; ++k) {
    const vm::Insn& i = flow_.code->insns[k];
    bool moves = i.row() && i.row()->effects.pure() && i.guard < 0 && shapes_.has_ir(i);
    for (const Slot& s : flow_.slots[k]) {
      const int64_t v = variable(s);
      if (v < 0 || !moves) continue;
      const size_t x = static_cast<size_t>(v);
      if (s.read && (written_before.has(x) || s.written)) moves = false;
      if (s.written && (read_before.has(x) || written_before.has(x) || used_early.has(x) || made_early.has(x))) moves = false;
      if (s.written)
        for (const Slot& o : flow_.slots[k])
          if (o.read && o.at == s.at) moves = false;
    }
    for (const Slot& s : flow_.slots[k]) {
      const int64_t v = variable(s);
      if (v < 0) continue;
      if (s.read) (moves ? used_early : read_before).add(static_cast<size_t>(v));
      if (s.written) (moves ? made_early : written_before).add(static_cast<size_t>(v));
    }
    if (moves) movable.push_back(k);
  }
  // Only what addresses need.
  Bits needed(n);
  for (const Access& a : accesses)
    if (const Source s = flow_.source(a.insn->op[1], a.insn->base_width); s.kind == SourceKind::Variable) needed.add(s.variable);
  std::vector<uint32_t> out;
  for (size_t k = movable.size(); k-- > 0;) {
    bool wanted = false;
    for (const Slot& s : flow_.slots[movable[k]])
      if (const int64_t v = variable(s); v >= 0 && s.written) wanted = wanted || needed.has(static_cast<size_t>(v));
    if (!wanted) continue;
    out.push_back(movable[k]);
    for (const Slot& s : flow_.slots[movable[k]])
      if (const int64_t v = variable(s); v >= 0 && s.read) needed.add(static_cast<size_t>(v));
  }
  std::reverse(out.begin(), out.end());
  return out;
}

const vm::Insn* Facts::some_barrier() const { return std::ranges::find(flow_.nodes, End::Barrier, &Node::ends)->last; }

// Warps that come there are through with the kernel, and no barrier waits for others.
bool Facts::leaves_at_end(const Region& region, const Node& node) const {
  return region.exit_to < 0 && region.exit_node < 0 && node.ends == End::Leave && node.last->guard < 0;
}

bool Facts::counts(const vm::Insn& i) const {
  if (i.guard >= 0 || !known_row(i) || i.row()->kind != Kind::Atomic) return false;
  const isa::Mods& m = i.mods();
  const bool sum = m.op == isa::Op::Add && (i.type() == isa::Type::U32 || i.type() == isa::Type::S32);
  return sum && m.space == Space::Shared && !i.list && i.op[1] >= 0 && (i.op[0] < 0 || i.drops_result) && !left_out("atomics") &&
         !left_out("counts");
}

// Nothing else in the region can be in shared memory.
bool Facts::only_counts(const Region& region) const {
  for (uint32_t b : region.nodes) {
    const Node& node = flow_.nodes[b];
    const uint32_t end = node.ends == End::Barrier ? node.end - 1 : node.end;
    for (uint32_t k = node.begin; k < end; ++k) {
      const vm::Insn& i = flow_.code->insns[k];
      if (counts(i) || flow_.cell_access(i) || flow_.fixed_local.contains(&i) || flow_.is_library_call(i)) continue;
      const isa::Effects e = i.effects();
      if (i.call || e.waits) return false;
      if ((!e.reads && !e.writes) || (i.row()->kind == Kind::Image && !is_foreign(i))) continue;
      const Space space = i.mods().space;
      const bool one_place = !is_foreign(i) && (i.row()->kind == Kind::Memory || i.row()->kind == Kind::Atomic);
      if (!one_place || space == Space::Shared || space == Space::SharedCluster ||
          (space == Space::Generic && plan_.roots.access(flow_, i) < 0))
        return false;
    }
  }
  return true;
}

size_t Facts::special_functions(const std::vector<uint32_t>& nodes) const {
  size_t n = 0;
  for (uint32_t b : nodes)
    for (uint32_t k = flow_.nodes[b].begin; k < flow_.nodes[b].end; ++k) n += is_approximation(flow_.code->insns[k]);
  return n;
}

size_t Facts::vectors_made(const std::vector<uint32_t>& nodes) const {
  size_t n = 0;
  for (uint32_t b : nodes)
    for (uint32_t k = flow_.nodes[b].begin; k < flow_.nodes[b].end; ++k)
      n += std::ranges::any_of(flow_.slots[k], [&](const Slot& s) {
        const auto v = flow_.variable(s.at);
        return s.written && v && shapes_.variables[*v].vector();
      });
  return n;
}

// Does compiled code have a form of the instruction for any number of lanes?
bool Facts::suits_subwarp(const vm::Insn& i) const {
  if (i.silent() || i.step == vm::Step::Branch) return true;
  if (i.effects().varies) return false;
  for (const Slot& s : flow_.slots[number_of(i)]) {
    const Source source = flow_.source(s.at, s.bytes);
    if (s.bytes == 16 || (source.kind == SourceKind::Special && !shapes_.special(*source.special).uniform())) return false;
    if (source.kind != SourceKind::Variable) continue;
    const uint32_t v = source.variable;
    if (!shapes_.variables[v].vector() && !shapes_.variables[v].uniform()) return false;
    if (plan_.slopes[v] || plan_.spreads[v]) return false;
  }
  if (i.step == vm::Step::NotPred) return true;
  const isa::Row* row = i.row();
  if (!row || flow_.cell_access(i) || flow_.fixed_local.contains(&i)) return false;
  if (row->effects.pure()) {
    const bool inline_code = row->op == isa::Opcode::Rsqrt || row->op == isa::Opcode::Rcp || row->op == isa::Opcode::Ex2;
    return shapes_.has_ir(i) || (inline_code && i.type() == isa::Type::F32 && i.op[2] < 0 && says(*row, ".approx"));
  }
  if (row->cls != isa::Class::Load || i.guard >= 0 || !shapes_.has_ir(i) || !is_weak_access(i)) return false;
  const isa::Mods& m = i.mods();
  if (i.op[1] < 0 && (m.space == Space::Param || m.space == Space::ParamEntry)) return isa::bytes_of(i.type()) <= 8;
  const std::optional<Access> a = access_of(i);
  return a && !may_be_local(*a) && (i.op[1] < 0 || shapes_.source(i.op[1], i.base_width).uniform());
}

std::optional<Access> Facts::access_of(const vm::Insn& i) const {
  const isa::Row* row = known_row(i);
  if (!row || row->kind != isa::Kind::Memory || row->cls == isa::Class::Misc || flow_.cell_access(i) || flow_.fixed_local.contains(&i))
    return std::nullopt;
  const isa::Mods& m = i.mods();
  Access a = elements_of(i);
  a.shared = m.space == Space::Shared || m.space == Space::SharedCluster;
  // A kernel's parameters, read at a place that the run computes, lie in an allocation of their own. Watchers tell them from memory.
  // An address of 32 bits is half of one, which the handler knows to complete.
  const bool parameter =
      (m.space == Space::Param || m.space == Space::ParamEntry) && i.op[1] >= 0 && i.base_width == 8 && a.load && !watch_;
  const bool global = m.space == Space::Global || m.space == Space::Const || m.space == Space::Generic || parameter;
  if ((!global && !a.shared) || a.memory > 8 || a.total() > 16 || !std::has_single_bit(a.total())) return std::nullopt;
  a.root = plan_.roots.access(flow_, i);
  return a;
}

std::optional<Access> Facts::local_access_of(const vm::Insn& i) const {
  return watch_ || !flow_.is_local_access(i) ? std::nullopt : std::optional(elements_of(i));
}

// A generic access that may turn out to be one of local memory.
bool Facts::may_be_local(const Access& a) const {
  return flow_.local_escapes && !watch_ && a.root < 0 && a.insn->mods().space == Space::Generic && a.insn->op[1] >= 0;
}

// Twice the code for each access: long kernels would take too long to compile.
bool Facts::looks_for_stretches() const {
  constexpr size_t kMostInstructions = 600;
  static const bool without = left_out("stretches");
  return !without && flow_.code->insns.size() <= kMostInstructions;
}

bool Facts::looks_for_window(const Access& a, const Value& address) const {
  return address.spread.base && a.shared && a.insn->mods().space == isa::Space::Shared && a.count == 1 && a.memory == 4 && a.reg == 4 &&
         wide_host() && !watch_ && looks_for_stretches();
}

// Is an access by a team counted at places, and by nothing else? Then it can be forgotten.
bool Facts::counts_places(const vm::Insn& i) const {
  if (!watch_) return true;
  if (i.guard >= 0) return false;
  if (i.op[1] < 0) return true;
  const Shape s = shapes_.source(i.op[1], i.base_width);
  return s.runs == 1 || (s.runs && s.even);
}

// Do all that its lanes are on lines of their own cost the same, wherever these are? The kernel's parameters are no lines.
bool Facts::may_lie_apart(const vm::Insn& i) const {
  const isa::Class cls = i.source->form.row->cls;
  return (cls == isa::Class::Load || cls == isa::Class::Store) && i.mods().space == isa::Space::Global && !flow_.code->takes_param_address;
}

Straight Facts::straight(uint32_t begin, uint32_t end) const {
  const auto& insns = flow_.code->insns;
  Straight out{begin, end, end, {}, {}, {}};
  // Up to the first access all is plain.
  std::vector<Access> accesses;
  for (uint32_t k = begin; k < end; ++k) {
    if (insns[k].guard >= 0) continue;
    std::optional<Access> a = access_of(insns[k]);
    if (!a || may_be_local(*a)) continue;
    out.first = std::min(out.first, k);
    accesses.push_back(std::move(*a));
  }
  if (accesses.empty()) return out;
  out.ahead = early(out.first, end, accesses);
  // Those whose address is known once that is done.
  Bits changed(flow_.variables.size());
  size_t next = 0;
  for (uint32_t k = out.first; k < end && next < accesses.size(); ++k) {
    const Access& a = accesses[next];
    if (a.insn == &insns[k]) {
      const Source s = a.insn->op[1] < 0 ? Source{} : flow_.source(a.insn->op[1], a.insn->base_width);
      const bool ready = s.kind != SourceKind::Variable || !changed.has(s.variable);
      const bool shaped = s.kind != SourceKind::Variable || shapes_.variables[s.variable].runs > 0;
      if (ready && shaped && (s.kind != SourceKind::Special || shapes_.special(*s.special).runs > 0)) out.accesses.push_back(a);
      if (ready && s.kind == SourceKind::Variable) out.few.push_back(a);
      ++next;
    }
    if (std::find(out.ahead.begin(), out.ahead.end(), k) != out.ahead.end()) continue;
    for (const Slot& s : flow_.slots[k])
      if (const auto v = flow_.variable(s.at); s.written && v) changed.add(*v);
  }
  return out;
}

bool Facts::touches_shared(const Region& region) const {
  for (uint32_t n : region.nodes)
    for (uint32_t k = flow_.nodes[n].begin; k < flow_.nodes[n].end; ++k)
      if (const std::optional<Access> a = access_of(flow_.code->insns[k]); a && a->shared) return true;
  return false;
}

}  // namespace warpbeam::jit
