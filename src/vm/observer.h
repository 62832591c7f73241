// What a watcher of the machine is told: every instruction, every access to memory, every meeting of lanes.
//
// A launch that has an Observer is interpreted by a loop of its own (Warp::run_observed), so that watching costs the others
// nothing, or runs in code compiled for what its observer wants (Wanted). Each block gets a BlockObserver, which needs no
// lock: a block is on one host thread at a time. Blocks run on several threads and end in any order, so what they report is
// merged in end_block by something that does not depend on that order - or the observer asks for one block at a time.
//
// Events come before the instruction takes effect: an instruction's registers (Warp::lanes) and the memory it is about to
// touch still hold what was there. An access that will trap is reported too, before the trap.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "isa/mods.h"
#include "vm/watched_words.h"

namespace warpbeam::vm {

class Warp;
struct Block;
struct FunctionCode;
struct Insn;
struct Launch;
struct LaunchResult;
enum class AccessKind : uint8_t;

// What one instruction of one warp does in one state space. A generic access whose lanes lie in several spaces is several
// accesses, and so is a copy between spaces.
struct Access {
  // Global, Const, Shared, Local, ParamEntry (of the kernel) or ParamFunc (arguments of calls: registers on a GPU).
  // Shared addresses of another block of the cluster carry its rank plus one above kClusterStride (spans.h).
  isa::Space space{};
  AccessKind kind{};
  bool returns = true;     // an atomic operation whose old value is used; false for `red` and an unused result
  bool generic = false;    // the instruction did not name the space
  bool async = false;      // cp.async: it is complete only after the copy is waited for
  uint8_t elements = 1;    // of a vector access
  uint32_t mask = 0;       // lanes
  uint32_t bytes = 0;      // of a lane, all elements together
  // Global, Const: device addresses. The others: offsets into the block's shared memory, the thread's local memory, the
  // kernel's parameters. Lanes outside the mask repeat the address of one inside.
  std::array<uint64_t, 32> address;
};

// The addresses of a whole warp, as far as their shape is known before: `runs` stretches of 32 / runs lanes, which grow by
// `stride` from lane to lane; the second stretch begins `gap` after the first and so on.
struct Pattern {
  uint64_t first = 0;
  int64_t stride = 0, gap = 0;
  uint32_t runs = 0;                    // 0: the shape is not known
  const uint64_t* addresses = nullptr;  // then; those of lanes outside the mask mean nothing
  bool settled = false;                 // a load from shared memory, which nothing writes between the barriers around it
};

// Loads of a warp from addresses that differ by numbers known before, between which nothing else of it can touch what they
// read.
struct LoadBatch {
  struct Load {
    const Insn* insn;
    int64_t offset;  // from the first one's
    uint32_t place;  // as access_places has it; they rise
  };
  static constexpr size_t kMost = 64;
  std::vector<Load> loads;         // kMost of them at most
  int64_t least = 0, most = 0;     // of the offsets, which are multiples of `bytes`
  bool row = true;                 // each is `bytes` after the one before
  Pattern pattern;                 // of each
  uint32_t bytes = 0;              // that each lane loads
};

// How often an instruction was executed by warps; by how many threads that were there, and that its guard let take part;
// how often the threads of a warp went different ways at a branch.
struct Executions {
  uint64_t warps = 0, threads = 0, threads_on = 0, parted = 0;
};

// What an observer wants of compiled code. The counts and events are those of the interpreter; only where it says so they
// come later, or many at once. A block whose observer wants every instruction is interpreted.
struct Wanted {
  bool compiled = false;    // false: the launch is to be interpreted
  bool executions = false;  // BlockObserver::counted, filled in when compiled code ends
  bool traffic = false;     // BlockObserver::repeated instead of access, for global, shared and constant memory
  bool banks = false;       // and of shared memory BlockObserver::met_in_banks, for what adds one
  bool places = false;      // with traffic: and of global memory BlockObserver::passed
  bool steady = false;      // what is compiled and what is interpreted does not depend on how long things take
  bool events = false;      // accesses, fences, meetings of lanes, complete barriers; no accesses to parameters
  bool operator==(const Wanted&) const = default;
};

class BlockObserver {
 public:
  virtual ~BlockObserver() = default;

