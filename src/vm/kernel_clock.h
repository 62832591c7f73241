// %clock, %clock64 and %globaltimer of kernels that live on a device's time rather than their host's (observe/clock). A warp's
// clock goes on with its instructions where they are counted, and by kReading with each reading, as a loop that waits for a
// number of ticks goes on: so the loop turns about as often as on a GPU, and as often every time.
#pragma once
#include <atomic>
#include <cstdint>

namespace warpbeam::vm {

class Warp;

inline constexpr uint64_t kReadingTicks = 40;

// Whether kernels live on a device's time; while none has, nothing but this is looked at.
inline std::atomic<bool> kernels_have_clocks{false};

// A grid is about to run; its kernel begins at that moment.
void begin_kernel_clock(uint64_t grid_id, double nanoseconds);
// It has run. How many ticks its longest warp has seen, if it looked at a clock.
uint64_t end_kernel_clock(uint64_t grid_id);
// A warp reads its clock.
void read_kernel_clock(Warp& warp, uint64_t* nanoseconds, uint64_t* ticks);

}  // namespace warpbeam::vm
