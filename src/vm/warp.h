// A warp while it runs: 32 lanes, in one or more groups of lanes that are together.
//
// Divergence. A branch whose lanes disagree splits the running group in two. Blocks of code stand in an order in which a
// block comes after everything that leads to it without going round a loop, and a loop's blocks stand together
// (order_blocks in decode). Always running the group that is furthest behind in that order, and merging groups that meet
// at the same instruction, makes lanes reconverge as early as they can: it is what a linearised, masked program does, and
// unlike a stack of reconvergence points it needs no promise that lanes come back. Inside calls the deepest group is the
// one furthest behind.
//
// Progress. A group that spins (a loop with volatile or atomic accesses) is put behind the others for a while, so a lane
// can wait for a lane of its own warp; a warp that spins gives way to the other warps, a block to other blocks.
//
// Turns. A warp runs from barrier to barrier. On a GPU the warps that a barrier lets go read what they came for at about the
// same time, and programs get away with a missing barrier behind it: all read shared memory, then thread 0 stores the next
// value; or several warps update the same elements in step, and end with the same sums; or what one pass of a loop left in
// global memory the next pass reads, from all warps. So a warp that is about to store for the first time since a barrier to
// shared memory that it has read, or to change global memory with a single lane, and one that turns from reading global memory
// to storing there or back, lets those go first that have had fewer such turns.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "vm/code.h"
#include "vm/machine.h"
#include "vm/observer.h"
#include "vm/trap.h"

namespace warpbeam::vm {

struct Block;

// Registers of one activation of a function, shared by the groups of lanes that are in it.
struct Frame {
  const FunctionCode* function = nullptr;
  const FunctionCode* prepared = nullptr;  // whose constants are in `storage`
  std::vector<std::byte> storage;
  std::byte* regs = nullptr;
  Frame* caller = nullptr;
  const Insn* return_to = nullptr;  // null: the kernel itself
  const CallSite* site = nullptr;
  uint32_t local_base = 0;
  uint32_t depth = 0;
  uint32_t lanes = 0;               // that have not returned
  std::array<uint32_t, kWarpSize> stack_tops;  // at the call, where the function uses alloca
};

enum class GroupState : uint8_t { Ready, AtBarrier, AtWarpSync, AtCluster, AtChildren };

struct Group {
  uint32_t mask = 0;
  const Insn* ip = nullptr;       // what it executes next
  Frame* frame = nullptr;
  GroupState state = GroupState::Ready;
  bool behind = false;            // it spun: the others go first for a while
  bool released = false;          // AtWarpSync: goes on without the lanes it waited for
  uint32_t wait_mask = 0;         // AtWarpSync: lanes named
  uint8_t barrier = 0;
  const Insn* waiting = nullptr;  // the instruction that made it wait
};

enum class StopReason : uint8_t { None, Waiting, Spinning, Finished, GaveWay };

// A range of device memory known to be accessible; each memory instruction remembers its last one.
struct AccessRange {
  uint64_t lo = 1, hi = 0;
};

class Warp {
 public:
  // --- the running group; handlers use these directly
  std::byte* regs = nullptr;
  const Insn* ip = nullptr;     // the next instruction
  uint32_t active = 0;
  Frame* frame = nullptr;
  bool released = false;        // the running group need not wait at its next .sync instruction
  bool met = true;              // false: the last .sync instruction has to wait for other lanes
  Block* block = nullptr;

  uint32_t index = 0;           // in the block
  uint32_t live = 0;            // lanes that have not exited
  uint32_t present = 0;         // lanes the block shape has
  std::array<uint32_t, 3> tid[kWarpSize];
  std::vector<Group> groups;    // the others
  StopReason stop = StopReason::None;
  static constexpr uint32_t kSpinsBeforeYield = 256;  // to other warps
  uint32_t spins = 0, slice = 0, patience = kSpinsBeforeYield;
  bool polled = false;          // since run() began it looked for what other blocks do
  bool interpreted = false;     // run() runs it, not compiled code that calls handlers
  uint32_t turns = 0;           // taken since the last barrier
  bool read_shared = false;     // since then
  bool read_global = false, changed_global = false;  // in this turn
  // At the cluster's barrier: lanes that have arrived in this phase, and lanes whose phase is over but that have not waited.
  uint32_t cluster_arrived = 0, cluster_passed = 0;
  uint64_t executed = 0;  // instructions, where somebody watches
  uint64_t warp_group_products = 0;  // wgmma groups committed

