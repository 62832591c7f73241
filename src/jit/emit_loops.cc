// Idea: a warp stays together in `for (i = first; i < n; i += stride)` for all but the last round: a version without masks. Precondition:
// a loop of one block of code. Postcondition: lanes part as at any branch. Fallback: where not all go on, the loop with masks.
#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

namespace {

constexpr uint32_t kMostInstructions = 120;  // of which there are two versions

}  // namespace

bool Emitter::loops_whole(uint32_t n) const {
  static const bool without = left_out("loops");
  const Node& node = flow_.nodes[n];
  if (without || watch_ || as_.slice || node.polls || control_.full[n] || node.ends != End::Branch || !shapes_.divergent[n]) return false;
  if (plan_.regions[at_.region].exit_node == static_cast<int32_t>(n) || node.next[0] == node.next[1]) return false;
  if (node.end - node.begin > kMostInstructions) return false;
  const auto is_head = [&](const LaneLoop& l) { return l.head == n; };
  if (std::any_of(plan_.lane_loops.begin(), plan_.lane_loops.end(), is_head)) return false;
  return (node.next[0] == n || node.next[1] == n) && inside(n);
}

// Is left where some lanes do not take part.
void Emitter::emit_whole_loop(uint32_t n) {
  uses(Technique::WholeLoops);
  const Node& node = flow_.nodes[n];
  const V mask = at_.active;
  auto [whole, parts, some] = new_blocks("whole", "parts", "some");
  go_on_if(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), whole, some);
  at_.active = b_.getInt32(~0u);
  control_.full[n] = 1;
  emit_straight(node.begin, node.end - 1);
  control_.full[n] = 0;
  const V taken = guard_mask(*node.last);
  const V all = node.next[0] == n ? b_.CreateICmpEQ(taken, b_.getInt32(~0u)) : b_.CreateICmpEQ(taken, b_.getInt32(0));
  b_.CreateCondBr(all, whole, parts);
  b_.SetInsertPoint(parts);
  part(node, taken);
  at_.active = mask;
  b_.SetInsertPoint(some);
}

}  // namespace warpbeam::jit
