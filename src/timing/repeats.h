// What was not kept of a block's way: more of the second half of what was, as often as it takes and the last time as much of its end as is left. What a
// block does less than the one that was followed is missing at its end.
//
// Idea: warps that wait for each other at barriers go on equally often, and each time from the same barrier on, at the same place of their loop; what was
// kept behind the last barrier that all came to is left out. Precondition: the warps of the block come to the same barriers. Postcondition: they meet at those
// that they met at. Fallback: each warp's second half.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "timing/multiprocessor.h"
#include "timing/program.h"

namespace warpbeam::timing {

class Repeats {
 public:
  struct Plan {
    size_t end = 0;  // of the steps that are gone through
    size_t from = 0;  // of those that are gone through again
    size_t last_from = 0;  // and the last time
    uint64_t again = 0;  // so often
    uint64_t rounds = 1;  // so many of them come to lines of their own, then it is the same ones' turn again
  };

  // `barriers`: of the block; whether there are any.
  Repeats(const Program& program, bool barriers) : program_(program), barriers_(barriers) {}
  Plan of(const Part& part, size_t warp);

 private:
  struct Span {
    size_t from = 0, end = 0;
    double all = 0, kept = 0, late = 0;  // machine instructions: of all steps, before `end`, and from `from` on
  };
  struct Cut {
    size_t step = 0, at = 0;  // that behind a barrier; that of the barrier itself
    uint64_t barriers = 0;  // to which the warp has come then
  };
  const ReadyBlock& block_of(const Step& s) const { return program_.functions[s.function][s.block]; }
  double length_of(const Step& s) const;
  void look_at(const BlockTrace& block);
  bool align(const BlockTrace& block);
  std::vector<Cut> cuts_of(const WarpTrace& warp) const;
  const Cut* cut_at(size_t warp, uint64_t barriers) const;

  const Program& program_;
  const bool barriers_;
  const BlockTrace* seen_ = nullptr;  // which of these is of
  std::vector<Span> spans_;  // by warp
  Span sum_;
  bool aligned_ = false;
  std::vector<std::vector<Cut>> cuts_;  // by warp
  uint64_t first_ = 0, last_ = 0;  // barriers from which and to which they go again
  Step place_;  // of both
};

}  // namespace warpbeam::timing
