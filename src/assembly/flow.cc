#include "assembly/flow.h"

#include <algorithm>

namespace warpbeam::assembly {
namespace {

Edges reversed(const Edges& edges) {
  Edges out(edges.size());
  for (uint32_t b = 0; b < edges.size(); ++b)
    for (uint32_t s : edges[b]) out[s].push_back(b);
  return out;
}

// Blocks such that a block comes behind what leads to it, loops aside.
std::vector<uint32_t> reverse_post_order(const Edges& successors, uint32_t root) {
  std::vector<uint32_t> out;
  std::vector<char> seen(successors.size());
  std::vector<std::pair<uint32_t, size_t>> path{{root, 0}};
  seen[root] = 1;
  while (!path.empty()) {
    auto& [b, next] = path.back();
    if (next < successors[b].size()) {
      const uint32_t s = successors[b][next++];
      if (!seen[s]) {
        seen[s] = 1;
        path.push_back({s, 0});
      }
    } else {
      out.push_back(b);
      path.pop_back();
    }
  }
  std::ranges::reverse(out);
  return out;
}

// Cooper, Harvey and Kennedy: a simple, fast dominance algorithm.
std::vector<uint32_t> dominators(const Edges& predecessors, const std::vector<uint32_t>& order) {
  std::vector<uint32_t> dominator(predecessors.size(), kNoBlock), place(predecessors.size(), kNoBlock);
  for (uint32_t k = 0; k < order.size(); ++k) place[order[k]] = k;
  dominator[order[0]] = order[0];
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t k = 1; k < order.size(); ++k) {
      uint32_t now = kNoBlock;
      for (uint32_t p : predecessors[order[k]]) {
        if (place[p] == kNoBlock || dominator[p] == kNoBlock) continue;
        if (now == kNoBlock) {
          now = p;
          continue;
        }
        uint32_t other = p;
        while (now != other) {
          while (place[now] > place[other]) now = dominator[now];
          while (place[other] > place[now]) other = dominator[other];
        }
      }
      changed |= dominator[order[k]] != now;
      dominator[order[k]] = now;
    }
  }
  dominator[order[0]] = kNoBlock;
  return dominator;
}

}  // namespace

Flow::Flow(Edges successors) : successors_(std::move(successors)), predecessors_(reversed(successors_)) {
  const uint32_t n = static_cast<uint32_t>(successors_.size());
  order_ = reverse_post_order(successors_, 0);
  dominator_ = dominators(predecessors_, order_);
  level_.assign(n, 0);
  for (size_t k = 1; k < order_.size(); ++k) level_[order_[k]] = level_[dominator_[order_[k]]] + 1;

  // Backwards, from one more block behind all that end the function.
  Edges back(n + 1), forth = successors_;
  forth.emplace_back();
  for (uint32_t b : order_)
    if (successors_[b].empty()) forth[b].push_back(n);
  back = reversed(forth);
  post_dominator_ = dominators(forth, reverse_post_order(back, n));
  for (uint32_t& b : post_dominator_)
    if (b == n) b = kNoBlock;
  post_dominator_.resize(n);

  loop_.assign(n, kNoBlock);
  depth_.assign(n, 0);
  outer_.assign(n, kNoBlock);
  // Inner loops first: their headers come later in the order.
  for (size_t k = order_.size(); k-- > 0;) {
    const uint32_t header = order_[k];
    std::vector<uint32_t> work;
    for (uint32_t p : predecessors_[header])
      if (reached(p) && dominates(header, p)) work.push_back(p);
    if (work.empty()) continue;
    std::vector<uint32_t> body;
    const auto enter = [&](uint32_t b) {
      // What is in a loop already stands for that loop.
      while (loop_[b] != kNoBlock && loop_[b] != header) {
        const uint32_t inner = loop_[b];
        if (outer_[inner] == header) return kNoBlock;
        if (outer_[inner] == kNoBlock) {
          outer_[inner] = header;
          return inner;
        }
        b = outer_[inner];
      }
      if (loop_[b] == header) return kNoBlock;
      loop_[b] = header;
      return b;
    };
    const uint32_t first = enter(header);
    (void)first;
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      const uint32_t b = enter(at);
      if (b == kNoBlock || b == header) continue;
      for (uint32_t p : predecessors_[b])
        if (reached(p)) work.push_back(p);
    }
  }
  for (uint32_t b = 0; b < n; ++b)
    for (uint32_t l = loop_[b]; l != kNoBlock; l = outer_[l]) ++depth_[b];
}

bool Flow::dominates(uint32_t a, uint32_t b) const {
  while (b != kNoBlock && b != a && level_[b] > level_[a]) b = dominator_[b];
  return a == b;
}

uint32_t Flow::common_dominator(uint32_t a, uint32_t b) const {
  while (a != b) {
    if (level_[a] >= level_[b]) a = dominator_[a];
    else b = dominator_[b];
    if (a == kNoBlock || b == kNoBlock) return 0;
  }
  return a;
}

bool Flow::in_loop(uint32_t b, uint32_t header) const {
  for (uint32_t l = loop_[b]; l != kNoBlock; l = outer_[l])
    if (l == header) return true;
  return false;
}

}  // namespace warpbeam::assembly
