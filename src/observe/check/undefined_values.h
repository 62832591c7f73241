// Values that a shuffle took from a lane which did not take part: they are undefined. Many correct programs make such values
// and never use them (the upper lanes of a sum with __shfl_down_sync), so a value is followed through the registers of its
// lane, and only storing it is a mistake.
#pragma once
#include <cstdint>
#include <vector>

#include "vm/warp.h"

namespace warpbeam::observe::check {

class UndefinedValues {
 public:
  struct Blame {
    uint32_t site = 0;    // the shuffle
    bool of_sum = false;  // a round of a sum: half of the lanes or more had nobody to read from, or it was not the first
  };
  bool empty() const { return all_.empty(); }
  // A shuffle has been executed by `mask`. `site`: what to blame.
  void shuffled(vm::Warp&, const vm::Insn&, uint32_t mask, uint32_t site);
  // An instruction is about to be executed: what it computes of doubtful values is doubtful. Gives the lanes of `mask` that
  // would store such a value, and whom to blame.
  uint32_t executes(vm::Warp&, const vm::Insn&, uint32_t mask, Blame* blame);

 private:
  struct Doubt {
    const vm::Frame* frame;
    int32_t slot;
    uint32_t lanes;
    Blame blame;
  };
  uint32_t lanes(const vm::Frame*, int32_t slot, Blame*) const;
  void set(const vm::Frame*, int32_t slot, uint32_t mask, uint32_t lanes, Blame);
  std::vector<Doubt> all_;
};

}  // namespace warpbeam::observe::check
