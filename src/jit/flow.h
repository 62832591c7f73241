// The kernel as this engine sees it: variables, basic blocks in the decoder's order, what is live where, which lanes may
// wait where while others run, and how barriers cut the kernel into regions.
//
// The interpreter always runs the group of lanes that is furthest behind in the decoder's order. Compiled code does the
// same: every block that lanes may wait at has a mask, and the end of a block goes to the first block with a mask that is
// not empty. Where all lanes of a warp go together no mask is tested.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "jit/bits.h"
#include "jit/operands.h"

namespace warpbeam::jit {

struct Variable {
  int32_t at = -1;   // slot in the interpreter's frame; kParamKeys and above: a part of a call's parameters
  Width bytes = 0;
};

enum class SourceKind : uint8_t { None, Variable, Constant, Special };
struct Source {
  SourceKind kind = SourceKind::None;
  uint32_t variable = 0;
  uint64_t bits = 0;                        // Constant; predicates: 0 or 1
  const vm::FrameSlot* special = nullptr;   // Special: special registers and addresses
};

enum class End : uint8_t { Fall, Branch, Table, Leave, Trap, Barrier };

struct Node {
  uint32_t begin = 0, end = 0;        // instructions, the last one included in what `ends` says
  End ends = End::Fall;
  const vm::Insn* last = nullptr;     // Branch, Table, Leave, Barrier: the instruction that does it
  std::vector<uint32_t> next;         // Branch: taken, not taken; Leave: those that a guard keeps here
  bool apart = false;                 // begins behind a read that all warps had better make before one goes on
  bool awaited = false;               // begins with a look at a barrier in memory whose phase is over once all warps have come here
  bool gives_way = false;             // where warps take turns: the others go first
  bool polls = false;                 // leads back to where a loop begins that may wait for other threads
  bool changes = false;               // and that loop changes memory in every round
  Bits live_in, live_out;             // variables
  Bits waits;                         // nodes where lanes may wait while this one runs
  Bits at_end;                        // variables of lanes that may have come to the region's end before this one runs
};

struct ImplicitSync {  // nodes between which all warps had better meet (implicit_sync.h)
  uint32_t from = 0, to = 0;
};

struct Region {
  uint32_t entry = 0;
  std::vector<uint32_t> nodes;  // in order
  // Where its warps come to an end: after a barrier or before a block-wide decision at `exit_node`, or on any edge to the
  // node `exit_to`. Neither: every lane leaves.
  int32_t exit_node = -1, exit_to = -1;
};

// An address in local memory that is known before the kernel runs.
struct LocalPlace {
  uint32_t variable = 0;  // of FunctionCode::locals
  int64_t offset = 0;     // in local memory
  bool generic = false;   // as a generic address
  bool operator==(const LocalPlace&) const = default;
};

// A part of local memory that is a variable here.
struct LocalCell {
  uint32_t variable = 0;  // of FunctionCode::locals
  uint32_t offset = 0;    // in local memory
  Width bytes = 0;
};

// A load or store of nothing but such parts: the keys of each element's, from the lowest address on.
struct CellAccess {
  std::vector<std::vector<int32_t>> elements;
};

struct Flow {
  const vm::FunctionCode* code = nullptr;
  const vm::EngineServices* services = nullptr;
  std::array<uint32_t, 3> block{1, 1, 1};
  std::vector<Variable> variables;
  std::unordered_map<int32_t, uint32_t> variable_at;
  std::unordered_map<int32_t, const vm::FrameSlot*> special_at;
  std::vector<LocalCell> cells;                 // keys: kParamKeys and the number in here
  std::unordered_map<const vm::Insn*, CellAccess> cell_accesses;
  std::unordered_map<const vm::Insn*, int64_t> fixed_local;  // accesses of local memory at a known place in memory
  std::vector<std::vector<Slot>> slots;         // by instruction
  std::vector<Node> nodes;
  bool local_escapes = false;                   // generic addresses may point into local memory, where each lane has its own
  std::vector<int32_t> node_at;                 // by instruction: the node that begins there, or -1
  std::vector<ImplicitSync> implicit_syncs;
  bool awaits = false;                          // Node::awaited, somewhere: no wait is another
  bool in_turns = false;  // each warp runs by itself, on a stack of its own (turns.h), and barriers are instructions like others
  bool stops = false;     // of these: it needs no stack, and goes on from where it stopped (emit_stops.cc)