  // Calls cost more than the instructions they tell of, so an observer says what it wants. It may change its mind.
  bool every_instruction = true;  // instruction(): otherwise only those marked Notable
  bool notable = true;            // and those
  bool counts = false;            // executions are counted in `counted`, one for each instruction of a function
  const FunctionCode* counted_function = nullptr;
  Executions* counted = nullptr;
  // Another function than counted_function is executed: sets it and `counted`.
  virtual void enter(const FunctionCode&) {}
  // What compiled code has counted for this observer and not told it yet: `settle` does, once other code is to count there,
  // the block goes on in the interpreter, or the observer wants to know. A grid's blocks come in many short ranges.
  struct Pending {
    const void* of = nullptr;  // whose counters they are
    std::vector<uint64_t> counters;
    std::function<void()> settle;
  } pending;
  uint64_t settled = 0;  // how often
  void settle() {
    ++settled;
    if (pending.settle) pending.settle();
  }
  // Compiled code whose blocks all access the same places of shared memory need not tell of them again once a block has been
  // looked at that did just that, and found nothing. Where it remembers that for the launch; null: it tells of all.
  bool* known_good = nullptr;
  virtual uint64_t findings() const { return 0; }  // so far
  // Compiled code: the block has ended, and the one of this number comes next on this thread. True: this observer goes on
  // with it; false: that block is to get one of its own.
  virtual bool goes_on_with(uint64_t block) { return false; }
  // Compiled code, where executions are counted: how many instructions its warps executed of the block that has ended.
  bool sizes = false;
  virtual void ran(uint64_t block, uint64_t instructions) {}
  // Compiled code: a warp that has executed so many instructions goes on in the interpreter, which asks still_running.
  uint64_t patience = ~uint64_t(0);
  // Until it says false, no other thread is told of anything: the block's compiled code runs, or an access is told of and made.
  virtual void alone(bool) {}
  // Once in a while.
  virtual void still_running(Warp&, const Insn&, uint32_t mask, uint64_t instructions) {}

  // A warp executes an instruction. `active`: the lanes that are here; `mask`: those of them that its guard lets take part
  // (possibly none). For a guarded branch `mask` are the lanes that jump. A `.sync` instruction is reported once all its
  // lanes have met. Instructions that the decoder added are not reported.
  virtual void instruction(Warp&, const Insn&, uint32_t mask, uint32_t active) {}
  // After `instruction`, once per access.
  virtual void access(Warp&, const Insn&, const Access&) {}
  // Who wants events has it: what compiled code looks at before it asks.
  const WatchedBlock* words = nullptr;
  // From compiled code, where registers and Warp are not at hand: true when all there is to see has been seen. Otherwise
  // `access` follows.
  virtual bool sees_quickly(const Insn&, uint32_t warp, uint32_t active, uint32_t mask, const Pattern&) { return false; }
  // The same of several loads by all lanes, of which the first one's pattern is this. False: each is to be told.
  virtual bool sees_batch(const LoadBatch&, uint32_t warp, const Pattern&) { return false; }
  // Instead of `access`, where order does not matter: so many accesses of one instruction with the same lanes, at places
  // that differ by multiples of kPlaces bytes only.
  static constexpr uint64_t kPlaces = 256;
  virtual void repeated(const Insn&, const Access&, uint64_t times) {}
  // The same without the addresses: `shape` is a number for how far the lanes are from the first. True where such an access
  // is known; otherwise `repeated` follows.
  virtual bool repeats(const Insn&, uint32_t mask, uint64_t first, uint64_t shape, uint64_t times) { return false; }

  // Where an access to global memory goes that `repeated` or `repeats` tells of, or has told of.
  virtual void passed(const Insn&, uint32_t mask, const Pattern&) {}

  // The same of accesses by whole warps to words of shared memory, where lanes that want one word are as good as one of them:
  // how many different words there were in the bank that had most of them, and altogether, summed up.
  virtual void met_in_banks(const Insn&, uint64_t times, uint64_t most, uint64_t words) {}

  // A warp reads its clock. Cycles from its block's beginning until then, where that is known; not `wanted`: it only reads.
  virtual std::optional<double> clock_read(Warp&, const Insn&, bool wanted) { return std::nullopt; }

