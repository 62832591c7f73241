// A topological order of the blocks in which every loop stands together: strongly connected components in topological
// order, each laid out again without the edges back to its entry.
#include <algorithm>

#include "vm/decode.h"

namespace warpbeam::vm {
namespace {

constexpr int kMaxLoopDepth = 64;

class Orderer {
 public:
  explicit Orderer(const std::vector<std::vector<uint32_t>>& successors)
      : successors_(successors),
        region_(successors.size(), 0),
        index_(successors.size()),
        low_(successors.size()),
        on_stack_(successors.size()),
        predecessors_(successors.size()) {
    for (uint32_t b = 0; b < successors.size(); ++b)
      for (uint32_t s : successors[b]) predecessors_[s].push_back(b);
  }

  std::vector<uint32_t> run() {
    lay_out(0, 0, 0);
    return std::move(order_);
  }

 private:
  // Lays out the blocks of `region` reachable from `entry`; edges to `entry` itself are ignored.
  void lay_out(uint32_t entry, uint32_t region, int depth) {
    std::vector<std::vector<uint32_t>> components;
    tarjan(entry, entry, region, components);
    // Tarjan gives components in reverse topological order.
    for (auto component = components.rbegin(); component != components.rend(); ++component) {
      if (component->size() == 1) {
        order_.push_back(component->front());
        continue;
      }
      // Any order is right; so deep inside loops a simple one keeps hostile texts from taking time and stack.
      if (depth == kMaxLoopDepth) {
        std::sort(component->begin(), component->end());
        order_.insert(order_.end(), component->begin(), component->end());
        continue;
      }
      // A loop: its entry is its earliest block in the text among those entered from outside.
      const uint32_t inner = ++regions_;
      for (uint32_t b : *component) region_[b] = inner;
      lay_out(loop_head(*component, inner), inner, depth + 1);
    }
  }

  uint32_t loop_head(const std::vector<uint32_t>& component, uint32_t inner) const {
    uint32_t first = kNoTarget, entered = kNoTarget;
    for (uint32_t b : component) {
      first = std::min(first, b);
      for (uint32_t p : predecessors_[b])
        if (region_[p] != inner) entered = std::min(entered, b);
    }
    return entered != kNoTarget ? entered : first;
  }

  // Tarjan's algorithm without recursion: texts with very long chains of blocks must not overflow the stack.
  void tarjan(uint32_t root, uint32_t ignore_target, uint32_t region, std::vector<std::vector<uint32_t>>& out) {
    struct Step {
      uint32_t block;
      size_t next;
    };
    std::vector<Step> path;
    std::vector<uint32_t> stack;
    const uint32_t base = counter_;
    auto open = [&](uint32_t b) {
      index_[b] = low_[b] = ++counter_;
      stack.push_back(b);
      on_stack_[b] = true;
      path.push_back({b, 0});
    };
    open(root);
    while (!path.empty()) {
      Step& step = path.back();
      const uint32_t b = step.block;
      const auto& next = successors_[b];
      if (step.next < next.size()) {
        // Later successors first, so that among independent blocks the text's order is kept.
        const uint32_t s = next[next.size() - 1 - step.next++];
        if (region_[s] != region || s == ignore_target) continue;
        if (index_[s] <= base) open(s);
        else if (on_stack_[s]) low_[b] = std::min(low_[b], index_[s]);
        continue;
      }
      path.pop_back();
      if (!path.empty()) low_[path.back().block] = std::min(low_[path.back().block], low_[b]);
      if (low_[b] == index_[b]) {
        std::vector<uint32_t> component;
        uint32_t member;
        do {
          member = stack.back();
          stack.pop_back();
          on_stack_[member] = false;
          component.push_back(member);
        } while (member != b);
        out.push_back(std::move(component));
      }
    }
  }

  const std::vector<std::vector<uint32_t>>& successors_;
  std::vector<uint32_t> region_;
  std::vector<uint32_t> index_, low_;
  std::vector<char> on_stack_;
  std::vector<std::vector<uint32_t>> predecessors_;
  std::vector<uint32_t> order_;
  uint32_t counter_ = 0, regions_ = 0;
};

}  // namespace

std::vector<uint32_t> order_blocks(const std::vector<std::vector<uint32_t>>& successors) {
  if (successors.empty()) return {};
  return Orderer(successors).run();
}

}  // namespace warpbeam::vm
