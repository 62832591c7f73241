// The machine runs grids. Worker threads (one per host core) take blocks, each from its own share of the grid in increasing
// order; a thread that waits for a grid can run blocks of it itself, so that a small kernel needs no hand-over between threads.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/recycled.h"
#include "vm/memory.h"
#include "vm/program.h"
#include "vm/trap.h"

namespace warpbeam::vm {

class Observer;

// What the blocks of a cooperative launch find where they meet, behind the words of their own barrier.
struct OtherGrids {
  uint64_t barrier = 0;  // where grids on several devices meet: two words, arrivals and rounds; none for one alone
  uint32_t count = 1, rank = 0;
};

using Arguments = std::vector<std::byte, Recycled<std::byte>>;

struct Launch {
  const Program* program = nullptr;  // stays alive until the grid is done
  const Kernel* kernel = nullptr;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint32_t dynamic_shared = 0;
  Arguments params;                  // laid out as Kernel::params says
  DeviceMemory* memory = nullptr;
  bool cooperative = false;          // all blocks resident together
  OtherGrids others;                 // launched together with this one
  std::array<uint32_t, 3> cluster{1, 1, 1};  // blocks that run together and see each other's shared memory
  bool explicit_cluster = false;
  uint64_t grid_id = 0;
  uint32_t sm_count = 1;             // of the device: %nsmid, and a bound on co-residency
  uint32_t resident_blocks = 1;      // how many blocks of this kernel the device holds at once
  uint32_t stack_limit = 1024;       // cudaLimitStackSize
  uint64_t heap_limit = 8u << 20;    // cudaLimitMallocHeapSize
  double clock_ghz = 1.98;           // %clock64 ticks per nanosecond
  bool eight_byte_banks = false;           // cudaSharedMemBankSizeEightByte; only watchers care
  std::shared_ptr<Observer> observer;      // of this launch, if somebody watches
  bool interpret = false;            // by the interpreter, whatever engine was chosen
  bool one_block_at_a_time = false;  // in order
  bool helped = false;               // whoever starts it helps at once, until nothing is left to run
  uint32_t max_shared_per_block = 232448;  // what the device allows; more was refused by the caller already
  void* owner = nullptr;             // of whoever launched, for functions that device code calls
  int priority = 0;                  // of its stream: blocks of the least number go first
  unsigned depth = 0;                // 0: launched by the host, otherwise one more than the grid that launched it
};

struct LaunchResult {
  Trap trap;            // kind None: success
  std::string printed;  // what printf wrote, in block order
};

class Grid;  // a launch under way

class Machine {
 public:
  static Machine& instance();  // one per process; WARPBEAM_THREADS bounds its workers
  unsigned threads() const;

  // Starts a grid; `done` runs exactly once on some thread when the last block has ended.
  // `parent` is the grid whose code launched this one.
  std::shared_ptr<Grid> start(Launch launch, std::function<void(LaunchResult&&)> done, Grid* parent = nullptr);
  // More blocks of `grid` can run than when threads last looked.
  void wake(const std::shared_ptr<Grid>& grid);
  // One more thread may run what is there, if one sleeps and not all of them are needed already. False: ask again, it waits
  // for no mutex, as whoever calls may hold a grid's.
  bool call_another();
  // Whether a grid is there whose blocks go before those of `grid`.
  bool has_more_urgent(const Grid& grid) const;
  // Runs blocks of `grid`, and of grids it launched, on this thread until no block is left to take or run here. The grid may still be running on
  // workers afterwards: `done` says when it is finished.
  void help(Grid& grid);
  // Runs a whole grid on this thread and the workers, and waits for it.
  LaunchResult run(Launch launch);

 private:
  Machine();
  ~Machine();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpbeam::vm
