// Half precision in whole numbers and floats, which every processor has: 16-bit values by themselves or two to a word.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <string_view>
#include <vector>

namespace warpbeam::jit {

// Of bits, lane by lane or of one value; a NaN becomes the one that the GPU makes.
llvm::Value* half_to_float(llvm::IRBuilder<>& b, llvm::Value* half);    // 16 bits to 32
llvm::Value* float_to_half(llvm::IRBuilder<>& b, llvm::Value* single);  // 32 bits to 16, to nearest even

bool has_half(std::string_view opcode);
llvm::Value* half_arithmetic(llvm::IRBuilder<>& b, std::string_view opcode, const std::vector<llvm::Value*>& operands,
                             bool packed);

}  // namespace warpbeam::jit
