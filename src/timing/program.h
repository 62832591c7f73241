// Machine code as the multiprocessor issues it: again and again, so that all that can be looked up is.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "timing/multiprocessor.h"
#include "timing/rates.h"
#include "timing/work.h"

namespace warpbeam::timing {

// Time is counted in fractions of cycles, so that units that take 1.6 of them do.
using Ticks = int64_t;
inline constexpr Ticks kTick = 16;
inline constexpr Ticks kNever = std::numeric_limits<Ticks>::max() / 4;
inline Ticks ticks(double cycles) { return static_cast<Ticks>(std::llround(cycles * kTick)); }

// What hands its results on at once: what another one reads comes later.
enum class Pipe : uint8_t { Others, Integers, Floats };

// A machine instruction, ready to be issued again and again.
struct Ready {
  assembly::Operation operation{};
  Unit unit{}, other{};
  bool access = false, guarded = false, rejoins = false;
  bool phase_wait = false;  // for a phase of a barrier in memory
  bool stores = false;      // from registers to memory
  bool computes = false;    // an access that the units for integers make
  bool cluster_arrives = false, cluster_waits = false;
  uint32_t ptx = 0;
  uint32_t first_register = 0;  // at Program::registers: those that it reads, then those that it writes
  uint8_t reads = 0, writes = 0;
  Pipe pipe = Pipe::Others;
  int32_t latency = 0, interval = 0;
  int32_t own_interval = 0;  // until its warp's next one for the same unit
  int32_t hold = 0;  // of its scheduler, beyond its issue
  int32_t spilled = -1;  // assembly::MachineInstruction::spilled
};

inline constexpr size_t kInstructionsPerLine = 8;
struct CodeLine {  // of so many instructions, and which caches have it
  bool near = false, behind = false, seen = false;
  Ticks at = 0;  // when it is there
};

struct Text {
  std::vector<Ready> code;
  mutable std::vector<CodeLine> lines;
};

struct ReadyBlock {
  Text once, unrolled;
  uint32_t turns = 1;
  int32_t folded_into = -1;
  bool phase_wait = false;  // has one
  uint32_t barriers = 0;    // of the block, that a warp comes to
};

struct Program {
  std::vector<std::vector<ReadyBlock>> functions;
  std::vector<uint16_t> registers;
};

Program make_program(const Work& work, const Rates& rates);

// What a register waits for, of those that are not written yet.
enum class Source : uint8_t { Fixed, Short, Long, Group };
Source source_of(assembly::Operation operation);
// Why a warp waits: for such a register, or for the unit of an instruction.
Stall stall_of(Source source);
Stall throttle_of(const Ready& instruction);

}  // namespace warpbeam::timing
