// %clock, %clock64 and %globaltimer of kernels that live on a device's time rather than their host's (observe/clock). Between readings
// at different instructions a warp's clock goes on by what a multiprocessor takes for what lies between them, where the block's observer
// knows that (BlockObserver::clock_read), or another block's did. Else it goes on by kReadingTicks with each reading, as a loop that
// waits for a number of ticks goes on. One that goes on waiting at the same instruction takes longer steps, so that waits of
// milliseconds in thousands of warps end soon; what it waits too long by that is less than a step, a 128th of what it has waited.
#pragma once
#include <atomic>
#include <cstdint>

namespace warpbeam::vm {

class Warp;
struct Insn;

inline constexpr uint64_t kReadingTicks = 40;
inline constexpr uint64_t kStepShare = 128;

// What the clocks of a grid's warps have seen, but for what their work took.
struct KernelClockUse {
  uint64_t longest = 0;    // ticks of a warp
  uint64_t of_blocks = 0;  // the sum of each block's longest
  uint64_t readings = 0;   // by warps
};

// Whether kernels live on a device's time; while none has, nothing but this is looked at.
inline std::atomic<bool> kernels_have_clocks{false};

// A grid is about to run; its kernel begins at that moment.
void begin_kernel_clock(uint64_t grid_id, double nanoseconds);
// It has run.
KernelClockUse end_kernel_clock(uint64_t grid_id);
// A warp reads its clock at that instruction.
void read_kernel_clock(Warp& warp, const Insn* at, uint64_t* nanoseconds, uint64_t* ticks);
// A warp sleeps for so long.
void pass_kernel_clock(Warp& warp, uint64_t nanoseconds);

}  // namespace warpbeam::vm
