// The shapes of all variables: what their definitions have in common, again and again until none changes.
#include <algorithm>

#include "jit/shape_arithmetic.h"

namespace warpbeam::jit {

using isa::Kind;
using isa::Opcode;
using isa::Type;

namespace {

// Variables that only f32 arithmetic writes and only readers who do not look at a NaN's bits read.
void find_loose(Shapes& s) {
  const Flow& flow = *s.flow;
  s.loose.assign(flow.variables.size(), 0);
  for (size_t v = 0; v < flow.variables.size(); ++v) s.loose[v] = flow.variables[v].bytes == 4 && flow.variables[v].at < kParamKeys;
  const auto is_arithmetic = [&](const vm::Insn& i) {
    return i.row() && i.row()->kind == Kind::Lane && i.type() == Type::F32 && s.has_ir(i) && i.row()->op != isa::Opcode::Copysign;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t k = 0; k < flow.code->insns.size(); ++k) {
      const vm::Insn& i = flow.code->insns[k];
      const isa::Row* row = known_row(i);
      const bool arithmetic = is_arithmetic(i);
      const bool move = row && !arithmetic && row->kind == Kind::Move && s.has_ir(i) && !i.list && i.type() != Type::Pred;
      const bool compares =
          row && row->kind == Kind::Compare && s.has_ir(i) && (i.type() == Type::F32 || i.source->form.atype == Type::F32);
      const bool store = row && row->kind == Kind::Memory && row->cls == isa::Class::Store;
      // The special function unit gives one NaN for all of them.
      const bool special = row && !arithmetic && row->kind == Kind::Lane && i.type() == Type::F32 && says(*row, ".approx");
      for (const Slot& slot : flow.slots[k]) {
        const auto v = flow.variable(slot.at);
        if (!v || !s.loose[*v]) continue;
        bool fine = arithmetic;
        if (slot.written && move) {
          const Source from = flow.source(i.op[1], 4);
          fine = from.kind == SourceKind::Constant ? (from.bits & 0x7fffffff) <= 0x7f800000
                                                   : from.kind == SourceKind::Variable && s.loose[from.variable];
        } else if (!slot.written) {
          // A move out of these variables makes the NaN canonical. Handlers get canonical values.
          fine = arithmetic || compares || special || move || (store && slot.at != i.op[1]);
        }
        if (!fine) {
          s.loose[*v] = 0;
          changed = true;
        }
      }
    }
  }
}

}  // namespace

Shapes Shapes::in_step(const std::vector<char>& nodes, uint32_t entry) const {
  Shapes s = *this;
  s.warps_wrap = false;
  const auto written = [&](auto each) {
    for (uint32_t n = 0; n < nodes.size(); ++n)
      for (uint32_t k = flow->nodes[n].begin; nodes[n] && k < flow->nodes[n].end; ++k)
        for (const Slot& slot : flow->slots[k])
          if (const auto v = flow->variable(slot.at); slot.written && v) each(flow->code->insns[k], slot, *v);
  };
  written([&](const vm::Insn&, const Slot&, uint32_t v) {
    if (!flow->nodes[entry].live_in.has(v)) s.variables[v] = {};
  });
  for (bool changed = true; changed;) {
    changed = false;
    written([&](const vm::Insn& i, const Slot& slot, uint32_t v) {
      const Shape r = i.guard >= 0 ? vector_shape() : s.written(i, slot), all = join(s.variables[v], r);
      if (all == s.variables[v]) return;
      s.variables[v] = all;
      changed = true;
    });
  }
  return s;
}