  // Lanes have met at a `.sync` instruction that named `members`: what each did before, the others may rely on.
  virtual void warp_sync(Warp&, const Insn&, uint32_t members, uint32_t mask) {}
  // Lanes stop waiting at one for members that cannot come, and go on without them.
  virtual void warp_sync_abandoned(Warp&, const Insn&, uint32_t members, uint32_t mask) {}
  // Lanes come to a barrier of the block; `waits` is false for bar.arrive. `expected`: threads, 0 for all.
  virtual void barrier_arrive(Warp&, const Insn&, uint8_t barrier, uint32_t expected, uint32_t mask, bool waits) {}
  // Everyone it expects has come. The waiting lanes are still in their warps' groups (Warp::waiting_at).
  virtual void barrier_complete(Block&, uint8_t barrier) {}
  // From compiled code: all threads of the block have come, at one instruction. True when all there is to see has been
  // seen. Otherwise barrier_complete follows.
  virtual bool all_came(const Insn&) { return false; }
  // Nothing in the block can run any more; a Deadlock trap follows. Block::who_waits tells.
  virtual void deadlock(Block&) {}
  // All threads of the cluster have come to its barrier. Told to the observer of the block that leads the cluster.
  virtual void cluster_complete(Block& leader) {}

  // The kernel's heap gave a lane `bytes` at `address`; a lane gives memory back. `known` is false for an address that the
  // heap did not give, or has back already: a trap follows.
  virtual void heap_allocated(Warp&, const Insn&, int lane, uint64_t address, uint64_t bytes) {}
  virtual void heap_freed(Warp&, const Insn&, int lane, uint64_t address, bool known) {}
  // A warp reads a texture whose texels have so many bytes; then come the lanes' texels.
  virtual void texture_read(Warp&, const Insn&, uint32_t mask, uint32_t texel_bytes) {}
  // A lane reads a texel of a texture, or accesses a surface. `stores`: what it writes there, if it does.
  virtual void image_accessed(Warp&, const Insn&, int lane, uint64_t address, uint32_t bytes, AccessKind, const std::byte* stores) {}
  // Something other than an access gives these bytes a value: a copy or fill that a kernel asked the device runtime for, a bulk
  // copy.
  virtual void runtime_wrote(uint64_t address, uint64_t bytes) {}
};

class Observer {  // of one launch
 public:
  virtual ~Observer() = default;
  // On any thread, in no particular order. Null: the block is not watched.
  virtual std::unique_ptr<BlockObserver> begin_block(const Block&) = 0;
  // The block has ended, by a trap (which end_grid tells) or well.
  virtual void end_block(const Block&, std::unique_ptr<BlockObserver>) = 0;
  // After the last block.
  virtual void end_grid(const LaunchResult&) {}
  // Of a grid that this one's code launches, just before it starts.
  virtual std::shared_ptr<Observer> child(const Launch&) { return nullptr; }
  virtual Wanted wanted() const { return {}; }
  // Whether blocks take turns instead of running side by side: then events come in the same order every time.
  virtual bool one_block_at_a_time() const { return false; }
};

// What is told of an access and the access itself are one step: who sees another thread's value has been told of after that.
class Alone {
 public:
  explicit Alone(BlockObserver& observer) : observer_(observer) { observer_.alone(true); }
  ~Alone() { observer_.alone(false); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  BlockObserver& observer_;
};

// Tells the block's observer of the accesses that `insn` is about to make.
void report_accesses(Warp& warp, const Insn& insn, uint32_t mask);
// What is known of a load's, store's or atomic operation's accesses without its lanes: a generic one is taken for global.
Access describe_access(const Insn& insn);
// Tells which lanes of `mask` met at a `.sync` instruction: each set of lanes that named the same members.
void report_meeting(Warp& warp, const Insn& insn, uint32_t mask);
// The same in two steps: the instruction's result may take the place of the register that names the members.
using NamedMembers = std::array<uint32_t, 32>;
NamedMembers named_members(Warp& warp, const Insn& insn);
void report_meeting(Warp& warp, const Insn& insn, uint32_t mask, const NamedMembers& members);

}  // namespace warpbeam::vm
