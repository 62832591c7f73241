// The blocks of a grid: who takes which of them, what becomes of those that wait, and the end.
#include "vm/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include "vm/engine.h"
#include "vm/host_threads.h"
#include "vm/progress.h"
#include "vm/soon.h"
#include "vm/workers.h"

namespace warpbeam::vm {
namespace {

// Block contexts between grids: making frames and local memory anew would cost small launches more than running them.
class Spares {
 public:
  std::unique_ptr<Block> take() {
    std::lock_guard lock(mutex_);
    if (blocks_.empty()) return std::make_unique<Block>();
    std::unique_ptr<Block> block = std::move(blocks_.back());
    blocks_.pop_back();
    return block;
  }
  void give(std::unique_ptr<Block> block) {
    block->grid = nullptr;  // whatever lives at that address next is another grid
    for (auto& peer : block->peers) peer->grid = nullptr;
    if (block->footprint() > kMostBytes) return;
    std::lock_guard lock(mutex_);
    if (blocks_.size() < kMost) blocks_.push_back(std::move(block));
  }

 private:
  static constexpr size_t kMost = 16;
  static constexpr uint64_t kMostBytes = 16u << 20;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

Spares& spares() {
  static Spares* all = new Spares;  // never destroyed, like the machine
  return *all;
}

void keep_printed(Grid& grid, Block& block) {
  if (!block.printed.empty()) grid.printed[block.linear] += std::move(block.printed);
  block.printed.clear();
  for (auto& peer : block.peers) keep_printed(grid, *peer);
}

// What the block launched stays known to its grid when the block is gone.
void keep_children(Grid& grid, Block& block) {
  for (auto& peer : block.peers) keep_children(grid, *peer);
  if (!block.children) return;
  keep_fresh(block);  // a block that failed in its turn leaves some
  std::lock_guard lock(grid.child_grids->mutex);
  grid.had_children.push_back(std::move(block.children));
}

// A block that may have waited for others does so no more.
void goes_on(Grid& grid, Block& block) {
  if (grid.stops_in_vain) grid.stops_in_vain = 0;
  if (std::exchange(block.waits, false)) --grid.waiting;
}

// Ends a block's turn on this thread; finishes the grid after the last one.
void end_block(Grid& grid, std::unique_ptr<Block> block) {
  if (block) {
    keep_children(grid, *block);
    goes_on(grid, *block);
    block->stopped = nullptr;
  }
  {
    const auto lock = lock_soon(grid.mutex);
    if (block) {
      keep_printed(grid, *block);
      grid.idle.push_back(std::move(block));
    }
    grid.last_progress = 0;
    if (++grid.ended != grid.total_blocks) return;
  }
  if (settle(grid)) finish(grid);
}

}  // namespace

void finish(Grid& grid) {
  std::function<void(LaunchResult&&)> done;
  LaunchResult result;
  decltype(grid.idle) idle;
  const std::string children = children_output(grid);
  {
    std::lock_guard lock(grid.mutex);
    result.trap = std::move(grid.trap);
    for (auto& [b, text] : grid.printed) result.printed += text;
    result.printed += children;
    done = std::move(grid.done);
    idle.swap(grid.idle);
  }
  for (auto& b : idle) spares().give(std::move(b));
  if (grid.params_address) grid.launch.memory->give_back(grid.params_address);
  if (grid.workspace) grid.launch.memory->give_back(grid.workspace);
  if (grid.launch.observer) grid.launch.observer->end_grid(result);
  if (done) done(std::move(result));
  std::lock_guard lock(grid.mutex);
  grid.finished = true;
  grid.finished_cv.notify_all();
}

void fail(Grid& grid, Trap&& trap, uint64_t block) {
  std::lock_guard lock(grid.mutex);
  // The lowest block that fails is reported, so that the report does not depend on the number of threads more than it must.
  if (block < grid.trap_block) {
    grid.trap = std::move(trap);
    grid.trap_block = block;
  }
  grid.failed = true;
}

void give_back_block(const std::shared_ptr<Grid>& grid, std::unique_ptr<Block> block) {
  {
    std::lock_guard lock(grid->mutex);
    grid->yielded.push_back(std::move(block));
    --grid->parked;
  }
  Machine::instance().wake(grid);
}

namespace {

int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds without progress after which a grid whose blocks all spin counts as deadlocked; 0 means never.
int64_t hang_limit() {
  static const int64_t limit = [] {
    const char* text = std::getenv("WARPBEAM_HANG_SECONDS");
    return static_cast<int64_t>((text ? std::atof(text) : 20.0) * 1e9);
  }();
  return limit;
}

constexpr uint64_t kIdleRounds = 64;

// Blocks that take turns: have all looked often enough since something changed, however long the computer was busy with other
// things, and is this the one to speak of? Each stays where it is, so the first is as good as any, and always the same.
bool speaks_for_all(Grid& grid, const Block& block) {
  if (!grid.takes_turns) return true;
  std::lock_guard lock(grid.mutex);
  if (grid.idle_turns < kIdleRounds * (grid.yielded.size() + 1)) return false;
  return std::ranges::all_of(grid.yielded, [&](const auto& other) { return block.linear < other->linear; });
}

// Whether somebody outside could write what a grid waits for. Asked again and again, and costs: once a second is enough.
bool awaits_the_host(const DeviceMemory& memory, int64_t now) {
  bool shared = false;
  for (const Allocation& a : memory.live()) {
    if (a.kind == MemoryKind::Registered) return true;  // perhaps another process's too
    shared |= a.kind == MemoryKind::Pinned || a.kind == MemoryKind::Managed;
  }
  if (!shared) return false;
  static std::atomic<int64_t> asked{0};
  int64_t last = asked;
  if (now - last < 1'000'000'000 || !asked.compare_exchange_strong(last, now)) return true;
  return host_may_act();
}

// A block gave way because all it does is wait. Where nothing in the grid has changed memory for long, and nobody else can
// write what it may be waiting for, nothing ever will.
void check_for_hang(Grid& grid, Block& block) {
  const int64_t now = nanoseconds();
  const std::optional<int64_t> without = without_progress(grid.last_progress, now);
  if (block.progress != block.progress_seen || !without) {
    block.progress_seen = block.progress;
    grid.last_progress = now;
    if (grid.takes_turns) grid.idle_turns = 0;
    goes_on(grid, block);
    return;
  }
  ++grid.stops_in_vain;
  // Who has what it waits for may be a block that stops with lanes that could go on: once all wait, that one is handed over, too.
  if (!std::exchange(block.waits, true)) ++grid.waiting;
  if (grid.takes_turns) ++grid.idle_turns;
  // It may wait for one on another device, which takes its time.
  const int64_t limit = hang_limit() * (grid.launch.others.count > 1 ? 3 : 1);
  // While the process was stopped, nothing could change.
  if (const int64_t before = grid.looked_for_hang.exchange(now); before && now - before > limit / 2) {
    grid.last_progress = now;
    return;
  }
  if (limit == 0 || *without < limit || !speaks_for_all(grid, block)) return;
  // A block that computes for long changes nothing meanwhile, and may yet be what the others wait for.
  {
    std::lock_guard lock(grid.mutex);
    if (!grid.turns_of_others.have_ended(&grid, now - *without, now)) return;
  }
  // Under a watcher nobody waits for ever.
  const bool patient = !grid.launch.observer || *without < 5 * hang_limit();
  if (patient && awaits_the_host(*grid.launch.memory, now)) return;
  uint64_t begun;
  {
    std::lock_guard lock(grid.mutex);
    if (grid.failed) return;  // another block has said it, and those that had not begun do so to end
    begun = grid.begun;
  }
  Trap t;
  t.kind = TrapKind::Deadlock;
  t.message = "deadlock: the grid's running blocks only wait, and nothing they could wait for has changed for long";
  t.kernel = grid.code->function->display_name;
  t.block = block.index;
  t.detail = block.who_waits();
  const uint64_t total = grid.total_blocks;
  if (begun < total)
    t.detail += fmt::format("\n{} of {} blocks have not begun: the device holds {} of this kernel at once", total - begun, total,
                            grid.resident_limit);
  throw TrapException{std::move(t)};
}

constexpr int kInARow = 16;             // ranges of compiled blocks that a thread runs before it looks at other grids
constexpr int64_t kLongRun = 5'000'000, kAWhile = 20'000;  // nanoseconds
constexpr int64_t kVeryLongRun = 500'000'000;  // of a grid that is to be steady

// An interpreted grid goes on with the compiled kernel as soon as there is one; its mutex is held.
void ask_engine(Grid& grid) {
  // From its first block on: until then it may have waited for a processor.
  if (!grid.next_block) grid.started = nanoseconds();
  const bool steady = is_steady(grid.launch);
  const bool long_run = grid.started && nanoseconds() - grid.started > (steady ? kVeryLongRun : kLongRun);
  const uint64_t ready = compiled_so_far();
  if (!long_run && (steady || ready == grid.ready_seen)) return;
  if (long_run) grid.started = 0;  // said once
  grid.ready_seen = ready;
  auto [kernel, later] = find_compiled(grid.launch, long_run, false);
  if (kernel != grid.compiled) {
    if (grid.compiled) grid.replaced.push_back(std::move(grid.compiled));
    grid.compiled = std::move(kernel);
  }
  grid.may_be_compiled = later;
}

// Each processor goes through a part of the grid of its own, the same one in every launch: neighbours in the grid lie
// beside one another in memory, two threads in one place keep hosts from reading ahead, and what a part works on may still
// be in its processor's cache. A grid whose blocks take turns keeps their order: what is told of it must not depend on
// whose turn it was. The grid's mutex is held.
void share_out(Grid& grid) {
  grid.shared_out = true;
  if (grid.takes_turns) return;
  const unsigned threads = Machine::instance().threads();
  const uint64_t fresh = grid.total_blocks - grid.next_block;
  if (threads < 2 || fresh < 2 * threads) return;
  for (unsigned t = 0; t < threads; ++t) {
    const uint64_t first = grid.next_block + fresh * t / threads, end = grid.next_block + fresh * (t + 1) / threads;
    grid.leftover.push_back({first, end - first, nullptr, t});
  }
  grid.handed_back += fresh;
  grid.next_block = grid.total_blocks;
}

// This processor's share of what is left, or half of the longest.
BlockRange& own_share(Grid& grid) {
  if (grid.takes_turns) return grid.leftover.front();
  const unsigned here = current_processor() % Machine::instance().threads();
  BlockRange* longest = &grid.leftover.front();
  for (BlockRange& share : grid.leftover) {
    if (share.processor == here) return share;
    if (share.count > longest->count) longest = &share;
  }
  if (longest->count == 1) return *longest;
  const uint64_t half = longest->count / 2;
  longest->count -= half;
  return grid.leftover.emplace_back(longest->end(), half, nullptr, here);
}

constexpr uint64_t kLongestRange = 1024;

// How many of a thread's share it takes at once.
uint64_t some_of(uint64_t share) { return std::clamp<uint64_t>(share / 4, 1, kLongestRange); }

// Takes fresh blocks of the grid, which has some; its mutex is held. Compiled blocks are taken many at a time, fewer
// towards the end, so that short blocks cost little more than what they do and long ones end together.
BlockRange take(Grid& grid) {
  if (!grid.called_another) {
    const int64_t now = nanoseconds();
    if (!grid.first_taken) grid.first_taken = now;
    grid.called_another = now - grid.first_taken > kAWhile && Machine::instance().call_another();
  }
  if (grid.may_be_compiled) ask_engine(grid);
  const bool many = grid.compiled && !grid.compiled->waits_for_blocks();
  if (many && !grid.shared_out) share_out(grid);
  std::erase_if(grid.leftover, [](const BlockRange& share) { return !share.count; });
  BlockRange range;
  if (grid.leftover.empty()) {
    range.first = grid.next_block;
    range.count = many ? some_of(grid.total_blocks - grid.next_block) : 1;
    grid.next_block += range.count;
  } else {
    BlockRange& share = own_share(grid);
    range.first = share.first;
    range.count = many ? some_of(share.count) : 1;
    share = {range.end(), share.count - range.count, nullptr, share.processor};
    grid.handed_back -= range.count;
  }
  grid.begun += range.count;
  range.compiled = grid.compiled.get();
  return range;
}

// Of a range, the blocks before `block` have ended; those after it are for whoever takes them.
void leave_range(Grid& grid, const BlockRange& range, const Block& block) {
  if (range.count <= 1) return;
  std::lock_guard lock(grid.mutex);
  grid.ended += block.linear - range.first;
  const uint64_t next = block.linear + 1;
  if (next >= range.end()) return;
  grid.leftover.push_back({next, range.end() - next, nullptr});
  grid.handed_back += range.end() - next;
  grid.begun -= range.end() - next;
}

// A range of compiled blocks has ended, and its last block's context goes on with the grid's next range. False: none is
// left to take, and that last block has yet to be ended.
bool take_next(Grid& grid, Block& block, BlockRange& range) {
  const auto lock = lock_soon(grid.mutex);
  if (!grid.has_fresh() || grid.failed || Machine::instance().has_more_urgent(grid)) return false;
  if (!block.printed.empty()) grid.printed[block.linear] += std::move(block.printed);
  block.printed.clear();
  grid.last_progress = 0;
  grid.ended += range.count;
  range = take(grid);
  block.linear = range.first;
  return true;
}

// Of an interpreted block.
void note_time(Grid& grid, int64_t took) {
  if (took <= kLongRun || is_steady(grid.launch)) return;
  bool may_be_compiled = false;
  {
    std::lock_guard lock(grid.mutex);
    may_be_compiled = grid.may_be_compiled;
  }
  if (may_be_compiled) tell_of_block(grid.launch, took);
}

// A compiled block waits for others, which go first.
void give_way(Grid& grid, std::unique_ptr<Block> block, bool& spun) {
  spun = block->progress == block->progress_seen;
  if (!spun) grid.last_progress = nanoseconds();
  block->progress_seen = block->progress;
  std::lock_guard lock(grid.mutex);
  grid.yielded.push_back(std::move(block));
}

void run_block(Grid& grid, std::unique_ptr<Block> block, bool resumed, BlockRange range, bool& spun) {
  try {
    if (resumed && block->stopped) {
      const Went went = grid.failed ? Went::Through : block->stopped->go_on();
      if (went == Went::Stopped) return give_way(grid, std::move(block), spun);
      block->stopped = nullptr;
      if (went == Went::Through) return end_block(grid, std::move(block));
    }
    if (!resumed && !grid.cut_off(block->linear)) {
      block->begin_unit(grid, block->linear);
      if (range.compiled) {
        for (int n = 0; range.compiled->run(*block, range.count) == range.count; ++n) {
          if (n < kInARow && take_next(grid, *block, range)) {
            block->begin_unit(grid, block->linear);
            continue;
          }
          leave_range(grid, range, *block);
          return end_block(grid, std::move(block));
        }
        leave_range(grid, range, *block);
        range.count = 1;
        if (block->stopped) return give_way(grid, std::move(block), spun);
      } else {
        block->start_unit();
      }
    } else if (!resumed) {
      const auto lock = lock_soon(grid.mutex);
      grid.ended += range.count - 1;
    }
    const int64_t began = resumed || range.compiled ? 0 : nanoseconds();
    // What it waits for may never come once another has failed.
    for (bool first = !resumed; first ? !grid.cut_off(block->linear) : !grid.failed; first = false) {
      const BlockStatus status = block->run();
      if (status == BlockStatus::Done) keep_fresh(*block);
      else begin_fresh(*block);  // it waits for its children, or spins and may wait for them in its own way
      if (status == BlockStatus::Done && began && first) note_time(grid, nanoseconds() - began);
      if (status == BlockStatus::Done) break;
      if (status == BlockStatus::AwaitsChildren) {
        block = park(grid, std::move(block));
        if (!block) return;
        continue;  // they were done meanwhile
      }
      spun = true;
      check_for_hang(grid, *block);
      std::lock_guard lock(grid.mutex);
      grid.yielded.push_back(std::move(block));
      return;
    }
  } catch (TrapException& e) {
    block->end_watch();
    leave_range(grid, range, *block);
    fail(grid, std::move(e.trap), block->linear);
    // The frames of this block are in the middle of something: start from new ones.
    {
      std::lock_guard lock(grid.mutex);
      keep_printed(grid, *block);
    }
    const uint64_t linear = block->linear;
    keep_children(grid, *block);
    goes_on(grid, *block);
    block = std::make_unique<Block>();
    block->linear = linear;
  } catch (std::bad_alloc&) {
    block->end_watch();
    leave_range(grid, range, *block);
    Trap t;
    t.kind = TrapKind::StackOverflow;
    t.message = "the host has not enough memory to run the block";
    t.kernel = grid.code->function->display_name;
    t.block = block->index;
    fail(grid, std::move(t), block->linear);
    const uint64_t linear = block->linear;
    keep_children(grid, *block);
    goes_on(grid, *block);
    block = std::make_unique<Block>();
    block->linear = linear;
  }
  block->end_watch();
  end_block(grid, std::move(block));
}

}  // namespace

bool step(Grid& grid, bool& spun) {
  std::unique_ptr<Block> block;
  BlockRange range;
  bool resumed = false;
  {
    const auto lock = lock_soon(grid.mutex);
    if (grid.takes_turns && grid.turn_taken) return false;
    const uint64_t resident = grid.begun - grid.ended;
    const bool fresh_left = grid.has_fresh();
    if (!grid.yielded.empty() && (!fresh_left || resident >= grid.resident_limit)) {
      block = std::move(grid.yielded.front());
      grid.yielded.pop_front();
      resumed = true;
    } else if (fresh_left) {
      range = take(grid);
      if (!grid.idle.empty()) {
        block = std::move(grid.idle.back());
        grid.idle.pop_back();
      } else {
        block = spares().take();
      }
      block->linear = range.first;
    } else {
      return false;
    }
    grid.turn_taken = true;
    if (!resumed) ++grid.running;
  }
  const std::shared_ptr<Grid> keep = grid.child_grids ? grid.shared_from_this() : nullptr;
  {
    const Turn turn(&grid);
    run_block(grid, std::move(block), resumed, range, spun);  // after a fault it only ends
  }
  grid.turn_taken = false;
  if (!keep) return true;
  {
    std::lock_guard lock(grid.mutex);
    if (!resumed) --grid.running;
  }
  begin_kept(grid);
  return true;
}

}  // namespace warpbeam::vm