  template <class T>
  T* lanes(int32_t offset) {
    return reinterpret_cast<T*>(regs + offset);
  }
  uint32_t& pred(int32_t offset) { return *reinterpret_cast<uint32_t*>(regs + offset); }

  // `fresh`: what the warp remembers of functions is void.
  void start(Block& b, uint32_t warp_index, bool fresh);
  void take_local_memory(const Block& b, bool needed);
  uint64_t footprint() const;
  // Runs until every group waits, the warp ends, or it spins.
  StopReason run();

  // --- control, for handlers
  void at_label();                                    // merges and reorders groups where paths meet
  void branch(const Insn& i, uint32_t taken);         // to i.target
  void jump(uint32_t target) { ip = &frame->function->insns[target]; }
  void split(uint32_t leaving, const Insn* where);    // `leaving` lanes become a group of their own at `where`
  void exit_lanes(uint32_t mask);
  void call(const Insn& i, const FunctionCode& callee, const CallSite& site, uint32_t mask);
  void ret(uint32_t mask);
  void wait_at_barrier(const Insn& i, uint8_t barrier);
  void wait_for_children(const Insn& i);              // grids that the block launched
  // For `.sync` instructions: true when the running group holds every live lane of `membermask`, so that it may execute.
  // Otherwise the group waits (or another one runs) and the handler must return at once.
  bool gather(const Insn& i, uint32_t membermask);
  void spin(uint32_t weight);   // counts a backward branch of a waiting loop
  void wait_inside(uint32_t weight);  // the same, for what only the block's own cluster can bring about
  void wait_for_cluster(const Insn& i);
  // Before an access by these lanes: true when other warps go first, and the handler must return at once.
  bool give_way_to_store(const Insn& i, uint32_t mask, bool shared) {
    return (shared ? turns == 0 && read_shared : read_global || (turns == 0 && (mask & (mask - 1)) == 0)) && give_way_to_others(i);
  }
  bool give_way_to_atomic(const Insn& i, uint32_t mask) {
    return turns == 0 && read_global && (mask & (mask - 1)) == 0 && give_way_to_others(i);
  }
  bool give_way_to_load(const Insn& i) { return changed_global && give_way_to_others(i); }
  void release_cluster();
  bool has_ready() const;
  bool release_warp_sync();     // lets lanes go that wait for lanes that will not come
  void release_barrier(uint8_t barrier);
  uint32_t waiting_at(uint8_t barrier) const;

  // Local memory of one lane.
  void move_local(uint32_t mask, uint32_t to, uint32_t from, uint32_t bytes);
  std::byte* local(int lane) { return local_memory.get() + static_cast<size_t>(lane) * local_stride; }
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> local_memory;  // by calloc: a deep stack costs nothing until it is used
  uint32_t local_stride = 0, local_limit = 0;
  // Calls take local memory from the bottom, alloca takes it from the top.
  std::array<uint32_t, kWarpSize> stack_tops{};
  uint32_t lowest_top = 0;
  void set_stack_top(int lane, uint32_t top) {
    stack_tops[lane] = top;
    lowest_top = std::min(lowest_top, top);
  }

  [[noreturn]] void trap(TrapKind kind, const Insn& i, int lane, std::string message, uint64_t address = 0, std::string detail = "");
  static std::string location(const Insn& i, const FunctionCode& f);
  // Of code that was inlined: the functions it is of, the innermost first, each with the place where it was called.
  struct Inlined {
    std::string function, called_at;
  };
  static std::vector<Inlined> inlined(const Insn& i, const FunctionCode& f);
  // Whether it is code of CUB or Thrust, be it inlined into the program's.
  static bool of_algorithm(const Insn& i, const FunctionCode& f);

 private:
  Frame* take_frame(const FunctionCode& f);
  void prepare_frame(Frame& frame, const FunctionCode& f);
  void leave_frame(Frame* frame, uint32_t mask);
  void run_group(size_t k);     // the k-th of the others becomes the running one
  bool pick();                  // some ready group becomes the running one
  // A group of `mask` lanes that will go on at `where`, beside the running one.
  Group& put_aside(uint32_t mask, const Insn* where, Frame* in);
  void park(GroupState state, const Insn& i, const Insn* next);
  void run_alone();
  void run_observed();
  bool give_way_to_others(const Insn& i);
  void begin_turns();
  static bool before(const Frame* fa, const Insn* a, const Frame* fb, const Insn* b);

