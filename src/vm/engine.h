// How a faster engine takes kernels over from the interpreter. The machine asks the engine once per launch; a kernel that
// the engine has compiled runs its blocks as host code, every other launch is interpreted. Both give the same bits.
//
// The engine lives in a library of its own (libwarpbeam_jit.so, room `jit`), which is loaded when the first kernel has
// enough to do to be worth compiling: loading the code generator takes longer than most small programs.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "vm/code.h"
#include "vm/machine.h"
#include "vm/observer.h"
#include "vm/texture_lanes.h"

namespace warpbeam::vm {

struct Access;
struct Block;

// How far a compiled block came that may wait for others.
enum class Went : uint8_t { Through, Stopped, HandedOver };

// Such a block where it was left in the middle, as all it does is wait.
class StoppedBlock {
 public:
  virtual ~StoppedBlock() = default;
  virtual Went go_on() = 0;
};

// A kernel compiled for one shape of block.
class CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;
  // Runs `count` blocks in order, of which the first was begun with Block::begin. Gives how many ran to their ends. Fewer
  // than `count`: `block`, which is the next one then, met something that the interpreter has to deal with, and its warps
  // are ready for Block::run to go on from there; or it waits for other blocks, and Block::stopped goes on with it. Throws
  // TrapException; `block` is the one that failed.
  virtual uint64_t run(Block& block, uint64_t count) const = 0;
  // Which techniques it got, in a line.
  virtual std::string plan() const { return ""; }
  // A block may wait for those before it, so threads take them one by one.
  virtual bool waits_for_blocks() const { return false; }
};

class Engine {
 public:
  virtual ~Engine() = default;
  // What the engine has for a launch. No kernel: interpret it; `later` then says that there may be one soon, and `ready`
  // counts how often that came true.
  struct Found {
    std::shared_ptr<const CompiledKernel> kernel;
    bool later = false;
  };
  // `worth_it`: what compiling the kernel costs will be won back. It is waited for, no longer than `patience` nanoseconds.
  virtual Found find(const Launch& launch, bool worth_it, int64_t patience) = 0;
  std::atomic<uint64_t> ready{0};
  // Compiles nothing any more; returns when nothing is being compiled.
  virtual void stop() = 0;
};

// Whether what is compiled of a launch must not depend on how long things take.
inline bool is_steady(const Launch& launch) { return launch.observer && launch.observer->wanted().steady; }

// A kernel is compiled anew for each shape of block, and for each sort of watcher.
using VersionKey = std::pair<std::array<uint32_t, 3>, int>;
inline VersionKey version_of(const Launch& launch, const Wanted& w) {
  return {launch.block, w.compiled ? 1 | w.executions << 1 | w.traffic << 2 | w.events << 3 | w.banks << 4 | w.places << 5 : 0};
}
inline VersionKey version_of(const Launch& launch) { return version_of(launch, launch.observer ? launch.observer->wanted() : Wanted{}); }

// What an engine needs of the machine.
struct EngineServices {
  Builtin library_call;
  std::unique_ptr<FunctionCode> (*flatten)(const FunctionCode& kernel, const Program::Image& image);  // flatten.h
  void (*next_block)(Block& block);  // what was one block becomes the next one of its grid
  // Its observer, when the launch has one; prepare_warps leaves it as it is.
  void (*begin_watch)(Block& block);
  void (*end_watch)(Block& block);
  // Makes the warps of a block ready for handlers: their frames hold the constants and this block's special registers.
  void (*prepare_warps)(Block& block);
  // Their local memory alone.
  void (*take_local_memory)(Block& block);
  // Of observer.h.
  void (*report_accesses)(Warp& warp, const Insn& insn, uint32_t mask);
  void (*report_meeting)(Warp& warp, const Insn& insn, uint32_t mask);
  Access (*describe_access)(const Insn& insn);
  // Puts a warp at an instruction, with `active` lanes there and none elsewhere; place_lanes adds lanes that are elsewhere.
  void (*place_warp)(Block& block, uint32_t warp, const Insn* at, uint32_t active);
  void (*place_lanes)(Block& block, uint32_t warp, const Insn* at, uint32_t lanes);
  // Ends the placing of all warps: counts the threads that live.
  void (*resume)(Block& block);
  // Where in the source an instruction stands.
  std::string (*location)(const Insn& insn, const FunctionCode& function);
  // Of texture_lanes.h.
  bool (*reads_lanes)(const Insn& insn);
  LaneTexels (*read_lanes)(Block& block, const Insn& insn, uint64_t handle, uint32_t mask, const uint32_t* coordinates, uint32_t* results);
  // Of matrix_lanes.h.
  void (*load_rows)(std::byte* const* rows, bool transposed, int matrices, std::byte* registers);
  void (*store_rows)(std::byte* const* rows, bool transposed, int matrices, const std::byte* registers);
};

// What is kept for a kernel, in Code::compiled.
struct KeptForEngine {
  std::mutex mutex;
  std::array<uint64_t, 3> instructions{};    // outside of loops, in loops, and in loops of loops
  uint64_t turns = 0;                        // of loops, as many as a constant says that ends one
  struct Seen {
    uint64_t work = 0;    // instructions of warps so far, guessed
    int64_t slowest = 0;  // nanoseconds that the interpreter has taken for a block, if that was long
  };
  std::map<VersionKey, Seen> seen;
  std::shared_ptr<void> versions;            // the engine's own
};

// What the engine that WARPBEAM_ENGINE chose ("auto", the default, "jit" or "interpreter") has for a launch. `long_run`: the
// kernel has been seen to run for long. `may_wait`: for a kernel that is being compiled, for as long as a block of it takes
// the interpreter at most.
Engine::Found find_compiled(const Launch& launch, bool long_run, bool may_wait);
// The interpreter has taken so many nanoseconds for a block of a launch that is not steady.
void tell_of_block(const Launch& launch, int64_t took);
// A steady launch is over, whose warps have executed so many instructions: whether the next one is compiled follows from that, as it must
// not from time. `wanted`: by its observer, which it may have lost.
void tell_of_work(const Launch& launch, const Wanted& wanted, uint64_t instructions);
uint64_t compiled_so_far();  // Engine::ready

// The code generator has static objects of its own, some made only when they are first needed, that a process which ends
// destroys while another thread may be compiling. What belongs to the main thread goes before all of them: if it calls this,
// its end stops the engine. It does when it loads the library, or else when it launches a kernel.
void stop_engine_with_main_thread();

// The entry point of the engine's library.
using MakeEngine = Engine* (*)(const EngineServices&);
inline constexpr char kMakeEngine[] = "warpbeam_make_engine";

}  // namespace warpbeam::vm
