#include "jit/lane_loops.h"

#include <algorithm>
#include <optional>

#include "jit/runtime.h"

namespace warpbeam::jit {
namespace {

using isa::Kind;
using isa::Space;

struct Cost {
  int gathers = 0, accesses = 0, instructions = 0;
  int most_lanes() const {
    const int vector = 60 * gathers + 3 * instructions, lane = (instructions + 5 * accesses) / 3 + 1;
    return gathers == 0 ? 0 : std::min(vector / lane, 32);
  }
};

bool varies(const Flow& flow, const Shapes& shapes, const Slot& s) {
  const Source source = flow.source(s.at, s.bytes);
  return source.kind == SourceKind::Special && !shapes.special(*source.special).uniform();
}

// May the instruction run for one lane alone? What other lanes see of it must not depend on when they look.
bool lonely(const Flow& flow, const Shapes& shapes, const vm::Insn& i, const std::vector<Slot>& slots, const Bits& written, Cost& cost) {
  if (i.silent() || i.step == vm::Step::Branch) return true;
  if (i.effects().varies) return false;
  for (const Slot& s : slots)
    if (s.bytes == 16 || varies(flow, shapes, s)) return false;
  ++cost.instructions;
  if (i.step == vm::Step::NotPred) return true;
  const isa::Row* row = i.row();
  if (!row || !shapes.has_ir(i) || flow.cell_access(i) || flow.fixed_local.contains(&i)) return false;
  if (row->effects.pure()) return true;
  if (row->kind != Kind::Memory) return false;
  const isa::Mods& m = i.mods();
  if (row->cls == isa::Class::Load && i.op[1] < 0 && (m.space == Space::Param || m.space == Space::ParamEntry)) return true;
  if (!is_weak_access(i)) return false;
  const int total = isa::bytes_of(i.type()) * (i.list ? i.count : 1);
  if (isa::bytes_of(i.type()) > 8 || total > 16 || (total & (total - 1)) || (m.space == Space::Generic && flow.local_escapes)) return false;
  ++cost.accesses;
  const Source address = i.op[1] < 0 ? Source{} : flow.source(i.op[1], i.base_width);
  const bool gather = address.kind == SourceKind::Variable && shapes.variables[address.variable].vector();
  cost.gathers += gather;
  if (row->cls == isa::Class::Load)
    return m.space == Space::Global || m.space == Space::Const || m.space == Space::Generic || m.space == Space::Shared;
  // A store of a value that is the same whoever writes it, and whenever.
  if (m.space != Space::Global && m.space != Space::Generic) return false;
  for (const Slot& s : slots) {
    if (s.at == i.op[1] || s.at == i.guard) continue;
    const Source v = flow.source(s.at, s.bytes);
    if (v.kind == SourceKind::Constant) continue;
    if (v.kind != SourceKind::Variable || !shapes.variables[v.variable].uniform() || written.has(v.variable)) return false;
  }
  return true;
}

// The nodes from `head` to `latch` as a loop, or as several with what is between them; none: they do not lend themselves.
std::optional<LaneLoop> describe(const Flow& flow, const Shapes& shapes, const std::vector<Region>& regions,
                                 const std::vector<int>& region_of, uint32_t head, uint32_t latch) {
  const std::optional<LoopBody> body = loop_body(flow, shapes, regions, region_of, head, latch);
  if (!body || !body->parts) return std::nullopt;
  LaneLoop l{head, latch, 0, {}, {}, body->targets};
  bool fine = true;
  const auto& [used, written, seen_after, targets, parts] = *body;
  Cost cost;
  for (uint32_t b = head; b <= latch; ++b)
    for (uint32_t k = flow.nodes[b].begin; k < flow.nodes[b].end; ++k)
      if (!lonely(flow, shapes, flow.code->insns[k], flow.slots[k], written, cost)) return std::nullopt;
  l.most_lanes = cost.most_lanes();
  // Only the lanes that ran see what they wrote; lanes that wait elsewhere keep their values.
  written.each([&](size_t v) {
    if (!seen_after.has(v)) return;
    if (shapes.variables[v].vector()) l.results.push_back(static_cast<uint32_t>(v));
    else fine = false;
  });
  used.each([&](size_t v) { l.variables.push_back(static_cast<uint32_t>(v)); });
  if (!fine || l.most_lanes == 0) return std::nullopt;
  return l;
}

// Of several loops at once: a lane that has run them alone waits behind them all, while others, which went as a vector, are
// still between them. Lanes that stay together would have met there, so nobody reckons with it.
bool waits_behind(Flow& flow, const LaneLoop& l) {
  const auto each_node = [&](auto f) { return std::all_of(flow.nodes.begin() + l.head, flow.nodes.begin() + l.latch + 1, f); };
  const auto has_room = [&](const Node& node) {
    size_t waiting = 1 + l.targets.size();
    node.waits.each([&](size_t) { ++waiting; });
    return waiting <= kMostPending;
  };
  if (std::ranges::any_of(l.targets, [&](uint32_t t) { return t < l.head; }) || !each_node(has_room)) return false;
  return each_node([&](Node& node) {
    for (uint32_t t : l.targets) node.waits.add(t);
    return true;
  });
}

}  // namespace

std::optional<LoopBody> loop_body(const Flow& flow, const Shapes& shapes, const std::vector<Region>& regions,
                                  const std::vector<int>& region_of, uint32_t head, uint32_t latch) {
  const size_t variables = flow.variables.size();
  LoopBody l{Bits(variables), Bits(variables), Bits(variables), {}, false};
  bool fine = true;
  const auto within = [&](uint32_t b) { return b >= head && b <= latch; };
  for (uint32_t b = 0; b < flow.nodes.size() && fine; ++b) {
    const Node& node = flow.nodes[b];
    for (uint32_t s : node.next) {
      if (!within(b) && within(s) && s != head) fine = false;
      if (within(b) && !within(s)) {
        l.seen_after.add(flow.nodes[s].live_in);
        l.parts = l.parts || shapes.divergent[b];
        if (std::ranges::find(l.targets, s) == l.targets.end()) l.targets.push_back(s);
      }
    }
    if (!within(b)) continue;
    fine = fine && ((node.ends == End::Fall && node.next.size() == 1) || (node.ends == End::Branch && node.next.size() == 2)) &&
           region_of[b] == region_of[head];
    for (const Region& r : regions) fine = fine && r.exit_node != static_cast<int32_t>(b) && (b == head || r.entry != b);
    for (uint32_t k = node.begin; k < node.end; ++k)
      for (const Slot& s : flow.slots[k])
        if (const auto v = flow.variable(s.at)) {
          l.used.add(*v);
          if (s.written) l.written.add(*v);
        }
  }
  if (!fine || l.targets.empty()) return std::nullopt;
  return l;
}

std::vector<int> regions_of_nodes(const Flow& flow, const std::vector<Region>& regions) {
  std::vector<int> region_of(flow.nodes.size(), -1);
  for (size_t r = 0; r < regions.size(); ++r)
    for (uint32_t b : regions[r].nodes) region_of[b] = static_cast<int>(r);
  return region_of;
}

int32_t latch_of(const Flow& flow, uint32_t head) {
  int32_t latch = -1;
  for (uint32_t b = head; b < flow.nodes.size(); ++b)
    for (uint32_t s : flow.nodes[b].next)
      if (s == head) latch = static_cast<int32_t>(b);
  return latch;
}

std::vector<LaneLoop> find_lane_loops(Flow& flow, const Shapes& shapes, const std::vector<Region>& regions) {
  std::vector<LaneLoop> loops;
  const uint32_t n = static_cast<uint32_t>(flow.nodes.size());
  const std::vector<int> region_of = regions_of_nodes(flow, regions);
  for (uint32_t head = 0; head < n; ++head) {
    const int32_t last = latch_of(flow, head);
    if (last < 0) continue;
    const uint32_t latch = static_cast<uint32_t>(last);
    std::optional<LaneLoop> found = describe(flow, shapes, regions, region_of, head, latch);
    if (!found) continue;
    // Loops that follow each other, as unrolling makes them, are better run through at once: from where the ways to them part.
    if (!loops.empty() && loops.back().latch < head) {
      constexpr uint32_t kFurthest = 4;
      const uint32_t before = loops.back().head;
      for (uint32_t from = before; from + kFurthest >= before; --from) {
        std::optional<LaneLoop> both = describe(flow, shapes, regions, region_of, from, latch);
        if (both && waits_behind(flow, *both)) {
          found = std::move(both);
          loops.pop_back();
          break;
        }
        if (from == 0) break;
      }
    }
    loops.push_back(std::move(*found));
  }
  return loops;
}

}  // namespace warpbeam::jit
