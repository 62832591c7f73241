// Work that device code launches: grids, copies, fills and events in device-side streams.
//
// A grid that the host launched and everything that descends from it form ChildGrids under one mutex. Each launch is a
// DeviceTask that waits for the one before it in its stream. A grid is finished when its blocks have ended, what they
// launched is done, and after that what they put into the tail stream.
//
// A launch takes effect late, as on a device, where a child's blocks come behind those of its parent in the queue: programs
// count on it. What a block launches begins when the block waits for it, or else when the grid has no block left to start.
// A block that waits for its children is parked: it
// holds no host thread, and the last child to end puts it back into its grid.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "vm/launched_from.h"
#include "vm/machine.h"
#include "vm/warp.h"

namespace warpbeam::vm {

class Grid;
struct GridState;
struct BlockChildren;

struct DeviceTask {
  bool is_grid = false;
  Launch launch;                // of a grid
  std::function<void()> work;   // otherwise; may be empty: a marker
  std::shared_ptr<Grid> parent; // until the task is done
  std::shared_ptr<BlockChildren> block;  // likewise
  unsigned waits = 0;           // tasks before it that are not done
  std::vector<std::shared_ptr<DeviceTask>> dependents;
  bool begun = false, done = false;
  LaunchedFrom from;            // of a grid
  std::string printed;          // by the grid, until it is shown
};
using DeviceTaskRef = std::shared_ptr<DeviceTask>;

struct DeviceStream {
  std::vector<DeviceTaskRef> ahead;  // what the next task waits for
  int64_t last_grid = -1;            // its number in LaunchedFrom
};

struct DeviceEvent {
  std::vector<DeviceTaskRef> recorded;
};

struct LaunchConfiguration {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint64_t shared = 0;
  uint64_t stream = 0;
};

// A block, with the others of its cluster, while some of them wait for children: whoever is done first wakes it.
struct ParkedBlock {
  std::unique_ptr<Block> block;
};

// What one block has asked of the device runtime.
struct BlockChildren {
  uint64_t linear = 0;                   // the block's place in its grid
  DeviceStream default_stream;
  unsigned outstanding = 0;              // launched and not done; guarded by the mutex of the ChildGrids
  uint32_t numbered = 0, joined = 0;     // launched, ever; of these when the block waited for them last
  std::vector<DeviceTaskRef> launched;   // in order, until their output is taken
  std::vector<DeviceTaskRef> fresh;      // may begin when the block's turn is over; its thread's own
  std::shared_ptr<ParkedBlock> parked;
  std::vector<int> last_error;           // by thread
  std::vector<uint32_t> launches;        // by thread: how many it has made
  std::vector<std::vector<LaunchConfiguration>> configured;  // by thread: between <<<…>>> and the call
};

struct ChildGrids {
  std::mutex mutex;
  uint64_t pending = 0;                  // grids launched by device code that have not begun
  uint64_t unblocked = 0;                // tasks that run or may begin by themselves
  // Of each depth some grids run at once and others stand in line; so that waiting grids cannot keep out those they wait
  // for, each depth counts by itself.
  static constexpr size_t kDepths = 32;
  size_t running[kDepths] = {};
  std::deque<DeviceTaskRef> line[kDepths];
  std::unordered_map<uint64_t, std::shared_ptr<DeviceStream>> streams;
  std::unordered_map<uint64_t, std::shared_ptr<DeviceEvent>> events;
  uint64_t next_handle = 0x1000;
  // Buffers in device memory that kernels write launch parameters into.
  struct Buffer {
    const Kernel* kernel = nullptr;      // null: named at the launch
    LaunchConfiguration configuration;
    uint64_t bytes = 0;
    unsigned size_class = 0;
  };
  std::unordered_map<uint64_t, Buffer> buffers;
  std::vector<uint64_t> free_buffers[8]; // by size class
  std::vector<uint64_t> chunks;          // allocations behind the buffers
  DeviceMemory* memory = nullptr;
  ~ChildGrids();
};

BlockChildren& children_of(Block& block);
inline unsigned thread_in_block(const Warp& w, int lane) { return w.index * kWarpSize + static_cast<unsigned>(lane); }

// Which stream a launch goes to.
enum class StreamKind : uint8_t { Named, FireAndForget, Tail };

// Puts the task behind what its stream holds and starts it when nothing is in its way. `stream` is null unless Named.
// False, and nothing done, where it is a grid and `most_pending` have not begun.
bool submit(Block& block, DeviceTaskRef task, StreamKind kind, DeviceStream* stream, uint64_t most_pending = ~uint64_t(0));

// The block's turn is over: begins what it has launched if it waits, or else leaves it to its grid.
void begin_fresh(Block& block);
void keep_fresh(Block& block);
// The grid has no block left to start: what its blocks left begins.
void begin_kept(Grid& grid);

// Parks the running lanes until everything that the block launched is done.
void wait_for_children(Warp& w, const Insn& i);

// Lets waiting lanes of a block go on if its children are done; false while they are not.
bool release_if_children_done(Block& block);

// A block's turn on its thread is over because its lanes wait for children. Keeps it; gives it back when they are done.
std::unique_ptr<Block> park(Grid& grid, std::unique_ptr<Block> block);

// The grid's blocks have ended: true if nothing they launched is left, so that the caller finishes the grid. Otherwise the
// last child finishes it.
bool settle(Grid& grid);

// The text of children that no block has taken, in the order of blocks and launches.
std::string children_output(Grid& grid);

// The kernel behind a code address, or null.
const Kernel* kernel_at(const Launch& launch, uint64_t address);

}  // namespace warpbeam::vm
