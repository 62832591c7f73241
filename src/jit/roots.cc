#include "jit/roots.h"

namespace warpbeam::jit {
namespace {

using isa::Kind;

bool is_load(const vm::Insn& i) { return known_row(i) && i.row()->kind == Kind::Memory && i.row()->cls == isa::Class::Load; }

}  // namespace

int64_t Roots::access(const Flow& flow, const vm::Insn& i) const {
  if (i.op[1] < 0) return kNone;
  const Source s = flow.source(i.op[1], i.base_width);
  return s.kind == SourceKind::Variable && of[s.variable] >= 0 ? of[s.variable] : kNone;
}

Roots find_roots(const Flow& flow) {
  Roots roots;
  roots.of.assign(flow.variables.size(), Roots::kUnset);
  const auto at = [&](int32_t slot) {
    const Source s = flow.source(slot, 8);
    return s.kind == SourceKind::Variable ? roots.of[s.variable] : Roots::kNone;
  };
  // A sum has the root of the one term that has one.
  const auto sum = [](int64_t a, int64_t b) {
    if (a >= 0 && b >= 0) return Roots::kNone;
    if (a >= 0 || b >= 0) return a >= 0 ? a : b;
    return a == Roots::kUnset || b == Roots::kUnset ? Roots::kUnset : Roots::kNone;
  };
  const auto result = [&](const vm::Insn& i) {
    if (!known_row(i)) return Roots::kNone;
    const isa::Row& row = *i.row();
    const isa::Mods& m = i.mods();
    if (is_load(i) && i.op[1] < 0 && !i.list && i.width == 8 && (m.space == isa::Space::Param || m.space == isa::Space::ParamEntry))
      return static_cast<int64_t>(i.imm);
    if ((row.kind == Kind::Move && !i.list) || row.kind == Kind::Address) return at(i.op[1]);
    if (row.kind != Kind::Lane || i.list) return Roots::kNone;
    if (row.op == isa::Opcode::Add || row.op == isa::Opcode::Sub)
      return isa::bytes_of(i.type()) == 8 ? sum(at(i.op[1]), at(i.op[2])) : Roots::kNone;
    if (row.op == isa::Opcode::Mad) return at(i.op[3]);
    return Roots::kNone;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t k = 0; k < flow.code->insns.size(); ++k) {
      const vm::Insn& i = flow.code->insns[k];
      for (const Slot& slot : flow.slots[k]) {
        const auto v = flow.variable(slot.at);
        if (!slot.written || !v) continue;
        int64_t& now = roots.of[*v];
        const int64_t r = flow.variables[*v].bytes == 8 ? result(i) : Roots::kNone;
        const int64_t next = r == Roots::kUnset ? now : now == Roots::kUnset || now == r ? r : Roots::kNone;
        changed = changed || next != now;
        now = next;
      }
    }
  }
  for (const vm::Insn& i : flow.code->insns) {
    if (i.row()) {
      const isa::Sem sem = i.mods().sem;
      roots.publishes = roots.publishes || (is_foreign(i) && (i.effects().reads || i.effects().orders)) || sem == isa::Sem::Release ||
                        sem == isa::Sem::AcqRel || sem == isa::Sem::Sc;
    }
    if (!is_load(i)) continue;
    if (const int64_t root = roots.access(flow, i); root >= 0) roots.loaded.insert(root);
  }
  return roots;
}

}  // namespace warpbeam::jit
