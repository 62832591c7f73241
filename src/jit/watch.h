// Compiled code that is watched. It counts how often each stretch of instructions was executed and by how many lanes, in
// counters of its own that `settle` gives to the observer; it tells what the observer wants to be told (vm::Wanted) through
// the functions below. What it counts too early, because a warp never gets to the end of a stretch, is taken back.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "vm/observer.h"

namespace warpbeam::jit {

struct Context;
struct Detour;
struct Symbol;

struct WatchTables {
  vm::Wanted wanted;
  // Instructions that the same lanes execute one after the other: warps are counted at `at`, threads behind it.
  struct Stretch {
    uint32_t begin = 0, end = 0, at = 0;
    bool full = false;  // every execution is by 32 threads, which are not counted
    uint64_t instructions = 0;  // that are counted
  };
  std::deque<Stretch> stretches;
  // Counters of single instructions: threads that a guard lets take part, branches whose lanes part.
  std::map<uint32_t, uint32_t> on, parted;
  static constexpr uint64_t kLine = 128;  // bytes
  // An instruction whose lanes are always at the same distances from the first: a counter for each place that this one may
  // have modulo BlockObserver::kPlaces, for whole warps.
  struct Site {
    const vm::Insn* insn = nullptr;
    vm::Pattern pattern;
    std::array<uint64_t, 32> distance{};
    uint32_t at = 0, step = 0;  // of places; no step: they are not counted
    uint32_t gap_at = 0;        // where the distance of two stretches is that was counted with; 0: it is known before
    // Where the distances of all lanes are that was counted with, when nothing about them is known before, and behind them how
    // many more accesses are not to be compared with them; 0: they are known before.
    uint32_t lanes_at = 0;
    // For stores of words by part of a warp that lie side by side, as in a compaction: counters by the first one's place and how
    // many there are; 0: there are none. Which lanes they are of does not matter.
    uint32_t rows_at = 0;
    uint32_t word_at = 0;  // likewise for one word that part of a warp accesses: counters by how many lanes; 0: there are none
    // Loads that lanes make together with this one, each so many bytes further.
    std::vector<std::pair<const vm::Insn*, uint64_t>> together;
    template <class Tell>
    void tell_each(Tell tell) const {
      tell(*insn, uint64_t{0});
      for (const auto& [other, further] : together) tell(*other, further);
    }
    uint32_t apart_at = 0;  // how often a whole warp's lanes were each on a line of their own; 0: that is not looked for
    // A number for these distances, with so much more between two stretches.
    uint64_t shape(uint64_t further) const {
      constexpr uint64_t kMix = 0x9e3779b97f4a7c15;
      return ((static_cast<uint64_t>(pattern.stride) * kMix + static_cast<uint64_t>(pattern.gap)) * kMix + further) * kMix + pattern.runs;
    }
  };
  // An access to shared memory that is known when the kernel is compiled.
  struct Made {
    const vm::Insn* insn = nullptr;
    uint32_t mask = 0;
    std::array<uint64_t, 32> address{};
    auto operator<=>(const Made&) const = default;
  };
  // A part of the kernel in which blocks do the same, and the counter of blocks that came through.
  struct UnrolledBlock {
    uint32_t at = 0;
    uint64_t instructions = 0;  // of all warps
    std::map<uint32_t, vm::Executions> executions;  // by instruction
    std::map<Made, uint64_t> made;
  };
  std::deque<UnrolledBlock> unrolled;
  // By instruction that adds one to words of shared memory at places of which nothing is known: counters for what
  // BlockObserver::met_in_banks is told, of whole warps.
  static constexpr uint32_t kOfBanks = 3;
  std::map<uint32_t, uint32_t> banks;
  std::deque<Site> sites;
  // By instruction, runs (0: nothing is known), stride and gap: code of which there are versions may know more in one of them.
  std::map<std::array<int64_t, 4>, uint32_t> site_of;
  std::deque<vm::LoadBatch> batches;
  uint32_t counters = 0;
};

// Compiled code begins to run for the block's observer, which has the counters.
void enter(Context& context);
// Instructions that warps executed since `enter`, of all blocks together.
uint64_t executed_since_enter(const Context& context);
// Of the stretch, the instructions from this one on were not executed by the warp.
void take_back(Context& context, uint32_t stretch, uint32_t from, uint32_t warp, uint32_t active);
// The same after a trap.
void take_back_after_trap(Context& context);

// An instruction's operands are in its warp's frame: its handler runs, or what it does is told.
void watched_detour(Context& context, const Detour& detour, uint32_t warp, uint32_t mask, uint32_t active);

// A warp's lanes access words of shared memory: one more time, and what met_in_banks wants of them (bank_words.cc).
extern "C" void wb_count_banks(uint64_t* counters, const uint32_t* places);

std::vector<Symbol> watch_symbols();

}  // namespace warpbeam::jit
