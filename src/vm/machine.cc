#include "vm/machine.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "vm/grid.h"
#include "vm/lockstep.h"
#include "vm/soon.h"
#include "vm/workers.h"

namespace warpbeam::vm {

struct Machine::State {
  std::mutex mutex;
  std::vector<std::shared_ptr<Grid>> active;
  Workers workers;
  unsigned threads = 1;
  std::atomic<uint64_t> generation{0};       // of `active`; changes under the mutex
  std::atomic<unsigned> running{0};
  std::atomic<bool> refused{false};          // a thread wanted to run blocks when there were enough of them
  std::atomic<bool> waiters_help{false};     // whoever launched a single block has come to run it itself, the last time
  std::atomic<bool> hosts_help{false};       // the same of any grid
  std::atomic<int> most_urgent{INT_MAX};     // the least priority among `active`; changes under the mutex

  void look_at_priorities() {
    int least = INT_MAX;
    for (const auto& grid : active) least = std::min(least, grid->launch.priority);
    most_urgent = least;
  }

  // Where threads that wait for a grid help, fewer of the machine's own run blocks: more than there are processors would hold
  // the blocks that they took for as long as others run in their place. False: there are enough.
  bool begin_running() {
    if (running.fetch_add(1) < threads) return true;
    refused = true;
    --running;
    return false;
  }
  // Whoever found enough of them may be needed now. Nobody else is woken: two threads that have nothing to run would do so to
  // each other for as long as a third one runs what there is.
  void end_running() {
    if (running.fetch_sub(1) < threads || !refused.exchange(false)) return;
    const auto lock = lock_soon(mutex);
    workers.call_one();
  }

  // It does not wait in `active` for a thread of the machine's own to come by.
  void forget(const Grid& grid) {
    std::shared_ptr<Grid> last;  // goes when the mutex is free again
    const auto lock = lock_soon(mutex);
    const auto it = std::ranges::find(active, &grid, &std::shared_ptr<Grid>::get);
    if (it == active.end()) return;
    last = std::move(*it);
    active.erase(it);
    look_at_priorities();
  }

  // Two threads that want one block only get into each other's way. True: it has been taken.
  bool leave_to_waiter(const Grid& grid) {
    constexpr std::chrono::microseconds kUntilItComes{4};
    if (grid.total_blocks != 1 || !waiters_help) return false;
    if (soon([&] { return !grid.has_fresh(); }, kUntilItComes)) return true;
    waiters_help = false;
    return false;
  }

  // One of the child grids with blocks to run, those that were launched last first; or null.
  std::shared_ptr<Grid> youngest_of(const ChildGrids* child_grids);

  // Every other turn goes to the youngest grid: where grids launch grids, those furthest down end first, so that few are
  // under way at once.
  std::shared_ptr<Grid> choose(size_t turn) const {
    // What is urgent goes first, but for a turn now and then: its blocks may wait for what others do.
    if (turn % 8)
      if (auto urgent = urgent_before(INT_MAX)) return urgent;
    std::shared_ptr<Grid> grid = active[turn / 2 % active.size()];
    if (turn % 2)
      for (const auto& other : active)
        if (other->launch.depth > grid->launch.depth) grid = other;
    return grid;
  }

  // Of those grids that have fresh blocks, and not all of them have the same priority, the most urgent one if it is more so than
  // `priority`; or null.
  std::shared_ptr<Grid> urgent_before(int priority) const {
    std::shared_ptr<Grid> grid;
    int most = INT_MIN;
    for (const auto& other : active) {
      if (!other->has_fresh()) continue;
      most = std::max(most, other->launch.priority);
      if (!grid || other->launch.priority < grid->launch.priority) grid = other;
    }
    return grid && grid->launch.priority < std::min(priority, most) ? grid : nullptr;
  }

  // The mutex is free meanwhile. True: something has come that was not there when `generation` was `seen`.
  bool look_around(std::unique_lock<std::mutex>& lock, uint64_t seen) {
    lock.unlock();
    const bool found = soon([&] { return generation != seen; });
    lock = lock_soon(mutex);
    return found || generation != seen;
  }

