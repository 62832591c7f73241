// What an assembler takes operations to last when it puts instructions in order. (How long they do last is in a device's table.)
#pragma once
#include "assembly/machine_code.h"

namespace warpbeam::assembly {

// Cycles until the result may be read; memory as if it answered from a near cache.
uint32_t latency_of(Operation operation);

// Instructions of one warp go to a pipe so many cycles apart. (Two pipes take turns at multiplications of floats: no distance.)
struct Spacing {
  uint32_t pipe = 0, cycles = 1;  // pipe 0: none that is waited for
};
inline constexpr uint32_t kSpacedPipes = 6;
Spacing spacing_of(Operation operation);

// May a predicate be among what an operation computes with? Any other that reads one does nothing where that is false, and waits longer for it.
bool takes_predicates(Operation operation);
inline constexpr uint32_t kGuardLatency = 13;

// Does an operation wait in a queue, so that it is not known when it reads and writes?
bool is_queued(Operation operation);

}  // namespace warpbeam::assembly
