// Half precision: 16-bit values by themselves or two to a word. In floats, and in whole numbers where lanes do not fill registers of AVX-512.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "isa/mods.h"
#include "isa/opcode.h"
#include "isa/types.h"
#include "jit/runtime.h"

namespace warpbeam::jit {

// Of bits, lane by lane or of one value; a NaN becomes the one that the GPU makes.
llvm::Value* half_to_float(llvm::IRBuilder<>& b, llvm::Value* half, const Processor& has = {});  // 16 bits to 32
llvm::Value* float_to_half(llvm::IRBuilder<>& b, llvm::Value* single, const Processor& has = {});  // 32 bits to 16, to nearest even
llvm::Value* brain_to_float(llvm::IRBuilder<>& b, llvm::Value* brain);  // bf16; a NaN keeps its bits
llvm::Value* float_to_brain(llvm::IRBuilder<>& b, llvm::Value* single, isa::Rnd rounding = isa::Rnd::Rn);
// A number in double as the bits of one of its neighbours in float, with an odd last bit unless it is exact: it may then be
// rounded again.
llvm::Value* double_to_odd(llvm::IRBuilder<>& b, llvm::Value* number);
// The same toward zero, down or up.
llvm::Value* double_directed(llvm::IRBuilder<>& b, llvm::Value* number, isa::Rnd rounding);

// Conversions into one register of two halves, of fields that integers are clamped to, or to tf32 (conversions.cc). Null: it is another one.
llvm::Value* convert_packed(llvm::IRBuilder<>& b, const vm::Insn& insn, const std::vector<llvm::Value*>& operands);

bool has_half(isa::Opcode op, const isa::Mods& mods);
llvm::Value* half_arithmetic(llvm::IRBuilder<>& b, isa::Opcode op, const isa::Mods& mods, const std::vector<llvm::Value*>& operands,
                             isa::Type type, const Processor& has);

}  // namespace warpbeam::jit
