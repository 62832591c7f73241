#include "jit/guesses.h"

#include <algorithm>

#include "jit/runtime_stride.h"
#include "jit/uniform_plus_pattern.h"

namespace warpbeam::jit {
namespace {

using isa::Kind;

constexpr uint32_t kWarp = 32;
constexpr size_t kMostInstructions = 600, kMostOfRegion = 150;  // of which there are two versions

// x - 1
bool one_less(const Flow& flow, const vm::Insn& i) {
  const bool adds = i.is(isa::Opcode::Add);
  if ((!adds && !i.is(isa::Opcode::Sub)) || i.row()->kind != Kind::Lane) return false;
  const Source by = flow.source(i.op[2], 4);
  return by.kind == SourceKind::Constant && static_cast<uint32_t>(by.bits) == (adds ? ~0u : 1u);
}

std::vector<LowBits> find_guesses(const Flow& flow) {
  std::vector<LowBits> out(flow.variables.size(), LowBits::Unknown);
  std::vector<char> other(flow.variables.size());
  for (size_t v = 0; v < out.size(); ++v)
    if (flow.variables[v].bytes == 4 && flow.variables[v].at < kParamKeys) out[v] = LowBits::Zeros;
  for (size_t k = 0; k < flow.slots.size(); ++k)
    for (const Slot& s : flow.slots[k]) {
      const auto v = flow.variable(s.at);
      if (!s.written || !v || out[*v] == LowBits::Unknown) continue;
      const vm::Insn& i = flow.code->insns[k];
      if (one_less(flow, i) && !other[*v]) out[*v] = LowBits::Ones;
      else other[*v] = 1, out[*v] = LowBits::Zeros;
    }
  return out;
}

// Settles the shapes, and leaves what the flow knows of waiting lanes as it is.
void settle(OtherShapes& other, Flow& flow, const std::vector<char>& decides, bool barriers) {
  std::vector<Bits> waits;
  for (Node& node : flow.nodes) waits.push_back(node.waits);
  settle_shapes(other.shapes, flow, decides, barriers);
  for (size_t n = 0; n < flow.nodes.size(); ++n) {
    other.waits.push_back(std::move(flow.nodes[n].waits));
    flow.nodes[n].waits = std::move(waits[n]);
  }
}

}  // namespace

std::unique_ptr<OtherShapes> pack_shapes(Flow& flow, const Shapes& shapes, const std::vector<char>& decides) {
  const auto& [x, y, z] = shapes.block;
  const uint32_t threads = x * y * z;
  if (threads != 1 && threads != 8 && threads != 16) return nullptr;
  auto p = std::make_unique<OtherShapes>();
  p->shapes = shapes;
  p->shapes.packed = kWarp / threads;
  std::ranges::fill(p->shapes.variables, Shape{});
  settle(*p, flow, decides, false);
  p->slopes.assign(flow.variables.size(), 0);
  p->spreads = p->slopes;
  return p;
}

std::unique_ptr<OtherShapes> guess_shapes(Flow& flow, const Shapes& shapes, const std::vector<Region>& regions,
                                          const std::vector<char>& decides, bool barriers, const std::vector<LaneLoop>& loops) {
  if (flow.code->insns.size() > kMostInstructions || !loops.empty()) return nullptr;
  auto g = std::make_unique<OtherShapes>();
  g->shapes = shapes;
  g->shapes.guesses = find_guesses(flow);
  const auto guessed = [&](const vm::Insn& i) { return g->shapes.guessed_operand(i) > 0; };
  if (std::ranges::none_of(flow.code->insns, guessed)) return nullptr;

  Bits shared(flow.variables.size());
  for (const Region& r : regions) {
    if (r.entry != 0) shared.add(flow.nodes[r.entry].live_in);
    shared.add(live_at_exit(flow, r));
  }
  for (size_t v = 0; v < flow.variables.size(); ++v)
    if (!shared.has(v)) g->shapes.variables[v] = Shape{};
  settle(*g, flow, decides, barriers);
  g->slopes = find_runtime_strides(flow, g->shapes, regions, loops);
  g->spreads = find_uniform_plus_patterns(flow, g->shapes, regions, loops);
  // What outlives regions must look the same.
  bool same = g->shapes.loose == shapes.loose;
  shared.each([&](size_t v) { same = same && g->shapes.variables[v] == shapes.variables[v]; });
  return same ? std::move(g) : nullptr;
}

GuessedMasks guessed_masks(const Flow& flow, const Region& region, const Shapes& guessed) {
  GuessedMasks out;
  // How often the region writes a variable, and where a straight way from its entry does.
  std::vector<uint32_t> writes(flow.variables.size());
  size_t size = 0;
  const auto each_written = [&](uint32_t k, auto f) {
    for (const Slot& s : flow.slots[k])
      if (const auto v = flow.variable(s.at); s.written && v) f(*v);
  };
  for (uint32_t n : region.nodes)
    for (uint32_t k = flow.nodes[n].begin; k < flow.nodes[n].end; ++k) {
      each_written(k, [&](uint32_t v) { ++writes[v]; });
      if (const vm::Insn& i = flow.code->insns[k]; const int operand = guessed.guessed_operand(i)) {
        const uint32_t v = flow.source(i.op[operand], 4).variable;
        out.masks.push_back({i.op[operand], guessed.guesses[v] == LowBits::Ones});
      }
      ++size;
    }
  if (size > kMostOfRegion) out.masks.clear();
  if (out.masks.empty()) return out;
  std::vector<uint32_t> way;
  std::vector<char> seen(flow.nodes.size());
  for (uint32_t n = region.entry; !seen[n];) {
    seen[n] = 1;
    const Node& node = flow.nodes[n];
    for (uint32_t k = node.begin; k < (node.last ? node.end - 1 : node.end); ++k) way.push_back(k);
    if (node.ends != End::Fall || node.next.empty()) break;
    n = node.next[0];
    if (std::ranges::find(region.nodes, n) == region.nodes.end()) break;
  }
  Bits wanted(flow.variables.size());
  for (const Mask& m : out.masks) wanted.add(flow.source(m.at, 4).variable);
  for (size_t k = way.size(); k-- > 0;) {
    bool makes = false;
    each_written(way[k], [&](uint32_t v) { makes = makes || wanted.has(v); });
    if (!makes) continue;
    out.makes.push_back(way[k]);
    for (const Slot& s : flow.slots[way[k]]) {
      const auto v = flow.variable(s.at);
      if (!v) continue;
      if (s.written && writes[*v] == 1) writes[*v] = 0;  // found: the one place that writes it
      if (s.read) wanted.add(*v);
    }
  }
  std::ranges::reverse(out.makes);
  bool found = true;
  wanted.each([&](size_t v) { found = found && writes[v] == 0; });
  if (!found) out.masks.clear();
  return out;
}

}  // namespace warpbeam::jit
