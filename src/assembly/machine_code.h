// What an assembler would make of a kernel: an estimate of its machine instructions, made from PTX alone.
//
// The vendor's assembler keeps a function's basic blocks, by and large: it chooses instructions, moves them about inside of a
// block, lets short branches become predicates and repeats the bodies of short loops. So machine code is kept by the basic
// blocks of the PTX, and whoever knows which blocks a warp went through knows which machine instructions it executed.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/module.h"

namespace warpbeam::assembly {

// What a machine instruction does, as far as time is concerned: the generation's table (model/timing.h) has a row for each.
enum class Operation : uint8_t {
#define WB_OPERATION(id, name, unit, about) id,
#include "assembly/operations.inc"
#undef WB_OPERATION
};
std::string_view name_of(Operation operation);

// General registers are 0 to 254, then come predicates and uniform registers.
inline constexpr int kPredicates = 256, kUniform = 272, kMachineRegisters = 352;
struct RegisterRange {
  int16_t first = -1;
  uint8_t count = 0;
};

struct MachineInstruction {
  Operation operation{};
  uint8_t bytes = 0;       // of a lane, of an access to memory
  bool access = false;     // makes the accesses of its PTX instruction
  bool guarded = false;
  uint32_t ptx = 0;        // the instruction it stands for: an index into ptx::Function::body
  int32_t spilled = -1;    // of an access to a value that has no register: where that lives, in words of a thread's local memory
  std::array<RegisterRange, 5> reads{};
  std::array<RegisterRange, 2> writes{};
  std::string_view mnemonic;  // as people know it from disassemblies: "IMAD.WIDE"
};

using MachineText = std::vector<MachineInstruction>;

struct MachineBlock {
  uint32_t begin = 0, end = 0;  // of the PTX: body[begin, end)
  MachineText text;             // executed each time that a warp comes here
  // The block is executed as part of another one that comes before it, under a predicate or because it always follows: its
  // instructions stand there, and its own text is empty. They are issued whether or not a lane takes them; their accesses
  // are made if one does.
  int32_t folded_into = -1;
  // A loop of this one block and those that are part of it, of which the assembler makes one of `turns` bodies: what so many turns execute together.
  uint32_t turns = 1;
  MachineText unrolled;
};

struct MachineCode {
  std::vector<MachineBlock> blocks;  // in the order of the text
  std::vector<uint32_t> block_of;  // by PTX instruction
  int registers = 0;  // of a thread
  uint32_t spill_bytes = 0;  // of a thread, in local memory
  uint32_t instructions() const;  // machine instructions in the text, unrolled bodies included
};

struct Target {
  int cc = 90;
  uint32_t max_registers = 255;  // what -maxrregcount, launch bounds and the device allow
};

// What a kernel's own directives (.maxnreg, .maxntid, .minnctapersm) leave of what a thread and a block may have.
Target target_of(const ptx::Function& kernel, int cc, uint32_t most_per_thread, uint32_t per_block);

// Never fails: what it does not know becomes one instruction.
MachineCode assemble(const ptx::Module& module, const ptx::Function& function, const Target& target);

}  // namespace warpbeam::assembly
