// What compiled code and the machine share at run time.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "jit/operands.h"
#include "jit/watch.h"
#include "vm/warp.h"

namespace warpbeam::jit {

inline constexpr uint32_t kMostPending = 256, kMostParts = 512, kMostBlockValues = 1024, kMostOperands = 320, kMostCells = 2048;

// What the processor has that code is compiled for.
struct Processor {
  bool avx = false, avx2 = false;
  bool avx512 = false;         // of some kind
  bool wide = false;           // F, BW, VL
  bool byte_tables = false;    // VBMI, where it is fast
  bool byte_products = false;  // VBMI, VNNI, BITALG
};

// What special registers and the like say.
struct LaunchNumbers {
  uint32_t ctaid[3]{}, nctaid[3]{};
  uint32_t smid = 0, nsmid = 0;
  uint32_t dynamic_shared = 0;
  uint32_t pad = 0;
  uint64_t gridid = 0, params_address = 0, param_bytes = 0, workspace = 0;
};

// Of a block that is handed over.
struct HandedOver {
  uint32_t pending[kMostPending] = {};      // masks, by node, of a warp
  uint64_t parts[kMostParts][32] = {};      // of calls' parameters, of a warp
  uint64_t block_values[2][kMostBlockValues] = {};  // before and after the warp's region
  const std::byte* kept = nullptr;          // what regions keep of each warp
};

// Of watched code (watch.h).
struct WatchedCode {
  const WatchTables* watch = nullptr;
  const vm::WatchedBlock* words = nullptr;
  uint64_t* counters = nullptr;
  uint64_t* coarsened_counters = nullptr;  // the same, of warps side by side until they are through; zeros otherwise
  uint64_t executed[32] = {};         // instructions, by each warp of the block
  uint64_t patience = 0;              // how many of them a warp may execute here
};
struct WatchedUnrolledBlock {
  bool* known_good = nullptr;         // of the observer
  uint32_t as_unrolled = 0;          // the block does what was unrolled, and is looked at nevertheless
};

struct RunningNow {
  uint32_t alive = 0, wants_more = 0;   // lanes that have not left; whether compiled code tells the observer too little
  const vm::Insn* executing = nullptr;  // what may trap
  uint32_t executing_warp = 0, executing_lanes = 0;
};

// Of code that goes on with the next block by itself: how many more there are, and what else knows which one it is.
struct NextBlocks {
  uint64_t more = 0;
  uint64_t* block_linear = nullptr;
  uint32_t *block_x = nullptr, *block_smid = nullptr;
};

// What compiled code sees of a block. Emitted code knows these offsets.
struct Context {
  const std::byte* params = nullptr;
  std::byte* shared = nullptr;
  uint64_t shared_bytes = 0;
  vm::AccessRange* ranges = nullptr;
  std::byte** frames = nullptr;     // registers of each warp; filled by prepare
  uint32_t* live = nullptr;         // lanes of each warp that have not left
  LaunchNumbers numbers;
  std::byte** locals = nullptr;     // local memory of each warp's first lane
  uint64_t local_limit = 0;
  uint32_t lane_places[32] = {};    // of each lane's local memory from there on
  vm::Block* block = nullptr;
  const vm::EngineServices* services = nullptr;
  HandedOver handed;
  uint64_t operands[kMostOperands][32] = {};   // what an instruction on a detour is given and what it gives back
  uint64_t cells[kMostCells] = {};             // what is known of allocations; the first one stays zero
  uint32_t stopped_at[32] = {};                // by warp: the number of a stop in CompiledTables, from 1 on; 0: it has not begun
  WatchedCode watched;
  RunningNow running;
  WatchedUnrolledBlock unrolled;
  class Turns* turns = nullptr;           // where warps have stacks of their own (turns.h)
  class WaitingBlock* waiting = nullptr;  // where the block may wait for others (waiting_block.h)
  uint64_t events = 0;                    // of these: what has come about that one may be waiting for
  NextBlocks next;
};

// Where a variable's values are when a warp is handed over, and where they belong: in its frame or in local memory.
struct Saved {
  int32_t at = -1;
  uint32_t variable = 0;      // whose they are
  bool local = false;         // `at` counts from the function's part of local memory
  uint32_t begin = 0, end = 0;  // then: it belongs to lanes that are at these instructions
  Width bytes = 0;
  uint8_t runs = 0;
  bool loose = false;
  int64_t stride = 0;
  int64_t gap = 0, pace = 0;  // of what is in HandedOver::block_values: from run to run, from warp to warp
  int32_t block_value = -1;   // what its first run has in warp 0 is in HandedOver::block_values instead
  int32_t part = -1;          // it is in HandedOver::parts
  int32_t kept = -1;          // it is in the warp's piece of HandedOver::kept
};  // none of them: in the frame already

// A place where a warp may be handed over to the interpreter.
enum class Why : uint8_t { Wraps, Call, Lanes, Meeting, Warps, Waits, Patience, Foreign, Phases };
std::string_view in_words(Why why);

// Where warps stop that run by themselves (emit_stops.cc): at this barrier, with these variables.
struct Stop {
  const vm::Insn* barrier = nullptr;
  std::vector<Saved> saved;
};

struct Handover {
  Why why{};
  mutable std::atomic<uint64_t> times{0};
  uint32_t kept_stride = 0;                  // from one warp's piece of HandedOver::kept to the next
  Width local_unit = 0;                      // so many bytes of each lane's local memory lie side by side; 0: each lane's do
  const vm::Insn* at = nullptr;              // what the warp executes next
  int32_t stretch = -1;                      // of watched code: what it is part of, and has been counted
  std::vector<std::pair<uint32_t, const vm::Insn*>> pending;  // masks to look at, and where those lanes go on
  std::vector<Saved> here;                   // this warp's variables
  const vm::Insn* before = nullptr;          // where warps stand that have not run this region
  std::vector<Saved> saved_before;
  const vm::Insn* after = nullptr;           // and those that have; null: they are done
  std::vector<Saved> saved_after;
  const std::deque<Stop>* stops = nullptr;   // instead of these two: the other warps are at Context::stopped_at
};

// What compiled code knows of the allocation that a group of accesses touched last: numbers of Context::cells.
struct RangeCells {
  uint32_t cache = 0;         // of vm::Block::ranges
  uint32_t lo = 0, large = 0; // where it begins; whether it has large_bytes
  uint64_t large_bytes = 0;
  struct Cell {
    uint64_t total, extent;
    uint32_t at;              // how many multiples of `total` an access of `extent` bytes may begin at
  };
  std::vector<Cell> cells;
};
void fill_cells(Context& context, const RangeCells& range);

// An instruction that the interpreter's handler does; its operands and results pass through Context::operands.
struct Detour {
  enum class What : uint8_t { Handler, Access, Meeting };  // the last two are of watched code: something is told
  What what{};
  const vm::Insn* insn = nullptr;
  std::vector<Saved> given, taken;      // `part`: which of Context::operands
  const RangeCells* range = nullptr;    // the handler may find another allocation for these
};

struct CompiledTables {
  std::deque<Handover> handovers;
  std::deque<Stop> stops;
  std::deque<Detour> detours;
  std::deque<RangeCells> ranges;
  std::deque<std::vector<uint32_t>> numbers;
  std::unordered_map<const void*, std::string> names;  // what the code refers to outside of itself
  bool streams = false;   // some stores go past the caches
  bool goes_on = false;   // with the next block by itself (NextBlocks::more)
  bool local = false;     // the code accesses local memory by itself
  bool in_turns = false;  // it is for one warp (turns.h)
  bool polls = false;     // it may wait for other blocks
  uint32_t row = 0;       // rows of threads begin at multiples of so many lanes (rows.h)
  std::unique_ptr<WatchTables> watch;  // null: nobody watches
  std::string plan;       // which techniques it got
};

// d = f(a, b) in 32 lanes; null: there is none.
using Approximation = void (*)(float* d, const float* a, const float* b);
Approximation approximation(isa::Opcode op, bool full, bool ftz);

// All lanes of a variable of 32 values, from the values of its runs or of its lanes.
void put_lanes(std::byte* lanes, const Saved& variable, const std::byte* from);

// The warp goes on in the interpreter: its variables to their places, its lanes to where they stand.
void place_warp(Context& context, const Handover& handover, uint32_t warp, uint32_t active);

extern "C" std::byte* wb_prepare(Context* c, uint32_t warp);
extern "C" void wb_handler(Context* c, const vm::Insn* i, uint32_t warp, uint32_t mask, uint32_t active);
extern "C" void wb_detour(Context* c, const Detour* d, uint32_t warp, uint32_t mask, uint32_t active);
extern "C" bool wb_move_rows(Context* c, const vm::Insn* i, const uint64_t* addresses, void* registers);
vm::LaneTexels wb_read_texture(Context* c, const vm::Insn* i, uint64_t handle, uint32_t mask, const uint32_t* coordinates,
                               uint32_t* results);
// Code that calls the function in rax and leaves all registers as they are; null: there is none for this processor.
void* quiet_call(const Processor& processor);

struct Symbol {
  const char* name;
  void* address;
};
// The functions that compiled code calls.
std::vector<Symbol> runtime_symbols(const Processor& processor);

}  // namespace warpbeam::jit
