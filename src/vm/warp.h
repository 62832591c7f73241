// A warp while it runs: 32 lanes with one program counter per group of lanes that are together.
//
// Divergence. A branch whose lanes disagree splits the group; both parts remember a Join, the place where they meet
// again (the branch's immediate post-dominator). A group that reaches its join's place waits there until all lanes the
// join expects have come or have left the kernel. Waiting at a join is an optimisation, never a promise: when nothing
// else can run, or when a group spins for a lane that waits, the waiting lanes are let go (`release_joins`), which gives
// the progress that programs written for independent thread scheduling rely on.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vm/code.h"
#include "vm/machine.h"
#include "vm/trap.h"

namespace warpbeam::vm {

struct Block;

// Registers of one activation of a function, shared by the groups of lanes that are in it.
struct Frame {
  const FunctionCode* function = nullptr;
  std::vector<std::byte> storage;
  std::byte* regs = nullptr;
  Frame* caller = nullptr;
  const Insn* return_to = nullptr;  // null: the kernel itself
  uint32_t local_base = 0;
  uint32_t depth = 0;
};

struct Join {
  uint32_t at = kNoTarget;  // instruction index; a call's join has kNoTarget and completes by ret
  Frame* frame = nullptr;   // in which `at` counts
  uint32_t expected = 0, arrived = 0;
  Join* parent = nullptr;
  bool call = false;        // stands for "the callee has returned in all lanes"
};

enum class GroupState : uint8_t { Ready, AtBarrier, AtWarpSync, Sleeping };

struct Group {
  uint32_t mask = 0;
  const Insn* ip = nullptr;
  Join* join = nullptr;
  Frame* frame = nullptr;
  GroupState state = GroupState::Ready;
  uint32_t wait_mask = 0;      // AtWarpSync: lanes named
  const Insn* waiting = nullptr;  // the instruction that made it wait
  uint8_t barrier = 0;
};

enum class StopReason : uint8_t { None, NoReadyGroup, Spinning, Finished };

// A range of device memory known to be accessible; each memory instruction remembers its last one.
struct AccessRange {
  uint64_t lo = 1, hi = 0;
};

template <class T>
class Pool {  // objects that come and go often; addresses stay
 public:
  T* take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<T>());
      return all_.back().get();
    }
    T* t = free_.back();
    free_.pop_back();
    return t;
  }
  void give(T* t) { free_.push_back(t); }
  void reset() {
    free_.clear();
    for (auto& t : all_) free_.push_back(t.get());
  }

 private:
  std::vector<std::unique_ptr<T>> all_;
  std::vector<T*> free_;
};

class Warp {
 public:
  // --- the group that runs; handlers use these directly
  std::byte* regs = nullptr;
  const Insn* ip = nullptr;     // the next instruction
  uint32_t active = 0;
  Join* join = nullptr;
  Frame* frame = nullptr;
  Block* block = nullptr;

  uint32_t index = 0;           // in the block
  uint32_t live = 0;            // lanes that have not exited
  uint32_t present = 0;         // lanes the block shape has
  std::array<uint32_t, 3> tid[kWarpSize];
  std::vector<Group> groups;    // the others
  StopReason stop = StopReason::None;
  uint32_t spins = 0;           // backward branches of waiting loops since another group last ran

  template <class T>
  T* lanes(int32_t offset) { return reinterpret_cast<T*>(regs + offset); }
  uint32_t& pred(int32_t offset) { return *reinterpret_cast<uint32_t*>(regs + offset); }

  void start(Block& b, uint32_t warp_index);
  // Runs until every group waits, the warp ends, or it spins.
  StopReason run();

  // --- control, used by exec_control.cc
  void branch(const Insn& i, uint32_t taken, uint32_t target);
  void arrive_at_join(const Insn& i);
  void exit_lanes(uint32_t mask);
  void call(const Insn& i, const FunctionCode& callee, const CallSite& site, uint32_t mask);
  void ret(uint32_t mask);
  // Lanes outside `mask` go on by themselves after the current instruction; the running group becomes `mask`.
  void keep_only(uint32_t mask);
  // The running group waits; another ready group takes over, or the warp stops.
  void wait(GroupState state, const Insn& at, uint32_t wait_mask = 0, uint8_t barrier = 0);
  // For `.sync` instructions: true when the running group holds every live lane of `membermask` it must meet.
  bool gather(const Insn& i, uint32_t membermask);
  void spin_yield();
  bool pick_ready();            // makes a ready group the running one
  bool release_joins();         // lets waiting lanes go; true if any
  bool release_warp_sync();     // the same for lanes that wait for lanes that will not come
  void merge_equal_groups();
  bool finished() const { return live == 0; }
  bool has_ready() const;
  void make_ready_from_barrier(uint8_t barrier);

  // Local memory of one lane.
  std::byte* local(int lane) { return local_memory.data() + static_cast<size_t>(lane) * local_stride; }
  std::vector<std::byte> local_memory;
  uint32_t local_stride = 0, local_limit = 0;

  [[noreturn]] void trap(TrapKind kind, const Insn& i, int lane, std::string message, uint64_t address = 0, std::string detail = "");
  std::string location(const Insn* i, const Frame* f) const;

 private:
  friend struct Block;
  Frame* make_frame(const FunctionCode& f, Frame* caller, uint32_t local_base);
  void fill_slots(Frame& frame);
  void load_running(const Group& g);
  void complete_join(Join* j);
  void drop_from_joins(Join* j, uint32_t mask);
  Pool<Join> joins_;
  Pool<Frame> frames_;
  std::vector<Frame*> frames_in_use_;
  Frame root_;
};

struct Barrier {
  uint32_t arrived = 0;                   // threads, absent lanes of complete warps included
  uint32_t expected = 0;                  // 0: all threads of the block
  std::vector<uint32_t> warp_arrived;     // lanes by warp
  uint32_t red_count = 0, red_and = 1, red_or = 0;
  bool in_use = false;
};

enum class BlockStatus : uint8_t { Done, Yielded };

struct GridState;

struct Block {
  GridState* grid = nullptr;
  const Launch* launch = nullptr;
  const Code* code = nullptr;
  std::array<uint32_t, 3> index{};
  uint64_t linear = 0;
  std::vector<std::byte> shared;
  uint32_t shared_bytes = 0;
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<Barrier, 16> barriers;
  uint32_t threads = 0, live_threads = 0;
  uint32_t smid = 0;
  std::string printed;
  std::array<AccessRange, 64> ranges;
  uint64_t ranges_epoch = 0;

  void start(GridState& g, uint64_t block_index);
  BlockStatus run();
  // Threads of warp `w` arrive at barrier `b`; true when this completes the barrier (everybody waiting was released).
  bool arrive(uint8_t b, Warp& w, uint32_t mask, uint32_t expected);
  void threads_exited(uint32_t n);
  void check_barrier(uint8_t b);
  std::string who_waits() const;
};

// Thrown by handlers, caught where a block is run.
struct TrapException {
  Trap trap;
};

}  // namespace warpbeam::vm
