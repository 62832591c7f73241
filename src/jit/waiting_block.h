// Blocks that may have to wait for other blocks: at a grid's barrier, for the sums of the blocks before them, for a lock.
//
// Idea: such a block runs on a host stack of its own. Where a loop has looked some times in vain for what it waits for (wb_poll), the block
// stops there, in the middle, and others of its grid go first; it goes on later, on whichever host thread takes it up. So blocks of a
// cooperative launch are compiled as others are: barriers cut them into regions, and only loops that wait ask whether to stop.
// Precondition: what a block waits for does not come from a warp of its own that has yet to run the same region.
// Postcondition: every block that can go on does.
// Fallback: where all blocks of the grid that have begun wait and none has gone on for a while, one is handed over to the interpreter,
// which lets lanes and warps take turns and tells deadlocks. Kernels of which that is true again and again are compiled for warps that
// take turns (turns.h), and their blocks stop once all of their warps wait.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "jit/turns.h"
#include "vm/engine.h"

namespace warpbeam::jit {

// What compiled code sees of a block, and what that points to.
struct BlockState {
  Context context;
  std::byte *frames[32], *locals[32];
  uint32_t live[32];
};

class WaitingBlock {
 public:
  using BlockCode = int32_t (*)(void* context);  // 0: it was handed over

  // One that is not in use. Given back, another block may have it.
  static WaitingBlock* take();
  static void give_back(WaitingBlock* one);

  BlockState& state() { return *state_; }
  // Exactly one of the two.
  vm::Went begin(vm::Block& block, BlockCode code, Turns::WarpCode warp_code);
  vm::Went go_on();

  // For the code that runs. True: the block is to be handed over where it is.
  bool look_again(bool busy);
  // The stack that runs stops; true as above. `busy`: its loops may be doing something.
  bool stop(Stack& here, bool busy);
  void passed();  // lanes have left a loop that waits
  std::byte* kept(uint64_t bytes);

 private:
  WaitingBlock();
  static void first(void* one);
  vm::Went go_to();
  bool all_wait() const;

  struct Free {
    void operator()(BlockState* state) const;
  };
  std::unique_ptr<BlockState, Free> state_;
  Stack home_, stack_;
  Stack* at_ = nullptr;  // which one goes on
  vm::Block* block_ = nullptr;
  BlockCode code_ = nullptr;
  Turns::WarpCode warp_code_ = nullptr;
  vm::Went went_{};
  uint32_t looks_ = 0, busy_looks_ = 0;  // since lanes last left such a loop; the first begins anew at each stop
  std::exception_ptr failure_;
  std::vector<std::byte> kept_;
  std::unique_ptr<Turns> turns_;
};

extern "C" uint32_t wb_poll(Context* c, uint32_t busy);
extern "C" void wb_passed(Context* c);
// Where regions keep what warps have, when that is too much for the stack.
extern "C" std::byte* wb_kept(Context* c, uint64_t bytes);

}  // namespace warpbeam::jit
