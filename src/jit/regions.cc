// Idea: barriers cut a kernel into regions that each warp of the block runs through before the next one begins. Precondition: all ways
// from a region's first block end at one place: a barrier, or a decision that the whole block takes together because barriers depend on
// it. Postcondition: no region is left but there. Fallback: warps on stacks of their own (turns.h).
#include <algorithm>
#include <set>

#include "jit/flow.h"
#include "isa/parameters.h"

namespace warpbeam::jit {
namespace {

class Cutter {
 public:
  explicit Cutter(const Flow& flow) : flow_(flow), entry_(flow.nodes.size()), decides_(flow.nodes.size()), owner_(flow.nodes.size()) {}

  std::optional<std::vector<Region>> run(std::string& why) {
    entry_[0] = 1;
    for (const Node& node : flow_.nodes)
      if (node.ends == End::Barrier)
        for (uint32_t s : node.next) entry_[s] = 1;
    auto regions = cut(why);
    for (uint32_t b = 0; b < flow_.nodes.size() && regions; ++b) {
      if (!flow_.nodes[b].awaited || entry_[b] || owner_[b] < 0) continue;
      if (!all_come_by(b)) {
        why = "warps wait for barriers in memory in their own ways";
        return std::nullopt;
      }
      entry_[b] = 1;
      regions = cut(why);
    }
    if (!regions) return regions;
    bool again = false;
    for (uint32_t b = 0; b < flow_.nodes.size(); ++b)
      if (flow_.nodes[b].apart && !entry_[b] && owner_[b] >= 0 && all_come_to(b)) entry_[b] = again = true;
    std::string in_the_way;
    if (again)
      if (auto finer = cut(in_the_way)) regions = std::move(finer);
    for (const ImplicitSync& m : flow_.implicit_syncs)
      if (auto finer = cut_between(m)) regions = std::move(finer);
    return regions;
  }

 private:
  std::optional<std::vector<Region>> cut(std::string& why) {
    for (;;) {
      if (assign()) continue;
      std::vector<Region> regions;
      bool again = false;
      for (uint32_t e = 0; e < flow_.nodes.size() && !again; ++e) {
        if (!entry_[e]) continue;
        Region region;
        if (!describe(e, region)) {
          if (!split(e)) {
            why = "barriers in control flow that cannot be cut";
            return std::nullopt;
          }
          again = true;
        }
        regions.push_back(std::move(region));
      }
      if (!again) return regions;
    }
  }

  // At the first place between the two that all warps come to.
  std::optional<std::vector<Region>> cut_between(const ImplicitSync& m) {
    if (owner_[m.from] < 0 || owner_[m.from] != owner_[m.to]) return std::nullopt;
    const std::vector<char> behind = after(m.from), before = after(m.to);
    for (uint32_t b = 0; b < flow_.nodes.size(); ++b) {
      if (owner_[b] != owner_[m.from] || !behind[b] || before[b]) continue;
      const std::vector<char> rest = after(b);
      if (rest[m.from] || (b != m.to && !rest[m.to]) || !all_come_to(b)) continue;
      const auto entries = entry_;
      const auto decides = decides_;
      entry_[b] = 1;
      std::string why;
      if (auto regions = cut(why)) return regions;
      entry_ = entries;
      decides_ = decides;
      cut(why);
      return std::nullopt;
    }
    return std::nullopt;
  }

  // Nodes of the same region that come after `n`.
  std::vector<char> after(uint32_t n) const {
    std::vector<char> seen(flow_.nodes.size());
    std::vector<uint32_t> work{n};
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      if (stops(b)) continue;
      for (uint32_t s : flow_.nodes[b].next)
        if (!seen[s] && owner_[s] == owner_[n] && !entry_[s]) {
          seen[s] = 1;
          work.push_back(s);
        }
    }
    return seen;
  }

  // From `work` on, an end of the region of `place` without coming there, or the place itself.
  bool reaches(uint32_t place, std::vector<uint32_t> work, bool end) const {
    const uint32_t e = static_cast<uint32_t>(owner_[place]);
    std::vector<char> seen(flow_.nodes.size());
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      if (b == place && !end) return true;
      if (seen[b] || b == place) continue;
      seen[b] = 1;
      if (end && !exits_of(b, e).empty()) return true;
      if (stops(b)) continue;
      for (uint32_t s : flow_.nodes[b].next)
        if (!entry_[s]) work.push_back(s);
    }
    return false;
  }
  // Every way through the region of `place` that does not leave the kernel comes past it; and just once.
  bool all_come_by(uint32_t place) const {
    return static_cast<int32_t>(place) != owner_[place] && !reaches(place, {static_cast<uint32_t>(owner_[place])}, true);
  }
  bool all_come_to(uint32_t place) const { return all_come_by(place) && !reaches(place, flow_.nodes[place].next, false); }

