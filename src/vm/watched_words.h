// What a watcher remembers of memory, in a form that compiled code looks at by itself (BlockObserver::words).
//
// A word of memory has four numbers: the event of its last write, those of two readers since, and the rest, lanes and flags.
// Events are numbered in the order in which they happen, and those below a bound are ordered with whatever is done now. Of
// an access by a whole warp to words that nobody has written since the bound, and that have a value where the site requires
// it, compiled code decides four cases; everything else is asked (BlockObserver::sees_quickly):
//   quiet  a read of words that two warps have read since the bound, and this event has not: nothing changes
//   first  a read of words that nobody has read since the bound: the event and its lanes become reader A
//   second a read of words that an event of another warp has read, the same in all of them: it becomes reader B
//   write  a store to words that nobody has read since the bound: the event and its lanes become the writer
// Of loads from shared memory that is settled - nothing writes it between the barriers around them - nobody notes the readers:
// they are seen where they lie in a stretch of words that have values.
#pragma once
#include <cstddef>
#include <cstdint>

namespace warpbeam::vm {

struct Insn;

namespace words {
enum : int { kWrite, kReadA, kReadB, kRest, kNumbers };
// Of the rest:
inline constexpr int kLaneOfA = 8, kInit = 24;  // where they begin
inline constexpr uint32_t kWriteLane = 0x1f, kSplit = 1u << 5, kAMany = 1u << 6, kBMany = 1u << 7;
inline constexpr uint32_t kALane = 0x1fu << kLaneOfA, kTwoWarps = 1u << 13, kHasValue = 1u << 14, kBLane = kALane << 8;
inline constexpr uint32_t kWholeValue = kHasValue | 0xfu << kInit;
}  // namespace words

// What an access instruction touched last, as long as `era` is the block's.
struct WatchedSite {
  uint64_t era = 0;
  uint64_t low = 0, span = 0;      // the lanes of a run are in it when the first begins at most `span` after `low`
  uint64_t words = 0;              // the numbers of the word at address a are at words + 4 * (a & reach), but for shared memory
  uint64_t reach = 0;
  uint32_t required = 0;           // bits of the rest that a word needs to be read
  uint32_t unused = 0;
};

// The events of instructions that are neighbours, by one warp between two synchronisations: kTogether numbers, most of which
// are often not used, in one line of the cache. The ring of the newest ones is found by number.
inline constexpr uint32_t kTogether = 8, kBursts = 1u << 20;
struct alignas(64) WatchedBurst {
  uint32_t first = 0;
  uint32_t op = 0, block = 0, mask = 0;  // what is done, by which block of it, which lanes were together
  uint32_t warp = 0, unused[3] = {};
  uint32_t who[kTogether] = {};          // what the observer knows of each place
};
static_assert(sizeof(WatchedBurst) == 64);

// Events of instructions whose places are neighbours have neighbouring numbers: the first one's is `first`, as long as
// `key` is that of the warp and all its lanes are together.
struct WatchedGroup {
  uint64_t key = 0;
  uint32_t first = 0, unused = 0;
};

struct WatchedWarp {
  uint64_t key = (uint64_t(1) << 32) |
                 ~0u;  // the upper half changes when events may no longer be shared; the lower one is the lanes that are together
  const Insn* last_access = nullptr;         // of the lanes of last_mask
  uint32_t last_mask = 0, unused = 0;
};

struct WatchedBlock {
  uint64_t era = ~uint64_t(0);     // this one no site has
  uint64_t own_era = ~uint64_t(0); // what is known of words of the block's shared memory has this one
  WatchedSite* sites = nullptr;    // by place, and behind each the one of the batch that begins there
  uint64_t shared_words = 0;       // those of offset 0
  WatchedGroup* groups = nullptr;  // by warp and place / kTogether
  WatchedWarp* warps = nullptr;
  WatchedBurst* ring = nullptr;    // of kBursts
  uint32_t* next = nullptr;        // event: a burst begins at the next multiple of kTogether
  const uint32_t* who = nullptr;   // by place
  uint32_t op = 0, block = 0;
  uint32_t shared_bound = 0, global_bound = 0;
};

}  // namespace warpbeam::vm
