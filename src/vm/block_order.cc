// A topological order of the blocks in which every loop stands together: strongly connected components in topological
// order, each laid out again without the edges back to its entry.
#include <algorithm>

#include "vm/decode.h"

namespace warpbeam::vm {
namespace {

class Orderer {
 public:
  explicit Orderer(const std::vector<std::vector<uint32_t>>& successors)
      : successors_(successors), region_(successors.size(), 0), index_(successors.size()), low_(successors.size()),
        on_stack_(successors.size()) {}

  std::vector<uint32_t> run() {
    struct Work { uint32_t entry; uint32_t region; };
    lay_out(0, 0);
    return std::move(order_);
  }

 private:
  // Lays out the blocks of `region` reachable from `entry`; edges to `entry` itself are ignored.
  void lay_out(uint32_t entry, uint32_t region) {
    std::vector<std::vector<uint32_t>> components;
    tarjan(entry, entry, region, components);
    // Tarjan gives components in reverse topological order.
    for (auto component = components.rbegin(); component != components.rend(); ++component) {
      if (component->size() == 1) {
        order_.push_back(component->front());
        continue;
      }
      // A loop: its entry is its earliest block in the text among those entered from outside.
      const uint32_t inner = ++regions_;
      for (uint32_t b : *component) region_[b] = inner;
      uint32_t head = loop_head(*component, inner, entry);
      lay_out(head, inner);
    }
  }

  uint32_t loop_head(const std::vector<uint32_t>& component, uint32_t inner, uint32_t) {
    uint32_t best = *std::min_element(component.begin(), component.end());
    std::vector<uint32_t> entered;
    for (uint32_t b = 0; b < successors_.size(); ++b)
      if (region_[b] != inner)
        for (uint32_t s : successors_[b])
          if (region_[s] == inner) entered.push_back(s);
    if (!entered.empty()) best = *std::min_element(entered.begin(), entered.end());
    return best;
  }

  // Tarjan's algorithm without recursion: texts with very long chains of blocks must not overflow the stack.
  void tarjan(uint32_t root, uint32_t ignore_target, uint32_t region, std::vector<std::vector<uint32_t>>& out) {
    struct Step { uint32_t block; size_t next; };
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
  std::vector<uint32_t> order_;
  uint32_t counter_ = 0, regions_ = 0;
};

}  // namespace

std::vector<uint32_t> order_blocks(const std::vector<std::vector<uint32_t>>& successors) {
  if (successors.empty()) return {};
  return Orderer(successors).run();
}

}  // namespace warpbeam::vm