// Variables that something is taken off.
static std::vector<char> find_differences(const Flow& flow) {
  std::vector<char> found(flow.variables.size());
  for (size_t k = 0; k < flow.code->insns.size(); ++k) {
    const vm::Insn& i = flow.code->insns[k];
    const isa::Row* row = known_row(i);
    if (!row || row->kind != Kind::Lane || i.type() == Type::Pred || isa::is_float(i.type()) || isa::bytes_of(i.type()) != 4) continue;
    const auto below_zero = [&](int32_t at) {
      const Source s = flow.source(at, 4);
      return s.kind == SourceKind::Constant && static_cast<int32_t>(s.bits) < 0;
    };
    const bool takes = row->op == Opcode::Sub || (row->op == Opcode::Add && (below_zero(i.op[1]) || below_zero(i.op[2])));
    if (const auto v = flow.variable(i.op[0]); takes && v) found[*v] = 1;
  }
  return found;
}

Shapes find_shapes(Flow& flow, const std::array<uint32_t, 3>& block, const std::vector<char>& decides, bool barriers, Wraps wraps) {
  Shapes s;
  s.block = block;
  s.wraps = wraps;
  s.flow = &flow;
  s.variables.resize(flow.variables.size());
  if (wraps == Wraps::Differences) s.differences = find_differences(flow);
  settle_shapes(s, flow, decides, barriers);
  return s;
}

void settle_shapes(Shapes& s, Flow& flow, const std::vector<char>& decides, bool barriers) {
  static const bool without_shapes = left_out("shapes"), without_uniform = left_out("uniform");
  s.divergent.assign(flow.nodes.size(), 0);
  std::vector<char> per_warp(flow.nodes.size(), 0);  // some warps may come here and others not
  std::vector<char> spread(flow.nodes.size(), 0);    // branches whose influence is in per_warp already
  find_waits(flow, s.divergent);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < flow.nodes.size(); ++b) {
      const Node& node = flow.nodes[b];
      for (uint32_t k = node.begin; k < node.end; ++k) {
        const vm::Insn& i = flow.code->insns[k];
        for (const Slot& slot : flow.slots[k]) {
          if (!slot.written) continue;
          const auto v = flow.variable(slot.at);
          if (!v) continue;
          Shape r = s.written(i, slot);
          if (r.unset) continue;
          if (r.stride != 0 && without_shapes) r = vector_shape();
          if (r.runs && without_uniform && flow.variables[*v].bytes != 0) r = vector_shape();
          if (i.guard >= 0) {
            const Shape g = s.source(i.guard, 0);
            if (g.unset) continue;
            if (!g.uniform()) r = vector_shape();
            else if (g.reach == Reach::Warp) r = of_warp(r);
          }
          if (per_warp[b]) r = of_warp(r);
          if (r.runs && s.needs_blend(b, *v)) r = vector_shape();
          if (flow.variables[*v].bytes == 16) r = vector_shape();
          if (flow.nodes[0].live_in.has(*v)) r.known = false, r.number = 0;  // on some way nothing is written before it is read
          if (flow.variables[*v].bytes == 0 && !r.uniform()) r = vector_shape();
          r = join(s.variables[*v], r);
          if (!(r == s.variables[*v])) {
            s.variables[*v] = r;
            changed = true;
          }
        }
      }
      Shape way = uniform_shape(Reach::Block);
      if ((node.ends == End::Branch || node.ends == End::Leave) && node.last->guard >= 0) way = s.source(node.last->guard, 0);
      if (node.ends == End::Table) way = s.source(node.last->op[0], 4);
      if (way.unset || decides[b]) continue;
      const bool divergent = !way.uniform();
      if (divergent && !s.divergent[b]) {
        s.divergent[b] = 1;
        changed = true;
      }
      if (barriers && (divergent || way.reach == Reach::Warp) && !spread[b] && node.next.size() > 1) {
        spread[b] = 1;
        changed = true;
        influence(flow, b).each([&](size_t n) { per_warp[n] = 1; });
      }
    }
    if (changed) {
      find_waits(flow, s.divergent);
      continue;
    }
    // What is never written may be anything, and so may what is computed from it.
    for (Shape& v : s.variables)
      if (v.unset) {
        v = vector_shape();
        changed = true;
      }
  }
  find_loose(s);
}

}  // namespace warpbeam::jit
