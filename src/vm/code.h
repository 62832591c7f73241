// Decoded code: what the interpreter walks. Operands are byte offsets into the warp's frame, where every register has
// 32 lanes side by side; constants and special registers have slots of their own in the frame, so that a handler never
// asks what kind of operand it reads.
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

#include "ptx/module.h"
#include "vm/program.h"

namespace warpbeam::vm {

inline constexpr int kWarpSize = 32;
inline constexpr uint32_t kNoTarget = ~0u;

// Windows of the generic address space outside every host mapping the machine makes.
inline constexpr uint64_t kSharedWindow = uint64_t(1) << 40;
inline constexpr uint64_t kLocalWindow = uint64_t(2) << 40;
inline constexpr uint64_t kCodeWindow = uint64_t(3) << 40;  // function addresses: window + 16 * (index + 1)
inline constexpr uint64_t kWindowBytes = uint64_t(1) << 32;
inline constexpr uint64_t code_address(uint32_t function) { return kCodeWindow + 16 * (uint64_t(function) + 1); }

class Warp;
struct Insn;
struct MatrixPlan;
struct Fragment;
struct FunctionCode;
using Handler = void (*)(Warp& warp, const Insn& insn, uint32_t mask);

struct CallSite;

// An operand of an instruction that has many, or vectors of them. A value is in `slot`, a vector in `parts`; an address is
// `slot` (-1: none) plus `offset`, with its tensor coordinates in `parts`.
struct WideOperand {
  int32_t slot = -1;
  uint8_t width = 8;            // bytes per lane in `slot` or in each of `parts`
  bool immediate = false;       // the value is `offset`
  int64_t offset = 0;
  std::vector<int32_t> parts;
};

// What an observed warp does about an instruction beside executing it.
enum class Watched : uint8_t {
  Plain,
  Extra,     // the decoder added it: a label, a jump to the next block …
  Memory,    // report_accesses knows what it touches
  WarpSync,  // waits for other lanes of the warp, and is executed when they have come
  Notable,   // branches, calls, barriers, fences: told even to who does not want every instruction
};

// What an instruction is to who walks the code: what its row says, or what leads from one to the next, calls, and what the
// decoder adds, which are told apart here.
enum class Step : uint8_t {
  Row,
  Label,
  Jump,
  Branch,
  BranchTable,
  Ret,
  Exit,
  Call,
  CallBuiltin,
  CallIndirect,
  PickTarget,   // of a call through a register in flattened code: which of its functions
  NotPred,      // a negated operand
  ReadSpecial,  // a special register that varies
};
constexpr isa::Effects effects_of(Step step) {
  switch (step) {
    case Step::Row:
    case Step::Label:
    case Step::NotPred: return {};
    case Step::Jump:
    case Step::Branch:
    case Step::BranchTable:
    case Step::Ret:
    case Step::Exit: return {.leads = true};
    case Step::Call:
    case Step::CallBuiltin:
    case Step::CallIndirect: return {true, true, true, true, true, true, true, true};
    case Step::PickTarget: return {.meets = true};
    case Step::ReadSpecial: return {.varies = true};
  }
  return {};
}

struct Insn {
  Handler fn = nullptr;
  // op[k] is the slot of the instruction's k-th operand; op[5] the second destination of `d|p` and `p|q` (-1: none).
  int32_t op[6] = {-1, -1, -1, -1, -1, -1};
  int32_t guard = -1;           // frame offset of the predicate's mask
  bool guard_negated = false;
  uint8_t width = 0;            // ld, st, cvt: bytes of the (destination) register, which may be wider than the type
  uint8_t count = 1;            // elements of a vector operand; cvt: bytes of the source register
  uint8_t base_width = 8;       // bytes of the register that holds an address
  Watched watched = Watched::Plain;
  Step step = Step::Row;
  bool drops_result = false;    // atom: nobody reads the old value, so that a GPU executes `red`
  bool adds_one = false;        // and it adds the constant 1 to a word, as does such a red: a GPU has an instruction for counting
  bool spin = false;            // a backward branch of a loop that may wait for other threads
  int64_t imm = 0;              // offset of an address and other numbers
  int64_t imm2 = 0;             // offset of a second address
  uint32_t target = kNoTarget;  // branch: index of the instruction to go to
  uint32_t cache = 0;           // which AccessRange of the block remembers this instruction's last allocation
  const int32_t* list = nullptr;   // slots of a vector operand, targets of brx
  const CallSite* call = nullptr;
  // Of matrix instructions: a product, or a fragment in memory.
  const MatrixPlan* plan = nullptr;
  const Fragment* fragment = nullptr;
  const WideOperand* wide = nullptr;  // the operands, where op[] cannot hold them; count of them
  const ptx::Instruction* source = nullptr;
  const isa::Mods& mods() const { return source->form.mods; }
  isa::Type type() const { return source->form.type; }
  // What it does is what this row says. Null: it is another step, and `source` is only where it belongs.
  const isa::Row* row() const { return step == Step::Row && source ? source->form.row : nullptr; }
  bool is(isa::Opcode op) const { return row() && row()->op == op; }
  isa::Effects effects() const { return row() ? row()->effects : effects_of(step); }
  // It does nothing for the lanes that come to it.
  bool silent() const { return step == Step::Label || step == Step::Jump; }
};

// A special register, or an address only known when the frame is made, that has a slot in the frame.
enum class SlotKind : uint8_t { Special, SharedAddress, LocalAddress, ParamAddress };
struct FrameSlot {
  SlotKind kind{};
  isa::Special special{};
  uint8_t component = 0;
  uint8_t width = 4;      // 4 or 8 bytes
  int32_t offset = 0;     // of the slot in the frame
  uint32_t variable = 0;  // SharedAddress: index into Image::shared_variables; LocalAddress: into FunctionCode::locals
  int64_t addend = 0;     // LocalAddress: offset in the function's local frame; ParamAddress: in the parameters
};

struct LocalPart {  // a parameter or return value in a function's local frame
  uint32_t offset = 0, size = 0;
  uint32_t variable = 0;  // of FunctionCode::locals
};

// A variable of the text in the local frame; the instructions that may use it.
struct LocalVariable {
  uint32_t offset = 0, size = 0;
  uint32_t begin = 0, end = kNoTarget;
};

// What an instruction of flattened code was copied from.
struct Origin {
  const FunctionCode* function = nullptr;
  const Insn* insn = nullptr;
};

struct FunctionCode {
  const uint64_t serial = next_serial();  // no other in this process has it, before or after
  std::string name, display_name;
  const ptx::Function* source = nullptr;
  const ptx::Module* module = nullptr;
  uint32_t index = 0;
  std::vector<Insn> insns;
  std::deque<std::vector<int32_t>> lists;     // storage behind Insn::list
  std::deque<CallSite> call_sites;
  std::deque<std::vector<WideOperand>> wide;  // storage behind Insn::wide
  std::deque<ptx::Instruction> inserted;      // storage for instructions the decoder made
  uint32_t frame_bytes = 0;
  uint32_t constants_at = 0;                  // frame offset of the constants' image
  std::vector<std::byte> constants;
  std::vector<FrameSlot> slots;
  int32_t carry_slot = -1;
  uint32_t local_bytes = 0;                   // .local, .param of calls, parameters of the function itself
  std::vector<LocalPart> params, returns;     // in the local frame
  std::vector<LocalVariable> locals;          // everything in it
  std::vector<uint32_t> callees, shared_used; // for call-graph sums
  std::vector<uint32_t> taken;                // functions whose address it mentions
  std::vector<Origin> origins;                // of flattened code: by instruction
  bool address_taken = false;
  bool takes_param_address = false;
  bool indirect_calls = false;
  bool allocates = false;                     // by alloca, from the top of local memory
  const Kernel* kernel = nullptr;             // of an entry
  bool may_wait = false;                      // it or what it calls sees what other threads do
  static uint64_t next_serial() {
    static std::atomic<uint64_t> made{0};
    return ++made;
  }
  const FunctionCode& function_of(const Insn& i) const {
    return origins.empty() ? *this : *origins[static_cast<size_t>(&i - insns.data())].function;
  }
};

struct CallSite {
  const FunctionCode* callee = nullptr;  // null: through a register or a builtin
  Builtin builtin = nullptr;
  const void* builtin_data = nullptr;
  bool runtime = false;                  // it may make lanes wait for grids they launched
  int32_t target_slot = -1;              // register holding a function address
  std::vector<LocalPart> args, returns;  // in the caller's local frame
  // In flattened code: of the calls that the caller itself stands for.
  uint32_t below = 0, depth = 0;         // local memory past the frame's own; how deep they are
};

struct SharedVariable {
  std::string name;
  uint64_t size = 0;
  uint32_t align = 1;
  bool dynamic = false;  // extern .shared x[]
};

// One kernel with what its call graph needs.
struct Code {
  const FunctionCode* function = nullptr;
  std::vector<uint32_t> shared_offsets;  // by SharedVariable index; ~0 when unused
  uint32_t static_shared = 0;
  bool takes_param_address = false;
  mutable std::shared_ptr<void> compiled;  // what the engine keeps for it
};

struct Program::Image {
  std::vector<std::unique_ptr<ptx::Module>> modules;
  std::vector<std::unique_ptr<FunctionCode>> functions;
  std::vector<SharedVariable> shared_variables;
  std::unordered_map<std::string, uint32_t> function_index;  // by name; internal ones by "name@module"
  std::deque<Code> kernels;
  int device_cc = 90;
  bool calls_runtime = false;                 // its code may launch grids
  Builtin launch_entry = nullptr;
};

// An image instruction has its operands in Insn::list: results, coordinates, values, level, gradients, offset; Insn::imm
// holds how many of each.
struct ImageOperands {
  uint8_t results = 0, coordinates = 0, values = 0, level = 0, gradient = 0, offset = 0, unused[2]{};
};

// Finds the handler of an instruction; null when this machine does not have it. Each exec_*.cc knows its kinds.
Handler select_handler(const ptx::Instruction& instruction, const ptx::Function& function);

}  // namespace warpbeam::vm