  // Up to `most` blocks.
  enum class Did { Something, Nothing, Refused };
  Did run_blocks(Grid& grid, int most) {
    if (!begin_running()) return Did::Refused;
    bool spun = false, did = false;
    for (int n = 0; n < most && step(grid, spun) && (did = true) && !spun && most_urgent >= grid.launch.priority; ++n) {}
    end_running();
    if (spun) sched_yield();
    return did ? Did::Something : Did::Nothing;
  }

  void work_loop() {
    std::unique_lock lock = lock_soon(mutex);
    unsigned idle_rounds = 0;
    for (size_t turn = 0;;) {
      if (std::erase_if(active, [](auto& g) { return g->has_nothing_to_run(); })) look_at_priorities();
      const uint64_t seen = generation;
      if (active.empty()) {
        if (!look_around(lock, seen)) workers.sleep(lock);
        continue;
      }
      const std::shared_ptr<Grid> grid = choose(turn++);
      // Several blocks at a time: taking turns between grids is for fairness, not for every block.
      const int most = active.size() > 1 ? 4 : 16;
      lock.unlock();
      if (leave_to_waiter(*grid)) {
        lock = lock_soon(mutex);
        if (look_around(lock, seen)) continue;
        lock.unlock();
      }
      workers.begin_work();
      const Did did = run_blocks(*grid, most);
      lock = lock_soon(mutex);
      workers.end_work();
      if (did == Did::Refused) {
        // Whoever ends running says so.
        if (generation == seen) workers.sleep(lock, std::chrono::milliseconds(1));
        continue;
      }
      idle_rounds = did == Did::Something ? 0 : idle_rounds + 1;
      if (idle_rounds > active.size() && generation == seen) {
        // Blocks of these grids run on other threads; of one that takes turns that is so until it ends.
        if ((active.size() == 1 && grid->takes_turns) || !look_around(lock, seen)) workers.sleep(lock, std::chrono::milliseconds(1));
        idle_rounds = 0;
      }
    }
  }
};

Machine::Machine() : state_(std::make_unique<State>()) {
  unsigned n = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) n = std::max(1, CPU_COUNT(&set));
  if (const char* text = std::getenv("WARPBEAM_THREADS"))
    if (int v = std::atoi(text); v > 0 && v <= 1024) n = static_cast<unsigned>(v);
  state_->threads = n;
}

Machine::~Machine() = default;

// Never destroyed: kernels may still run while static objects go away, and their threads end with the process.
Machine& Machine::instance() {
  static Machine* machine = new Machine;
  return *machine;
}

unsigned Machine::threads() const { return state_->threads; }