  std::vector<std::unique_ptr<Frame>> all_frames_;
  std::vector<Frame*> free_frames_;
  uint64_t frame_bytes_ = 0;    // of the functions that are active
  Frame root_;
};

struct Barrier {
  uint32_t expected = 0;               // threads; 0: all of the block
  uint32_t arrived_without_waiting = 0;  // by bar.arrive
  uint32_t popc = 0;
  bool all = true, any = false, in_use = false;
};

enum class BlockStatus : uint8_t { Done, Yielded, Blocked, AwaitsChildren };

struct GridState;
struct BlockChildren;
class StoppedBlock;

// Shared memory begins where a line of the host's caches does, as compiled code likes it, which may also read past its end.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  static T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  static void deallocate(T* p, size_t) { ::operator delete(p, kLine); }
  bool operator==(const LineAllocator&) const = default;
};
inline constexpr size_t kSharedSlack = 256;

// A block while it runs: its warps take turns on one host thread.
struct Block {
  GridState* grid = nullptr;
  const Launch* launch = nullptr;
  const Code* code = nullptr;
  std::array<uint32_t, 3> index{};
  uint64_t linear = 0;
  std::vector<std::byte, LineAllocator<std::byte>> shared;
  uint32_t shared_bytes = 0;
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<Barrier, 16> barriers;
  uint32_t threads = 0, live_threads = 0;
  uint32_t row = 0;             // not 0: rows of threads begin at multiples of so many lanes (rows.h of the fast engine)
  uint32_t smid = 0;
  // Blocks of a cluster run on one host thread, in turns. The first of them leads; a block outside clusters leads itself.
  Block* leader = this;
  std::vector<Block*> members;                // of the leader: the cluster by rank
  std::vector<std::unique_ptr<Block>> peers;  // of the leader: the others
  uint32_t cluster_rank = 0;
  std::array<uint32_t, 3> cluster_index{};    // of the block in the cluster
  uint32_t idle_rounds = 0;
  uint64_t params_address = 0;  // of the kernel's parameters, where a kernel may take their address
  std::unique_ptr<BlockObserver> observer;  // null: nobody watches
  std::string printed;
  uint64_t progress = 0;        // counts stores, and atomics that changed something: spinning alone leaves it as it is
  bool fresh_warps = true;      // what the warps remember is of another grid
  uint64_t prepared_for = ~uint64_t(0);  // prepare_warps was called for this block
  uint64_t progress_seen = 0;   // when the block last gave way
  std::shared_ptr<StoppedBlock> stopped;  // compiled code has left it in the middle, to wait for others
  bool waits = false;           // it is among GridState::waiting
  std::array<AccessRange, 64> ranges;
  uint64_t ranges_epoch = 0;
  std::shared_ptr<BlockChildren> children;  // null until its code calls the device runtime
  bool waits_for_children = false;          // some lanes do

  // Which of the warp's lanes are threads.
  uint32_t present(uint32_t warp) const;
  uint32_t warps_wanted() const;

  // What the block as a whole needs; then `start` begins its warps, or a compiled kernel runs it.
  void begin(GridState& g, uint64_t block_index);
  void start();
  // Its observer comes and goes; start() sees to the first.
  void begin_watch();
  void end_watch();
  // After a block that ran without warps, in compiled code: the next one of the grid, in the same context.
  void become_next();
  // The same for the blocks of a unit of work: one block, or a cluster that this one leads.
  void begin_unit(GridState& g, uint64_t unit);
  void start_unit();
  // For compiled kernels that call handlers: as start, but the warps' registers keep what they hold.
  void prepare_warps();
  // For compiled kernels that only use the warps' local memory.
  void take_local_memory();
  uint64_t footprint() const;   // bytes of host memory, roughly
  BlockStatus run();            // the whole unit
  void check_cluster_barrier();
  // Completes barrier `b` if every thread it expects has come.
  void check_barrier(uint8_t b);
  std::string who_waits() const;

 private:
  void have_warps();
  BlockStatus advance(bool& polled);  // until nothing in the block can go on by itself
  [[noreturn]] void deadlock(const std::string& message);
};

// Thrown by handlers, caught where a block is run.
struct TrapException {
  Trap trap;
};

}  // namespace warpbeam::vm
