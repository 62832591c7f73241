#include "jit/runtime_stride.h"

#include <algorithm>

namespace warpbeam::jit {
namespace {

using isa::Kind;

class RuntimeStrides {
 public:
  RuntimeStrides(const Flow& flow, const Shapes& shapes) : flow_(flow), shapes_(shapes), of_(flow.variables.size()) {}

  std::vector<char> run(const std::vector<Region>& regions, const std::vector<LaneLoop>& loops) {
    for (size_t v = 0; v < of_.size(); ++v) {
      const Variable& x = flow_.variables[v];
      of_[v] = shapes_.variables[v].runs == 0 && (x.bytes == 4 || x.bytes == 8) && x.at < kParamKeys;
    }
    const auto drop = [&](size_t v) { of_[v] = 0; };
    for (const Region& r : regions) flow_.nodes[r.entry].live_in.each(drop);
    flow_.nodes[0].live_in.each(drop);
    for (const LaneLoop& l : loops)
      for (uint32_t v : l.variables) drop(v);
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t n = 0; n < flow_.nodes.size(); ++n)
        for (uint32_t k = flow_.nodes[n].begin; k < flow_.nodes[n].end; ++k)
          for (const Slot& s : flow_.slots[k]) {
            const auto v = flow_.variable(s.at);
            if (!s.written || !v || !of_[*v]) continue;
            if (defines(n, flow_.code->insns[k], *v)) continue;
            of_[*v] = 0;
            changed = true;
          }
    }
    return made_into_addresses(flow_, of_);
  }

 private:
  bool line(int32_t at, Width bytes) const {
    const Source s = flow_.source(at, bytes);
    return shapes_.source(at, bytes).runs == 1 || (s.kind == SourceKind::Variable && of_[s.variable]);
  }
  bool uniform(int32_t at, Width bytes) const { return shapes_.source(at, bytes).uniform(); }

  // Does the instruction, by itself and for all lanes that go on together, give a value that grows evenly?
  bool defines(uint32_t node, const vm::Insn& i, uint32_t v) const {
    if (!i.row() || i.list || !shapes_.has_ir(i)) return false;
    if (flow_.cell_access(i) || flow_.source(i.op[0], flow_.variables[v].bytes).variable != v || i.op[5] >= 0) return false;
    if (i.guard >= 0 && !uniform(i.guard, 0)) return false;
    if (shapes_.needs_blend(node, v)) return false;
    const isa::Row& row = *i.source->form.row;
    const isa::Mods& m = i.mods();
    const isa::Type t = i.type();
    if (isa::is_float(t) || t == isa::Type::Pred) return false;
    const Width bytes = static_cast<Width>(isa::bytes_of(t));
    switch (row.kind) {
      case Kind::Move:
      case Kind::Address: return (bytes == 4 || bytes == 8) && line(i.op[1], bytes);
      case Kind::Convert: {
        const isa::Type from = i.source->form.atype;
        if (isa::is_float(from) || m.sat || bytes < 4 || isa::bytes_of(from) < 4 || i.width != bytes || i.count != isa::bytes_of(from))
          return false;
        return line(i.op[1], static_cast<Width>(isa::bytes_of(from))) && (!widens(i) || shapes_.counts_on(i.op[1]));
      }
      case Kind::Lane: break;
      default: return false;
    }
    if (bytes != 4 && bytes != 8) return false;
    const bool lo = half_of(i) == isa::Half::Lo, wide = widens(i);
    if ((row.op == isa::Opcode::Add || row.op == isa::Opcode::Sub) && !m.sat && row.types.size() > 2)
      return line(i.op[1], bytes) && line(i.op[2], bytes);
    if (row.op == isa::Opcode::Shl) return line(i.op[1], bytes) && uniform(i.op[2], 4);
    if ((row.op != isa::Opcode::Mul && row.op != isa::Opcode::Mad) || (!lo && !wide) || m.sat ||
        (wide && (!shapes_.counts_on(i.op[1]) || !shapes_.counts_on(i.op[2]))))
      return false;
    if (!line(i.op[1], bytes) || !line(i.op[2], bytes) || (!uniform(i.op[1], bytes) && !uniform(i.op[2], bytes))) return false;
    return row.op == isa::Opcode::Mul || line(i.op[3], wide ? 8 : bytes);
  }

  const Flow& flow_;
  const Shapes& shapes_;
  std::vector<char> of_;
};

}  // namespace

std::vector<char> made_into_addresses(const Flow& flow, const std::vector<char>& candidates) {
  std::vector<char> out(candidates.size());
  const auto need = [&](int32_t at) {
    const auto v = flow.variable(at);
    if (!v || !candidates[*v] || out[*v]) return false;
    out[*v] = 1;
    return true;
  };
  for (const vm::Insn& i : flow.code->insns) {
    const isa::Row* row = i.source ? i.source->form.row : nullptr;
    if (row && !i.call && row->kind == Kind::Memory && i.op[1] >= 0 && i.base_width == 8) need(i.op[1]);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::vector<Slot>& slots : flow.slots) {
      const bool makes = std::any_of(slots.begin(), slots.end(), [&](const Slot& s) {
        const auto v = flow.variable(s.at);
        return s.written && v && out[*v];
      });
      if (!makes) continue;
      for (const Slot& s : slots)
        if (s.read) changed = need(s.at) || changed;
    }
  }
  return out;
}

bool widens(const vm::Insn& i) {
  const isa::Row& row = *i.source->form.row;
  if (row.kind == Kind::Convert) return isa::bytes_of(i.type()) == 8 && isa::bytes_of(i.source->form.atype) == 4;
  return row.kind == Kind::Lane && half_of(i) == isa::Half::Wide && isa::bytes_of(i.type()) == 4;
}

std::vector<char> find_runtime_strides(const Flow& flow, const Shapes& shapes, const std::vector<Region>& regions,
                                       const std::vector<LaneLoop>& loops) {
  return RuntimeStrides(flow, shapes).run(regions, loops);
}

}  // namespace warpbeam::jit