  bool stops(uint32_t b) const { return flow_.nodes[b].ends == End::Barrier || decides_[b]; }

  // Gives every block to the region it belongs to; true when a block was found that two regions lead to.
  bool assign() {
    std::fill(owner_.begin(), owner_.end(), -1);
    for (uint32_t e = 0; e < flow_.nodes.size(); ++e) {
      if (!entry_[e]) continue;
      std::vector<uint32_t> work{e};
      owner_[e] = static_cast<int32_t>(e);
      while (!work.empty()) {
        const uint32_t b = work.back();
        work.pop_back();
        if (stops(b)) continue;
        for (uint32_t s : flow_.nodes[b].next) {
          if (entry_[s]) continue;
          if (owner_[s] == static_cast<int32_t>(e)) continue;
          if (owner_[s] >= 0) {
            entry_[s] = 1;
            return true;
          }
          owner_[s] = static_cast<int32_t>(e);
          work.push_back(s);
        }
      }
    }
    return false;
  }

  // An exit is the number of a stopping block, or of an entry plus the number of blocks.
  // An edge back to the region's own entry is a loop inside of it, if warps need not meet there.
  std::set<uint32_t> exits_of(uint32_t b, uint32_t e) const {
    const uint32_t n = static_cast<uint32_t>(flow_.nodes.size());
    if (stops(b)) return {b};
    std::set<uint32_t> out;
    for (uint32_t s : flow_.nodes[b].next)
      if (entry_[s] && (s != e || flow_.nodes[s].awaited)) out.insert(s + n);
    return out;
  }

  bool describe(uint32_t e, Region& region) {
    region.entry = e;
    std::set<uint32_t> exits;
    for (uint32_t b = 0; b < flow_.nodes.size(); ++b) {
      if (owner_[b] != static_cast<int32_t>(e)) continue;
      region.nodes.push_back(b);
      exits.merge(exits_of(b, e));
    }
    if (exits.empty()) return true;
    if (exits.size() > 1) return false;
    const uint32_t n = static_cast<uint32_t>(flow_.nodes.size()), x = *exits.begin();
    (x < n ? region.exit_node : region.exit_to) = static_cast<int32_t>(x < n ? x : x - n);
    return true;
  }

  // The region's ways end in different places: the branches on which that depends become decisions of the block.
  bool split(uint32_t e) {
    bool any = false;
    for (uint32_t b = 0; b < flow_.nodes.size(); ++b) {
      const Node& node = flow_.nodes[b];
      if (owner_[b] != static_cast<int32_t>(e) || stops(b) || node.ends != End::Branch) continue;
      std::set<uint32_t> first;
      bool differ = false, have = false;
      for (uint32_t s : node.next) {
        std::set<uint32_t> here = ends_from(s, e);
        if (here.empty()) continue;  // they all leave
        if (have && here != first) differ = true;
        first = std::move(here);
        have = true;
      }
      if (!differ) continue;
      decides_[b] = 1;
      for (uint32_t s : node.next) entry_[s] = 1;
      any = true;
    }
    return any;
  }

  std::set<uint32_t> ends_from(uint32_t s, uint32_t e) const {
    const uint32_t n = static_cast<uint32_t>(flow_.nodes.size());
    if (entry_[s] && (s != e || flow_.nodes[s].awaited)) return {s + n};
    std::set<uint32_t> out;
    std::vector<uint32_t> work{s};
    Bits seen(n);
    seen.add(s);
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      out.merge(exits_of(b, e));
      if (stops(b)) continue;
      for (uint32_t t : flow_.nodes[b].next)
        if (!entry_[t] && owner_[t] == static_cast<int32_t>(e) && !seen.has(t)) {
          seen.add(t);
          work.push_back(t);
        }
    }
    return out;
  }

  const Flow& flow_;
  std::vector<char> entry_, decides_;
  std::vector<int32_t> owner_;
};

}  // namespace

