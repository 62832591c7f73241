// A launch under way: which blocks are left, which wait their turn, what went wrong.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/recycled.h"
#include "vm/engine.h"
#include "vm/child_grids.h"
#include "vm/progress.h"
#include "vm/warp.h"

namespace warpbeam::vm {

// Consecutive blocks that a thread takes at once.
struct BlockRange {
  uint64_t first = 0, count = 0;
  const CompiledKernel* compiled = nullptr;  // that runs them; null: the interpreter
  unsigned processor = 0;                    // whose thread takes from it, while there is another one for others
  uint64_t end() const { return first + count; }
};

struct GridState {
  Launch launch;
  const Code* code = nullptr;
  std::shared_ptr<const CompiledKernel> compiled;  // null: interpreted; changes under the mutex
  std::vector<std::shared_ptr<const CompiledKernel>> replaced;  // what it was before: blocks may still be running it
  bool may_be_compiled = false;          // while it runs
  uint64_t ready_seen = 0;               // Engine::ready when it was last asked
  int64_t started = 0;                   // nanoseconds, when its first block was taken; of a grid that may be compiled
  std::function<void(LaunchResult&&)> done;
  uint64_t total_blocks = 0;             // clusters count as one here and below
  uint64_t resident_limit = 1;           // blocks that may have begun and not ended
  uint64_t params_address = 0;
  uint64_t workspace = 0;                // of a cooperative launch: where its blocks meet (%envreg1, %envreg2)
  std::atomic<uint64_t> next_block{0};
  std::atomic<uint64_t> handed_back{0};  // blocks in `leftover`
  std::atomic<uint64_t> begun{0}, ended{0};
  std::atomic<int64_t> last_progress{0};  // nanoseconds: when a block began, ended or changed memory
  TurnsOfOthers turns_of_others;          // once there has been no progress for long; guarded by the mutex
  std::atomic<int64_t> looked_for_hang{0};  // nanoseconds: when a block that waits last asked whether it waits in vain
  std::atomic<bool> left_alone{false};    // no thread has been called for it: whoever started it runs it
  std::atomic<bool> failed{false};
  std::atomic<bool> finished{false};
  bool takes_turns = false;              // one block at a time
  uint64_t idle_turns = 0;               // then: how many in a row have changed nothing
  // Compiled blocks that have stopped to wait for others and not gone on since; how often some did since one last went on.
  std::atomic<uint64_t> waiting{0}, stops_in_vain{0};
  std::atomic<bool> turn_taken{false};   // by a block that runs; taken under the mutex

  std::mutex mutex;
  std::vector<std::unique_ptr<Block>, Recycled<std::unique_ptr<Block>>> idle;        // block contexts to use again
  std::deque<std::unique_ptr<Block>, Recycled<std::unique_ptr<Block>>> yielded;      // blocks that spin and let others run
  std::deque<BlockRange, Recycled<BlockRange>> leftover;  // shares of threads, and what one took and could not get through
  bool shared_out = false;
  int64_t first_taken = 0;  // nanoseconds
  bool called_another = false;  // when that was a while ago
  std::map<uint64_t, std::string> printed;  // by block, so that output does not depend on threads
  Trap trap;
  std::atomic<uint64_t> trap_block{~uint64_t(0)};
  std::condition_variable finished_cv;

  // What device code launched; all but `parked` guarded by the mutex of its ChildGrids. Null for programs that launch nothing.
  std::shared_ptr<ChildGrids> child_grids;
  uint64_t children = 0;  // launched and not done
  std::atomic<uint64_t> parked{0};  // blocks that wait for children
  std::deque<DeviceTaskRef, Recycled<DeviceTaskRef>> tail;  // the tail stream, begun when all else is done
  std::vector<DeviceTaskRef> tail_begun;
  uint64_t running = 0;  // blocks in their first turn; guarded by `mutex`, as is `kept`
  std::vector<DeviceTaskRef> kept;  // launched by blocks that do not wait for it
  std::vector<std::shared_ptr<BlockChildren>> had_children;  // of blocks that have ended
  bool settled = false;
};

class Grid : public GridState, public std::enable_shared_from_this<Grid> {
 public:
  // All its blocks have only waited for so long.
  bool stalled_for(std::chrono::nanoseconds time) const {
    const int64_t since = last_progress;
    const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
    return since != 0 && now.count() - since > time.count();
  }
  // A block before this one has failed. Those before that one go on, since the first that fails is reported.
  bool cut_off(uint64_t block) const { return failed && block > trap_block; }
  bool has_fresh() const { return next_block < total_blocks || handed_back; }
  bool has_nothing_to_run() const { return !has_fresh() && ended + parked >= total_blocks; }
  bool has_yielded() {
    std::lock_guard lock(mutex);
    return !yielded.empty();
  }
  // Blocks take turns, and another thread has the turn: nothing is to be done but to wait for it, a while at most.
  bool waits_for_turn() {
    if (!takes_turns || !turn_taken) return false;
    std::unique_lock lock(mutex);
    finished_cv.wait_for(lock, std::chrono::milliseconds(1), [&] { return finished.load(); });
    return true;
  }
};

// The grid's blocks do not go on; the lowest failing block's trap is the one reported.
void fail(Grid& grid, Trap&& trap, uint64_t block);
// Everything of the grid is done: tells whoever waits for it.
void finish(Grid& grid);
// A parked block can go on.
void give_back_block(const std::shared_ptr<Grid>& grid, std::unique_ptr<Block> block);

// Runs one block (or continues one) of the grid on this thread; false when there was nothing to do.
// `spun` is set when the block made no progress but waits for something.
bool step(Grid& grid, bool& spun);

// Kernel-side heap, one per DeviceMemory: device malloc and free.
inline constexpr char kHeapOrigin[] = "the heap of device malloc";
uint64_t device_malloc(const Launch& launch, uint64_t bytes);
bool device_free(const Launch& launch, uint64_t address);

}  // namespace warpbeam::vm