  // The variable of a slot, if it has one: slots of calls' parameters in memory have none.
  std::optional<uint32_t> variable(int32_t at) const {
    const auto v = variable_at.find(at);
    return v == variable_at.end() ? std::nullopt : std::optional(v->second);
  }
  Source source(int32_t at, Width bytes) const;
  const CellAccess* cell_access(const vm::Insn& insn) const;
  // The one cell that is all of a parameter or result of a call, as a key; -1.
  int32_t cell_of(const vm::LocalPart& part) const;
  bool is_library_call(const vm::Insn& insn) const;
  // A load or store of local memory that compiled code makes by itself.
  bool is_local_access(const vm::Insn& insn) const;
  // Calls that compiled code does not know: it hands the block over there.
  bool is_left_call(const vm::Insn& insn) const { return insn.step == vm::Step::Call || insn.step == vm::Step::CallIndirect; }
};

// What of local memory becomes variables. Flow::slots has what instructions read and write beside it.
void find_local_cells(Flow& flow, bool watched);

using EarlyLeaves = std::set<const vm::Insn*>;  // branches that some lanes leave the kernel by

// Why the kernel cannot be compiled; empty: it can. `in_turns`: its warps will take turns.
std::string build_flow(Flow& flow, const vm::FunctionCode& code, const vm::EngineServices& services, const std::array<uint32_t, 3>& block,
                       const EarlyLeaves& early, bool watched, bool in_turns);

// Idea: where all warps of a block come to `W: mbarrier.try_wait p, [barrier], state; @!p bra W;`, as in cuda::barrier's arrive_and_wait,
// the place cuts the kernel as bar.sync does: whatever the phase awaits has come about by the time that all warps are there, so one
// look will do. Precondition: all waits of the kernel are such loops, and all warps come to each. Postcondition: Node::awaited, and the
// loop is one no more. Fallback: a look in vain hands the block over, and a kernel of which that is true often is compiled for turns.
void find_awaited(Flow& flow);

// Gives ways that lead out of the kernel nodes of their own, where those that leave early share them with those that come to its
// end behind barriers (leaving.cc).
void split_early_leaves(Flow& flow, const EarlyLeaves& branches);
// Reads that threads of one warp make (`if (t == 0) out = s[0];`) are together anyway: Node::apart goes.
void forget_reads_of_one_warp(Flow& flow, const std::array<uint32_t, 3>& block);

bool is_block_barrier(const vm::Insn& insn);
// Does the instruction ask for warps that take turns? So do waiting for less than the whole block, and arriving there.
bool waits_for_some(const vm::Insn& insn);
// For kernels whose warps take turns: one region holds everything. `plain`: they wait at barriers of the whole block alone.
void take_turns(Flow& flow, bool plain);

// Fills Node::waits. `divergent[n]`: lanes of a warp may disagree at the end of node n.
void find_waits(Flow& flow, const std::vector<char>& divergent);

// Nodes between a branch at the end of `node` and the place where its ways meet again.
Bits influence(const Flow& flow, uint32_t node);

// Cuts the flow at barriers, and at nodes that are `apart` and between those of meetings where all warps come there once. `why` tells what is in the way.
std::optional<std::vector<Region>> find_regions(const Flow& flow, std::string& why);

// Variables that are read behind the region, or by the instruction that it ends with.
Bits live_at_exit(const Flow& flow, const Region& region);
// Fills Node::at_end: of nodes behind the one where a region ends, as those are to which lanes go that leave the kernel early, and
// of what is reached from them. Lanes that came to the end before wait there.
void find_late_nodes(Flow& flow, const std::vector<Region>& regions);

// By node: between the barriers around it nothing writes shared memory.
std::vector<char> find_settled(const Flow& flow);

// Where regions end without a barrier, all warps run the first before any runs the next, and the interpreter runs them warp
// by warp. Empty: no order of accesses, meetings and fences tells the one from the other.
std::string find_reordering(const Flow& flow, const std::vector<Region>& regions);

// Loops that may wait for what another thread does: warps have to give way in them. Watched, updates by compare-and-swap are
// such loops too: how often lanes try again depends on who gives way.
struct WaitingLoop {
  uint32_t head = 0, latch = 0;
  bool changes = false;  // memory, in every round: it does not only look
  bool shared = false;  // what it looks at is shared memory: it waits for a warp of its own block
  bool has(uint32_t node) const { return node >= head && node <= latch; }
  std::string why(const Flow& flow) const;
};
std::vector<WaitingLoop> find_waiting_loops(const Flow& flow, bool watched);

}  // namespace warpbeam::jit
