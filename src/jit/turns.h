// Idea: warps that wait for each other at different places, at barriers for some of them or in memory, have a host stack each.
//
// Where all barriers are for the whole block, they cut a kernel into regions that the block's warps run one after the other (regions.cc).
// Elsewhere a kernel is compiled for one warp: where that has to wait, it stops in the middle and another one goes on. They go round as in
// the interpreter: from one that waits to the next in number that can go on, and whoever comes to a barrier last does not stop.
// Precondition: what a warp waits at is known to compiled code. Postcondition: every warp that can go on does.
//
// Fallback: where none can go on, or one meets what compiled code does not know, the whole block is handed over to the interpreter: every
// warp that has stopped leaves at the instruction at which it waits, which it then begins anew. So deadlocks are the interpreter's to find
// and to report.
#pragma once
#include <array>
#include <cstdint>
#include <exception>

#include "jit/runtime.h"
#include "jit/stacks.h"

namespace warpbeam::jit {

class Turns {
 public:
  using WarpCode = int32_t (*)(Context* context, uint32_t warp);  // 0: it was handed over

  // Runs a block's warps. False: it was handed over.
  bool run(Context& context, WarpCode code);

  // For the warp that runs. True: it is to be handed over, at the instruction at which it waits.
  bool look_again(uint32_t weight, bool busy = false);  // what it looked for has not come about; after some such looks others go first
  bool give_way();     // others go first
  bool wait_at(const vm::Insn& barrier, uint32_t lanes, uint32_t id, uint32_t count, uint32_t said);
  void arrive_at(const vm::Insn& barrier, uint32_t lanes, uint32_t id, uint32_t count);
  uint32_t answer() const { return warps_[running_].answer; }  // of a barrier with a reduction
  void hand_over(const Handover& handover, uint32_t lanes);

 private:
  static constexpr uint32_t kMostWarps = 32;
  enum class State : uint8_t { Fresh, Ready, AtBarrier, Done, HandedOver };
  struct One {
    Stack stack;
    State state = State::Fresh;
    uint8_t barrier = 0;
    uint32_t lanes = 0;  // that wait at it
    uint32_t said = 0;   // those of them whose predicate holds
    uint32_t answer = 0;
    uint32_t spins = 0, patience = 0;  // as the interpreter's (vm/warp.h)
    const vm::Insn* waiting = nullptr;  // until it is let go
  };

  static void begin(void* turns);
  bool can_run(const One& warp) const {
    return warp.state == State::Fresh || warp.state == State::Ready || (handing_over_ && warp.state == State::AtBarrier);
  }
  void next(One& from);
  bool stop(State state);
  void check(uint32_t id);
  void release(uint32_t id);
  void leave(State state);
  void place_others();
  vm::Barrier& enter(uint32_t id, uint32_t count);

  Context* context_ = nullptr;
  vm::Block* block_ = nullptr;
  WarpCode code_ = nullptr;
  uint32_t count_ = 0, left_ = 0, running_ = 0;
  uint32_t threads_ = 0;                     // that have not left
  std::array<uint32_t, 16> waiting_{};       // by barrier: threads that wait there
  bool handing_over_ = false;
  uint64_t seen_ = 0, looks_ = 0;  // what had come about when the last one looked in vain; how many did since
  std::exception_ptr failure_;
  Stack home_;
  std::array<One, kMostWarps> warps_;
};

extern "C" uint32_t wb_look_again(Context* c, uint32_t weight);
extern "C" uint32_t wb_give_way(Context* c);
extern "C" uint32_t wb_wait_at(Context* c, const vm::Insn* barrier, uint32_t lanes, uint32_t id, uint32_t count, uint32_t said);
extern "C" uint32_t wb_stays(Context* c, uint32_t warp, const vm::Insn* i);  // the handler wants to be called again
extern "C" uint32_t wb_answer(Context* c);
extern "C" void wb_arrive_at(Context* c, const vm::Insn* barrier, uint32_t lanes, uint32_t id, uint32_t count);
extern "C" void wb_leave_turns(Context* c, const Handover* h, uint32_t lanes);

}  // namespace warpbeam::jit
