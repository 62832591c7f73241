#include "jit/uniform_plus_pattern.h"

#include <algorithm>

#include "jit/runtime_stride.h"

namespace warpbeam::jit {
namespace {

using isa::Kind;

constexpr int64_t kMostStride = 1 << 10;  // of what is added, so that patterns stay numbers of 32 bits

bool is_single(const vm::Insn& i) { return i.row() && !i.list; }

class UniformPlusPatterns {
 public:
  UniformPlusPatterns(const Flow& flow, const Shapes& shapes) : flow_(flow), shapes_(shapes), reach_(flow.variables.size()) {}

  std::vector<char> run(const std::vector<Region>& regions, const std::vector<LaneLoop>& loops) {
    Bits kept(flow_.variables.size());
    for (const Region& r : regions) kept.add(flow_.nodes[r.entry].live_in);
    for (const LaneLoop& l : loops)
      for (uint32_t v : l.variables) kept.add(v);
    std::vector<uint32_t> writes(flow_.variables.size());
    for (const std::vector<Slot>& slots : flow_.slots)
      for (const Slot& s : slots)
        if (const auto v = flow_.variable(s.at); s.written && v) ++writes[*v];
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t n = 0; n < flow_.nodes.size(); ++n)
        for (uint32_t k = flow_.nodes[n].begin; k < flow_.nodes[n].end; ++k) {
          const vm::Insn& i = flow_.code->insns[k];
          if (!is_single(i) || i.guard >= 0 || i.op[0] < 0) continue;
          const auto v = flow_.variable(i.op[0]);
          if (!v || reach_[*v] || writes[*v] != 1 || kept.has(*v)) continue;
          const Width bytes = flow_.variables[*v].bytes;
          if (i.op[0] >= kParamKeys || (bytes != 4 && bytes != 8) || shapes_.variables[*v].runs != 0) continue;
          if (i.op[5] >= 0 || shapes_.needs_blend(n, *v) || !shapes_.has_ir(i)) continue;
          reach_[*v] = reach(i);
          changed = changed || reach_[*v];
        }
    }
    std::vector<char> all;
    for (int64_t r : reach_) all.push_back(r != 0);
    return made_into_addresses(flow_, all);
  }

 private:
  // How far the pattern may reach to either side; 0: it is no such value.
  int64_t of(int32_t at, Width bytes) const {
    const Source s = flow_.source(at, bytes);
    return s.kind == SourceKind::Variable ? reach_[s.variable] : 0;
  }
  // The same of what is no spread but is as good: known strides.
  bool part(int32_t at, Width bytes, int64_t& reach) const {
    reach = of(at, bytes);
    if (reach) return true;
    const Shape s = shapes_.source(at, bytes);
    reach = lends_low_bits(s, bytes) ? 31 : std::abs(s.stride) * 31;
    return s.runs == 1 && std::abs(s.stride) <= kMostStride;
  }
  bool constant(int32_t at, Width bytes, int64_t& value) const {
    const Source s = flow_.source(at, bytes);
    value = bytes == 4 ? static_cast<int32_t>(s.bits) : static_cast<int64_t>(s.bits);
    return s.kind == SourceKind::Constant && std::abs(value) <= kMostStride;
  }
  static int64_t small(int64_t reach) { return reach <= 1 << 20 ? reach : 0; }

  int64_t reach(const vm::Insn& i) const {
    if (spreading_mask(flow_, shapes_, i)) return 31;
    const isa::Row& row = *i.source->form.row;
    const isa::Mods& m = i.mods();
    const isa::Type t = i.type();
    if (isa::is_float(t) || t == isa::Type::Pred || m.sat) return 0;
    const Width bytes = static_cast<Width>(isa::bytes_of(t));
    int64_t a = 0, c = 0, k = 0;
    if (row.kind == Kind::Move || row.kind == Kind::Address) return bytes == 4 || bytes == 8 ? of(i.op[1], bytes) : 0;
    if (row.kind == Kind::Convert) {
      const isa::Type from = i.source->form.atype;
      const bool wide = !isa::is_float(from) && bytes == 8 && isa::bytes_of(from) == 4 && i.width == bytes && i.count == 4;
      return wide && shapes_.counts_on(i.op[1]) ? of(i.op[1], 4) : 0;
    }
    if (row.kind != Kind::Lane || (bytes != 4 && bytes != 8)) return 0;
    const bool lo = half_of(i) == isa::Half::Lo, wide = widens(i);
    if ((row.op == isa::Opcode::Add || row.op == isa::Opcode::Sub) && row.types.size() > 2) {
      if (!of(i.op[1], bytes) && !of(i.op[2], bytes)) return 0;
      return part(i.op[1], bytes, a) && part(i.op[2], bytes, c) ? small(a + c) : 0;
    }
    if (row.op == isa::Opcode::Shl) return constant(i.op[2], 4, k) && k >= 0 && k <= 8 ? small(of(i.op[1], bytes) << k) : 0;
    if ((row.op != isa::Opcode::Mul && row.op != isa::Opcode::Mad) || (!lo && !wide) ||
        (wide && (!shapes_.counts_on(i.op[1]) || bytes != 4)))
      return 0;
    if (!constant(i.op[2], bytes, k) || !of(i.op[1], bytes) || (wide && k < 0)) return 0;
    const int64_t product = small(of(i.op[1], bytes) * std::abs(k));
    if (row.op == isa::Opcode::Mul || !product) return product;
    return part(i.op[3], wide ? 8 : bytes, c) ? small(product + c) : 0;
  }

  const Flow& flow_;
  const Shapes& shapes_;
  std::vector<int64_t> reach_;
};

}  // namespace

int spreading_mask(const Flow& flow, const Shapes& shapes, const vm::Insn& i) {
  if (!is_single(i) || !(i.is(isa::Opcode::And) || i.is(isa::Opcode::Or) || i.is(isa::Opcode::Xor))) return 0;
  if (i.type() == isa::Type::Pred || isa::bytes_of(i.type()) != 4) return 0;
  for (int k = 1; k <= 2; ++k) {
    const Shape mask = shapes.source(i.op[k], 4), x = shapes.source(i.op[3 - k], 4);
    if (mask.uniform() && x.runs == 1 && x.stride == 1 && x.align >= 5) return k;
  }
  return 0;
}

bool lends_low_bits(const Shape& s, Width bytes) { return bytes == 4 && s.one_value(); }

std::vector<char> find_uniform_plus_patterns(const Flow& flow, const Shapes& shapes, const std::vector<Region>& regions,
                                             const std::vector<LaneLoop>& loops) {
  return UniformPlusPatterns(flow, shapes).run(regions, loops);
}

}  // namespace warpbeam::jit
