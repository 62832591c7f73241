// How control flows through the blocks of a function: which of them come before others on every way, and the loops.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace warpbeam::assembly {

using Edges = std::vector<std::vector<uint32_t>>;
inline constexpr uint32_t kNoBlock = ~0u;

class Flow {
 public:
  explicit Flow(Edges successors);

  const Edges& predecessors() const { return predecessors_; }
  bool reached(uint32_t b) const { return b == 0 || dominator_[b] != kNoBlock; }
  // The block that every way to `b` goes through last before it.
  uint32_t dominator(uint32_t b) const { return dominator_[b]; }
  // The block that every way from `b` goes through first after it; kNoBlock when that is the end.
  uint32_t post_dominator(uint32_t b) const { return post_dominator_[b]; }
  bool dominates(uint32_t a, uint32_t b) const;
  uint32_t common_dominator(uint32_t a, uint32_t b) const;
  // The header of the innermost loop around a block, kNoBlock outside of loops; and how many are around it.
  uint32_t loop(uint32_t b) const { return loop_[b]; }
  uint32_t depth(uint32_t b) const { return depth_[b]; }
  uint32_t outer_loop(uint32_t header) const { return outer_[header]; }
  bool in_loop(uint32_t b, uint32_t header) const;

 private:
  Edges successors_, predecessors_;
  std::vector<uint32_t> dominator_, post_dominator_, order_, level_, loop_, depth_, outer_;
};

}  // namespace warpbeam::assembly
