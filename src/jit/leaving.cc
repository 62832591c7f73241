// Idea: lanes that leave a kernel early, as in `if (i >= n) return;`, mostly go to the same `ret` as those that come to its end, and
// barriers stand between. Code that leads out of the kernel without a barrier belongs to whichever region comes there, so a branch
// to it from where others go on to a barrier gets nodes of its own, which are of the same instructions.
// Precondition: a few instructions, none of which lanes meet at. Postcondition: such nodes follow the ones that they repeat, so the
// order in which lanes run is the same. Fallback: the branch is a decision of the whole block (regions.cc).
#include <algorithm>

#include "jit/flow.h"

namespace warpbeam::jit {
namespace {

constexpr uint32_t kMostRepeated = 60;  // instructions
constexpr size_t kMostNodes = 400;      // that are added

using Nodes = std::vector<char>;

Nodes before_barriers(const Flow& flow) {
  Nodes before(flow.nodes.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = flow.nodes.size(); b-- > 0;) {
      const Node& node = flow.nodes[b];
      const bool is = node.ends == End::Barrier ||
                      std::ranges::any_of(node.next, [&](uint32_t s) { return before[s] || flow.nodes[s].apart || flow.nodes[s].awaited; });
      if (is && !before[b]) before[b] = changed = true;
    }
  }
  return before;
}

// What follows `start`; empty: too long, or lanes meet there.
std::vector<uint32_t> follows(const Flow& flow, uint32_t start) {
  std::vector<uint32_t> all{start};
  uint32_t instructions = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    const Node& node = flow.nodes[all[k]];
    if ((instructions += node.end - node.begin) > kMostRepeated) return {};
    for (uint32_t i = node.begin; i < node.end; ++i) {
      const vm::Insn& insn = flow.code->insns[i];
      if (insn.call || insn.watched == vm::Watched::WarpSync) return {};
    }
    for (uint32_t s : node.next)
      if (std::ranges::find(all, s) == all.end()) all.push_back(s);
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace

void split_early_leaves(Flow& flow, const EarlyLeaves& branches) {
  struct Split {
    uint32_t branch;
    size_t way;
    std::vector<uint32_t> nodes;
  };
  const Nodes before = before_barriers(flow);
  std::vector<std::vector<uint32_t>> comes_from(flow.nodes.size());
  for (uint32_t b = 0; b < flow.nodes.size(); ++b)
    for (uint32_t s : flow.nodes[b].next) comes_from[s].push_back(b);
  std::vector<Split> splits;
  std::vector<uint32_t> added(flow.nodes.size());  // by node: how many repeat it
  size_t all_added = 0;
  for (uint32_t b = 0; b < flow.nodes.size(); ++b) {
    const Node& node = flow.nodes[b];
    if (!before[b] || node.ends != End::Branch || !branches.contains(node.last)) continue;
    for (size_t way = 0; way < node.next.size(); ++way) {
      const uint32_t to = node.next[way];
      if (before[to] || flow.nodes[to].apart) continue;
      std::vector<uint32_t> nodes = follows(flow, to);
      const auto from_elsewhere = [&](uint32_t n) {
        return std::ranges::any_of(comes_from[n], [&](uint32_t from) { return from != b && !std::ranges::binary_search(nodes, from); });
      };
      if (nodes.empty() || std::ranges::none_of(nodes, from_elsewhere) || (all_added += nodes.size()) > kMostNodes) continue;
      for (uint32_t n : nodes) ++added[n];
      splits.push_back({b, way, std::move(nodes)});
    }
  }
  if (splits.empty()) return;
  std::vector<uint32_t> place(flow.nodes.size());  // of the ones that there were
  uint32_t next = 0;
  for (size_t b = 0; b < place.size(); ++b) {
    place[b] = next;
    next += 1 + added[b];
  }
  std::vector<Node> all(next);
  const auto moved = [&](Node node) {
    for (uint32_t& s : node.next) s = place[s];
    return node;
  };
  for (size_t b = 0; b < place.size(); ++b) all[place[b]] = moved(flow.nodes[b]);
  std::vector<uint32_t> taken(flow.nodes.size());
  for (const Split& split : splits) {
    std::vector<uint32_t> copy(flow.nodes.size());
    for (uint32_t n : split.nodes) copy[n] = place[n] + ++taken[n];
    for (uint32_t n : split.nodes) {
      Node& node = all[copy[n]];
      node = flow.nodes[n];
      for (uint32_t& s : node.next) s = copy[s];
    }
    all[place[split.branch]].next[split.way] = copy[flow.nodes[split.branch].next[split.way]];
  }
  flow.nodes = std::move(all);
  for (int32_t& n : flow.node_at)
    if (n >= 0) n = static_cast<int32_t>(place[static_cast<size_t>(n)]);
}

namespace {

// The only instruction that writes the register, if there is one.
const vm::Insn* only_writer(const Flow& flow, uint32_t variable) {
  const vm::Insn* writer = nullptr;
  for (size_t k = 0; k < flow.slots.size(); ++k)
    for (const Slot& s : flow.slots[k])
      if (s.written && flow.variable(s.at) == variable) {
        if (writer) return nullptr;
        writer = &flow.code->insns[k];
      }
  return writer;
}

bool is_thread_x(const Flow& flow, int32_t at) {
  Source s = flow.source(at, 4);
  if (s.kind == SourceKind::Variable) {
    const vm::Insn* i = only_writer(flow, s.variable);
    if (!i || i->guard >= 0 || i->call || !known_row(*i) || i->row()->kind != isa::Kind::Move || i->op[1] < 0) return false;
    s = flow.source(i->op[1], 4);
  }
  return s.kind == SourceKind::Special && s.special->kind == vm::SlotKind::Special && s.special->special == isa::Special::Tid &&
         s.special->component == 0;
}

struct Threads {
  int64_t first = 0, last = 0;
  bool of_one_warp() const { return first > last || first / vm::kWarpSize == last / vm::kWarpSize; }
};

// Those of `threads` that go the way from `node`, as far as its branch compares threadIdx.x with a constant.
Threads narrowed(const Flow& flow, const Node& node, size_t way, Threads threads) {
  if (node.ends != End::Branch || node.last->guard < 0) return threads;
  const Source guard = flow.source(node.last->guard, 0);
  const vm::Insn* i = guard.kind == SourceKind::Variable ? only_writer(flow, guard.variable) : nullptr;
  if (!i || i->guard >= 0 || i->call || !known_row(*i) || i->row()->kind != isa::Kind::Compare ||
      i->row()->operands.list[0].fixed != isa::Type::Pred || i->op[5] >= 0)
    return threads;
  if (i->op[3] >= 0 || isa::is_float(i->type()) || isa::bytes_of(i->type()) != 4 || !is_thread_x(flow, i->op[1])) return threads;
  const Source bound = flow.source(i->op[2], 4);
  if (bound.kind != SourceKind::Constant) return threads;
  const int64_t c = isa::is_signed(i->type()) ? int64_t{static_cast<int32_t>(bound.bits)} : int64_t{static_cast<uint32_t>(bound.bits)};
  const bool holds = (way == 0) != node.last->guard_negated;
  using isa::Cmp;
  Cmp cmp = i->mods().cmp;
  if (!holds) {
    switch (cmp) {
      case Cmp::Eq: cmp = Cmp::Ne; break;
      case Cmp::Ne: cmp = Cmp::Eq; break;
      case Cmp::Lt:
      case Cmp::Lo: cmp = Cmp::Ge; break;
      case Cmp::Le:
      case Cmp::Ls: cmp = Cmp::Gt; break;
      case Cmp::Gt:
      case Cmp::Hi: cmp = Cmp::Le; break;
      case Cmp::Ge:
      case Cmp::Hs: cmp = Cmp::Lt; break;
      default: return threads;
    }
  }
  switch (cmp) {
    case Cmp::Eq: return {std::max(threads.first, c), std::min(threads.last, c)};
    case Cmp::Lt:
    case Cmp::Lo: return {threads.first, std::min(threads.last, c - 1)};
    case Cmp::Le:
    case Cmp::Ls: return {threads.first, std::min(threads.last, c)};
    case Cmp::Gt:
    case Cmp::Hi: return {std::max(threads.first, c + 1), threads.last};
    case Cmp::Ge:
    case Cmp::Hs: return {std::max(threads.first, c), threads.last};
    default: return threads;
  }
}

}  // namespace

void forget_reads_of_one_warp(Flow& flow, const std::array<uint32_t, 3>& block) {
  if (block[1] * block[2] != 1) return;
  std::vector<std::vector<uint32_t>> comes_from(flow.nodes.size());
  for (uint32_t b = 0; b < flow.nodes.size(); ++b)
    for (uint32_t s : flow.nodes[b].next) comes_from[s].push_back(b);
  for (uint32_t b = 0; b < flow.nodes.size(); ++b) {
    if (!flow.nodes[b].apart) continue;
    Threads threads{0, int64_t{block[0]} - 1};
    std::vector<char> seen(flow.nodes.size());
    for (uint32_t at = b; comes_from[at].size() == 1 && !seen[at]; at = comes_from[at][0]) {
      seen[at] = 1;
      const Node& from = flow.nodes[comes_from[at][0]];
      if (from.next.size() == 2) threads = narrowed(flow, from, from.next[1] == at, threads);
    }
    if (threads.of_one_warp()) flow.nodes[b].apart = false;
  }
}

}  // namespace warpbeam::jit
