// What a multiprocessor is made of: warps, the places of blocks, schedulers and their ways to memory.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "assembly/machine_code.h"
#include "timing/program.h"
#include "timing/trace.h"

namespace warpbeam::timing {

struct Warp {
  const WarpTrace* trace = nullptr;
  const BlockTrace* block = nullptr;
  size_t step = 0, next_step = 0;   // being executed; the first that does not belong to its text
  size_t end_step = 0;              // of its trace
  // Turns of one loop in a row, and how many more of them its last lanes take.
  size_t run_begin = 0, run_end = 0, last_turn = 0;
  uint32_t left_over = 0;
  uint64_t again = 0;               // how often the second half of its trace stands for what was not kept
  size_t from_step = 0, last_from = 0;  // from this step on, and the last time
  uint64_t round = 0;               // which of these times it is
  uint64_t rounds = 1;              // so many of them come to lines of their own, then it is the same ones' turn again
  const Text* text = nullptr;
  size_t at = 0;                    // in the text
  uint32_t first_access = 0, end_access = 0;
  uint64_t taken = 0;               // accesses of those that were made
  Ticks ready = 0;                  // when its next instruction may be issued, units aside
  Ticks waits_since = 0;
  Ticks held_before = 0;            // Scheduler::held at that time
  Stall why = Stall::NoInstruction;
  uint32_t place = 0;
  uint64_t number = 0;              // of its block among those that run here
  bool alive = false, at_barrier = false, at_grid_barrier = false;
  Ticks pending_copies = 0;         // when what it copies asynchronously is there
  double copies_per_wait = 0;       // bulk copies of its block for each wait for a phase
  uint64_t phases = 0;              // that it waited for
  bool copies = false;              // asks for some itself
  size_t wants_copies = 0;          // so many of its block must have been asked for before it goes on
  Ticks stored = 0;                 // when L2 has all that it stored
  std::array<Ticks, kUnits> unit_again{};  // when it can go to a unit again: the assembler spaces a warp's own instructions
  std::array<Ticks, assembly::kMachineRegisters> written{};
  std::array<Ticks, assembly::kMachineRegisters> released{};  // by what reads them on the path to memory
  std::array<Source, assembly::kMachineRegisters> source{};
  std::array<Pipe, assembly::kMachineRegisters> pipe{};       // that writes them
  std::array<bool, assembly::kMachineRegisters> by_global{};
};

struct Place {  // of a block
  uint32_t warps = 0, alive = 0, waiting = 0;
  bool at_grid_barrier = false;
  bool used = false;
  Ticks begun = 0;
  size_t copies = 0;            // bulk copies that it will ask for
  std::vector<Ticks> arrived;   // when each is there, of those that it has asked for
};

// A queue of so many, in order: when each of the last ones leaves it.
struct Queue {
  std::vector<Ticks> leaves;
  size_t next = 0;
  void add(Ticks when) {
    leaves[next] = when;
    next = (next + 1) % leaves.size();
  }
  Ticks room() const { return leaves[next]; }
};

// Lines that were stored to last, of which so many wait for the way to L2; what is stored to one that still waits goes with it.
struct StoredLines {
  static constexpr uint64_t kNone = ~uint64_t{0};  // nothing goes with it
  struct Waiting {
    uint64_t line = kNone;
    uint8_t sectors = 0;
    Ticks until = 0;
  };
  std::vector<Waiting> lines;
  size_t next = 0;
  Waiting* find(uint64_t line, Ticks when) {
    for (Waiting& w : lines)
      if (w.line == line && w.line != kNone && w.until > when) return &w;
    return nullptr;
  }
  void add(const Waiting& w) {
    if (lines.empty()) return;
    lines[next] = w;
    next = (next + 1) % lines.size();
  }
};

// A scheduler's way to a path that all of them share: what it has issued waits there for the path.
struct Way {
  Queue taken;
  Ticks free = 0;  // when it can bring the next one
  Ticks read = 0;  // and read its registers
};

struct Scheduler {
  std::vector<uint32_t> warps;
  Ticks next = 0;          // when it can issue again
  Ticks issued_until = 0;  // its issue slot is taken until then
  Ticks held = 0;          // how long it was, for registers to be read
  std::array<Ticks, kUnits> unit_free{};
  Way memory, texture;
};

// A stream of bytes at a rate.
struct Server {
  Ticks free = 0;
  double per_byte = 0;  // ticks
  double rest = 0;
  Ticks slack = 0;  // what it did not do by now it may do later, so much of it
  Ticks serve(Ticks from, double bytes) {
    const double cost = bytes * per_byte + rest;
    const Ticks whole = static_cast<Ticks>(cost);
    rest = cost - static_cast<double>(whole);
    free = std::max(free, from - slack) + whole;
    return std::max(free, from);
  }
};

}  // namespace warpbeam::timing
