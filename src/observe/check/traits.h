// What the checker has to know of an instruction beyond the accesses it makes, by row of the instruction table.
#pragma once
#include <cstdint>

#include "isa/row.h"

namespace warpbeam::observe::check {

enum class Trait : uint8_t {
  None,
  Fence,
  CommitCopies,   // cp.async.commit_group
  WaitCopies,     // cp.async.wait_group n
  WaitAllCopies,  // cp.async.wait_all
  CopiesArrive,   // cp.async.mbarrier.arrive: an arrival that comes when the lane's copies have
  Arrives,        // at an mbarrier: leaves there what it knows, and learns nothing
  Waits,          // for one: learns, and leaves nothing
  BulkStore,      // a bulk copy out of shared memory, which is complete when its group has been waited for
  CommitBulk,     // cp.async.bulk.commit_group
  WaitBulk,       // cp.async.bulk.wait_group n
  CommitProducts, // wgmma.commit_group
  WaitProducts,   // wgmma.wait_group n
  Shuffle,
  ClusterArrive,  // barrier.cluster.arrive
  ClusterWait,    // barrier.cluster.wait
};

const Trait* traits();  // by row
inline Trait trait_of(const isa::Row& row) {
  static const Trait* const all = traits();
  return all[row.id];
}

}  // namespace warpbeam::observe::check
