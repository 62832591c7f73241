// What threads of a launch know of each other's accesses: the happens-before relation, in a form that costs nothing
// where only barriers are used.
//
// * A barrier of the whole block: everyone knows everything of the block up to an event, one number per block.
// * __syncwarp of a whole warp: one number per warp; of some lanes: a 32 x 32 table, made when first needed.
// * Everything else - a fence and an atomic or volatile access that another thread sees, a barrier of some warps - goes
//   through a Meeting: threads leave there what they know (Release), and who comes later may rely on it. A thread keeps
//   only a reference to the meeting and when it came, so that coming to a counter ten thousand times stays cheap.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "observe/check/events.h"

namespace warpbeam::observe::check {

struct Meeting;

struct Came {  // to a meeting, and knows what was left there before this event
  const Meeting* meeting;
  EventId when;
};
using CameList = std::vector<Came>;
void add(CameList& list, Came came);
void add(CameList& list, const CameList& more);

using LaneTable = std::array<std::array<EventId, 32>, 32>;  // [knows][of whom]

// What some lanes of a warp know at one moment.
struct Snapshot {
  uint32_t op = 0, block = 0;
  uint16_t warp = 0;
  Strength scope = Strength::Weak;  // of the fence
  // Left by a strong store without a fence: the loads before it are over when others see what was made of them, stores
  // may still be on their way. What others had behind fences has arrived, and stays so for whoever is told next.
  bool reads_only = false;
  EventId when = 0, block_base = 0, warp_base = 0;
  std::shared_ptr<const LaneTable> lanes;
  CameList came;
};

struct Release {
  std::shared_ptr<const Snapshot> snapshot;
  uint32_t mask = 0;   // lanes whose accesses up to snapshot->when are released
  EventId at = 0;
};

struct Meeting {
  std::vector<Release> releases;                                      // in order of `at`
  std::unordered_map<uint64_t, std::vector<uint32_t>> of_block;       // op and block to indices
  std::unordered_map<const Snapshot*, uint32_t> left;                 // of whom: who tries again and again leaves the same
  void leave(Release r);
};

// Does who came to these meetings know what `lane` did in event `e`?
bool knows(const CameList& came, const Event& e, uint32_t lane);

}  // namespace warpbeam::observe::check