std::optional<std::vector<Region>> find_regions(const Flow& flow, std::string& why) {
  const bool cut = std::any_of(flow.nodes.begin(), flow.nodes.end(), [](const Node& n) { return n.ends == End::Barrier || n.awaited; });
  if (!cut) {  // one region holds everything
    if (!flow.implicit_syncs.empty() && !flow.in_turns)
      if (auto regions = Cutter(flow).run(why)) return regions;
    Region all;
    for (uint32_t b = 0; b < flow.nodes.size(); ++b) all.nodes.push_back(b);
    return std::vector<Region>{all};
  }
  // The first region takes nothing over from another.
  for (const Node& n : flow.nodes)
    if (std::find(n.next.begin(), n.next.end(), 0u) != n.next.end()) {
      why = "a loop with barriers begins at its first instruction";
      return std::nullopt;
    }
  return Cutter(flow).run(why);
}

Bits live_at_exit(const Flow& flow, const Region& r) {
  if (r.exit_to >= 0) return flow.nodes[static_cast<size_t>(r.exit_to)].live_in;
  Bits live(flow.variables.size());
  if (r.exit_node < 0) return live;
  const Node& node = flow.nodes[static_cast<size_t>(r.exit_node)];
  live = node.live_out;
  for (const Slot& s : flow.slots[node.end - 1])
    if (const auto v = flow.variable(s.at); v && s.read) live.add(*v);
  return live;
}

void find_late_nodes(Flow& flow, const std::vector<Region>& regions) {
  for (Node& node : flow.nodes) node.at_end = Bits(flow.variables.size());
  for (const Region& r : regions) {
    if (r.exit_node < 0 && r.exit_to < 0) continue;
    const auto leads_out = [&](uint32_t b) {
      return r.exit_to < 0 ? static_cast<int32_t>(b) == r.exit_node
                           : std::ranges::find(flow.nodes[b].next, static_cast<uint32_t>(r.exit_to)) != flow.nodes[b].next.end();
    };
    const auto first = std::ranges::find_if(r.nodes, leads_out);
    if (first == r.nodes.end()) continue;
    std::vector<uint32_t> late;
    for (uint32_t b : r.nodes)
      if (b > *first && static_cast<int32_t>(b) > r.exit_to) late.push_back(b);
    std::vector<char> seen(flow.nodes.size());
    const Bits live = live_at_exit(flow, r);
    while (!late.empty()) {
      const uint32_t b = late.back();
      late.pop_back();
      if (seen[b] || !std::ranges::binary_search(r.nodes, b)) continue;
      seen[b] = 1;
      flow.nodes[b].at_end = live;
      if (static_cast<int32_t>(b) != r.exit_node) late.insert(late.end(), flow.nodes[b].next.begin(), flow.nodes[b].next.end());
    }
  }
}

namespace {

bool shows(const Flow& flow, const vm::Insn& i) {
  if (i.call) return !flow.is_library_call(i);
  if (!i.row() || i.row()->effects.pure()) return false;
  const isa::Space space = i.mods().space;
  const bool parameter = is_parameter(space);
  switch (i.row()->kind) {
    case isa::Kind::Memory: return i.row()->cls != isa::Class::Misc && !parameter;
    case isa::Kind::Barrier: return !i.row()->effects.waits;
    default: return i.watched != vm::Watched::Plain;
  }
}

}  // namespace

std::string find_reordering(const Flow& flow, const std::vector<Region>& regions) {
  std::vector<char> shown(flow.nodes.size());     // by node at which a region begins
  std::vector<const Region*> at(flow.nodes.size());
  for (const Region& r : regions) {
    at[r.entry] = &r;
    for (uint32_t b : r.nodes)
      for (uint32_t k = flow.nodes[b].begin; k < flow.nodes[b].end; ++k) shown[r.entry] |= shows(flow, flow.code->insns[k]);
  }
  const auto following = [&](const Region& r) -> std::vector<uint32_t> {
    if (r.exit_to >= 0) return {static_cast<uint32_t>(r.exit_to)};
    if (r.exit_node < 0 || flow.nodes[static_cast<size_t>(r.exit_node)].ends == End::Barrier) return {};
    return flow.nodes[static_cast<size_t>(r.exit_node)].next;
  };
  for (const Region& r : regions) {
    if (!shown[r.entry]) continue;
    std::vector<char> seen(flow.nodes.size());
    std::vector<uint32_t> work = following(r);
    while (!work.empty()) {
      const uint32_t next = work.back();
      work.pop_back();
      if (seen[next] || !at[next]) continue;
      seen[next] = 1;
      if (shown[next]) return "accesses before and after a decision of the whole block would change their order";
      for (uint32_t n : following(*at[next])) work.push_back(n);
    }
  }
  return "";
}

}  // namespace warpbeam::jit
