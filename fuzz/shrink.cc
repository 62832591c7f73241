#include "fuzz/shrink.h"

#include <algorithm>

namespace warpbeam::fuzz {

namespace {

// Every sequence of nodes of the kernel, outermost first.
void collect(std::vector<Node>& nodes, std::vector<std::vector<Node>*>& lists) {
  lists.push_back(&nodes);
  for (Node& node : nodes)
    for (auto& part : node.parts) collect(part, lists);
}
std::vector<std::vector<Node>*> all_lists(Kernel& kernel) {
  std::vector<std::vector<Node>*> lists;
  collect(kernel.body, lists);
  for (Function& f : kernel.functions) collect(f.body, lists);
  return lists;
}

bool has(const std::vector<Node>& nodes, NodeKind kind) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node& n) {
    return n.kind == kind || std::any_of(n.parts.begin(), n.parts.end(), [&](const auto& part) { return has(part, kind); });
  });
}

class Shrinker {
 public:
  Shrinker(const Kernel& kernel, const std::function<bool(const Kernel&)>& interesting) : best_(kernel), interesting_(interesting) {}

  Kernel run() {
    store_one();
    for (bool smaller = true; smaller;) {
      smaller = launch();
      smaller = leave_out() || smaller;
      smaller = unwrap() || smaller;
    }
    return best_;
  }

 private:
  template <class Change>
  bool attempt(Change change) {
    Kernel candidate = best_;
    if (attempts_ == kMostAttempts || !change(candidate)) return false;
    ++attempts_;
    if (!interesting_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  // One register, or one that is of no interest: what the threads' places and the cells hold is left.
  void store_one() {
    for (const DumpedRegister& r : dumped_registers(best_))
      if (attempt([&](Kernel& k) { return k.stored = {r.name}, true; })) return;
  }

  bool launch() {
    bool any = false;
    if (best_.grid != std::array<uint32_t, 3>{1, 1, 1}) any = attempt([](Kernel& k) { return k.grid = {1, 1, 1}, true; });
    for (const std::array<uint32_t, 3> block : {std::array<uint32_t, 3>{1, 1, 1}, {2, 1, 1}, {32, 1, 1}, {64, 1, 1}})
      if (block[0] < best_.block_threads() && attempt([&](Kernel& k) { return k.block = block, true; })) return true;
    return any;
  }

  // Runs of nodes, long ones first.
  bool leave_out() {
    bool any = false;
    for (size_t list = 0; list < all_lists(best_).size(); ++list)
      for (size_t length = std::max<size_t>(all_lists(best_)[list]->size(), 1); length > 0; length /= 2)
        for (size_t at = 0; list < all_lists(best_).size() && at + length <= all_lists(best_)[list]->size();) {
          const bool done = attempt([&](Kernel& k) {
            auto& nodes = *all_lists(k)[list];
            nodes.erase(nodes.begin() + static_cast<long>(at), nodes.begin() + static_cast<long>(at + length));
            return true;
          });
          any = any || done;
          if (!done) at += length;
        }
    return any;
  }

  // A branch by one of its ways, a loop by its body.
  bool unwrap() {
    bool any = false;
    for (size_t list = 0; list < all_lists(best_).size(); ++list)
      for (size_t at = 0; list < all_lists(best_).size() && at < all_lists(best_)[list]->size(); ++at)
        for (size_t part = 0; part < (*all_lists(best_)[list])[at].parts.size(); ++part)
          if (attempt([&](Kernel& k) {
                auto& nodes = *all_lists(k)[list];
                std::vector<Node> inside = nodes[at].parts[part];
                if (nodes[at].kind == NodeKind::Loop && (has(inside, NodeKind::Break) || has(inside, NodeKind::Continue))) return false;
                nodes.erase(nodes.begin() + static_cast<long>(at));
                nodes.insert(nodes.begin() + static_cast<long>(at), inside.begin(), inside.end());
                return true;
              })) {
            any = true;
            break;
          }
    return any;
  }

  static constexpr int kMostAttempts = 600;
  int attempts_ = 0;
  Kernel best_;
  const std::function<bool(const Kernel&)>& interesting_;
};

}  // namespace

Kernel shrink(const Kernel& kernel, const std::function<bool(const Kernel&)>& interesting) { return Shrinker(kernel, interesting).run(); }

}  // namespace warpbeam::fuzz
