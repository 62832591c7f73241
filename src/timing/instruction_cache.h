// The caches of instructions, first in, first out: one that a multiprocessor's warps read from, one behind it, and the chip's.
//
// Loops of 64 to 12288 multiply-adds on an H200: up to 2048 instructions take what their issue does, up to 8192 a line of eight takes 18 cycles,
// more of them 46, however many warps go through them side by side. Lines are fetched ahead of who goes straight on.
#pragma once
#include <vector>

#include "timing/program.h"

namespace warpbeam::timing {

class InstructionCache {
 public:
  explicit InstructionCache(const Rates& rates)
      : near_(lines(rates.instructions_near)),
        behind_(lines(rates.instructions_behind)),
        at_hand_(lines(rates.instruction_preload)),
        from_behind_(ticks(rates.instruction_line)),
        from_far_(ticks(rates.instruction_far_line)) {}

  // When a line that is wanted at a time is there.
  Ticks get(CodeLine& line, Ticks when) {
    if (line.near) return std::max(when, line.at);
    const bool first = !line.seen, behind = first ? seen_++ < behind_.size() / 2 : line.behind;
    line.seen = true;
    if (!behind || first) keep(behind_, behind_next_, line, &CodeLine::behind);
    keep(near_, near_next_, line, &CodeLine::near);
    if (first && seen_ <= at_hand_) return line.at = when;
    free_ = std::max(free_, when - from_behind_) + (behind ? from_behind_ : from_far_);
    line.at = free_;
    return std::max(when, free_);
  }

 private:
  static size_t lines(double instructions) { return static_cast<size_t>(instructions) / kInstructionsPerLine; }
  static void keep(std::vector<CodeLine*>& held, size_t& next, CodeLine& line, bool CodeLine::* flag) {
    if (held[next]) held[next]->*flag = false;
    held[next] = &line;
    line.*flag = true;
    next = (next + 1) % held.size();
  }

  std::vector<CodeLine*> near_, behind_;
  size_t near_next_ = 0, behind_next_ = 0, seen_ = 0;
  const size_t at_hand_;
  const Ticks from_behind_, from_far_;
  Ticks free_ = 0;
};

}  // namespace warpbeam::timing
