// Values that have no register of their own: each lives in local memory, and comes to one of a few registers where it is read.
//
// Idea: what a block has loaded or computed stays in its register until another one needs that. Precondition: registers are kept
// free for them. Postcondition: a load before a reader that does not find it, a little ahead where its register is free, and a store behind who
// writes it. What is only copied from one such value to another has one place.
#pragma once
#include <array>
#include <vector>

#include "assembly/draft.h"

namespace warpbeam::assembly {

class Spills {
 public:
  // Registers that are kept for so many of them, of so many.
  static int registers_for(size_t values, int limit);
  // They are the `kept` last ones below `limit`.
  Spills(const DraftCode& code, const std::vector<int32_t>& values, int kept, int limit);

  uint32_t bytes() const { return 4 * words_; }
  bool has(Part p) const { return p && !places_.empty() && places_[static_cast<size_t>(p.value)].slot >= 0; }
  int place_of(Part p) const { return places_[static_cast<size_t>(p.value)].now; }
  void begin_block();
  void load(Part p, uint32_t ptx, MachineText& text);
  void take(Part p);
  void store(Part p, uint32_t ptx, MachineText& text);
  // The last instruction of the text reads or writes it.
  void use(Part p, const MachineText& text);

 private:
  struct Place {
    int32_t slot = -1;  // in words of four bytes
    int16_t now = -1;  // its first register, while it has one
  };
  MachineInstruction access(Part p, uint32_t ptx, bool stores) const;
  const DraftCode& code_;
  std::vector<Place> places_;  // by value; empty: there are none
  uint32_t words_ = 0;
  static constexpr int kMost = 8;
  int first_ = 0, count_ = 0, next_ = 0;  // registers; which are used next
  std::array<int32_t, kMost> holds_{};
  std::array<size_t, kMost> free_from_{};  // where in the block's text another one may be loaded there
  std::vector<size_t> stored_before_;  // by slot: where in the text it has been stored
};

}  // namespace warpbeam::assembly