std::shared_ptr<Grid> Machine::start(Launch launch, std::function<void(LaunchResult&&)> done, Grid* parent) {
  // Grids that launch grids change memory that no single run owns: the engines are not compared on them.
  const bool alone = !parent && !launch.program->image().calls_runtime;
  if (alone && lockstep_wanted() && !launch.observer && !launch.one_block_at_a_time)
    return start_in_lockstep(std::move(launch), std::move(done));
  auto grid = std::allocate_shared<Grid>(Recycled<Grid>());
  grid->code = launch.kernel->code;
  grid->launch = std::move(launch);
  grid->done = std::move(done);
  const Launch& l = grid->launch;
  const uint64_t cluster_size = uint64_t(l.cluster[0]) * l.cluster[1] * l.cluster[2];
  if ((!l.observer || l.observer->wanted().compiled) && !l.interpret && cluster_size == 1) {
    grid->ready_seen = compiled_so_far();
    auto [kernel, later] = find_compiled(l, false, true);
    grid->compiled = std::move(kernel);
    grid->may_be_compiled = later;
  }
  grid->takes_turns = l.one_block_at_a_time || (l.observer && l.observer->one_block_at_a_time());
  grid->total_blocks = uint64_t(l.grid[0]) * l.grid[1] * l.grid[2] / cluster_size;
  grid->resident_limit = std::max<uint64_t>(l.cooperative ? grid->total_blocks : l.resident_blocks / cluster_size, 1);
  if (grid->code->takes_param_address && !l.params.empty()) {
    auto a = l.memory->borrow(l.params.size(), "kernel parameters");
    if (a) {
      std::copy(l.params.begin(), l.params.end(), reinterpret_cast<std::byte*>(a->base));
      grid->params_address = a->base;
    }
  }
  if (l.cooperative)
    if (auto a = l.memory->borrow(256, "the meeting place of a cooperative launch")) {
      grid->workspace = a->base;
      std::memcpy(reinterpret_cast<std::byte*>(a->base) + 8, &l.others, sizeof(l.others));
    }
  if (parent) {
    grid->child_grids = parent->child_grids;
  } else if (l.program->image().calls_runtime) {
    grid->child_grids = std::make_shared<ChildGrids>();
    grid->child_grids->memory = l.memory;
  }
  {
    const auto lock = lock_soon(state_->mutex);
    state_->workers.start(state_->threads, [state = state_.get()] { state->work_loop(); });
    state_->active.push_back(grid);
    state_->look_at_priorities();
    // Its one block is run before another thread could come by: none is called, and none looks for more.
    grid->left_alone = l.helped && grid->total_blocks == 1 && !grid->child_grids;
    if (grid->left_alone) return grid;
    ++state_->generation;
    const uint64_t wanted = std::min<uint64_t>(grid->total_blocks, state_->threads);
    // A thread that has just ended the grid before this one goes on with it.
    const bool comes_back = Workers::has_this_thread() && !parent;
    state_->workers.call(wanted, (wanted > 1 && state_->hosts_help ? 1 : 0) + (comes_back ? 1 : 0));
  }
  return grid;
}

void Machine::wake(const std::shared_ptr<Grid>& grid) {
  std::lock_guard lock(state_->mutex);
  if (std::ranges::find(state_->active, grid) == state_->active.end()) state_->active.push_back(grid);
  state_->look_at_priorities();
  ++state_->generation;
  state_->workers.call_one();
}

bool Machine::has_more_urgent(const Grid& grid) const { return state_->most_urgent.load(std::memory_order_relaxed) < grid.launch.priority; }

bool Machine::call_another() {
  if (state_->running >= state_->threads) return true;
  const std::unique_lock lock(state_->mutex, std::try_to_lock);
  if (!lock) return false;
  state_->hosts_help = false;
  state_->workers.call_one();
  return true;
}

std::shared_ptr<Grid> Machine::State::youngest_of(const ChildGrids* child_grids) {
  std::lock_guard lock(mutex);
  for (auto g = active.rbegin(); g != active.rend(); ++g)
    if ((*g)->child_grids.get() == child_grids && ((*g)->has_fresh() || (*g)->has_yielded())) return *g;
  return nullptr;
}

void Machine::help(Grid& grid) {
  ++state_->running;
  if (grid.total_blocks == 1) state_->waiters_help = true;
  if (grid.has_fresh()) state_->hosts_help = true;
  bool spun = false;
  for (bool more = true; more && !spun;) {
    if (has_more_urgent(grid)) {
      std::shared_ptr<Grid> urgent;
      {
        const auto lock = lock_soon(state_->mutex);
        urgent = state_->urgent_before(grid.launch.priority);
      }
      bool waits = false;
      if (urgent && step(*urgent, waits) && !waits) continue;
    }
    more = step(grid, spun);
  }
  while (grid.child_grids && !spun && !grid.finished) {
    const std::shared_ptr<Grid> next = state_->youngest_of(grid.child_grids.get());
    if (!next || !step(*next, spun)) break;
  }
  state_->end_running();
  if (grid.has_nothing_to_run()) return state_->forget(grid);
  if (!grid.left_alone.exchange(false)) return;
  const auto lock = lock_soon(state_->mutex);
  ++state_->generation;
  state_->workers.call_one();
}

LaunchResult Machine::run(Launch launch) {
  LaunchResult out;
  auto grid = start(std::move(launch), [&](LaunchResult&& r) { out = std::move(r); });
  help(*grid);
  std::unique_lock lock(grid->mutex);
  grid->finished_cv.wait(lock, [&] { return grid->finished.load(); });
  return out;
}

}  // namespace warpbeam::vm
