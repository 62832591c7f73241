// Sets of lanes as bits of a host word and as vectors of single bits.
#pragma once
#include <llvm/IR/Function.h>

namespace warpbeam::jit {

// For optimised code: logic of vectors of bits whose operands are words becomes logic of words. Where only one is a
// word it becomes a vector by a comparison: LLVM 19's instruction selection for AVX-512 does not come to an end on
// logic of a bitcast word and a vector.
void settle_mask_forms(llvm::Function& function);

// For optimised code: where lanes choose between a value and a mixture of its bits and another's, they choose between the two
// values, and mix then. LLVM 19 makes one instruction of such a choice for AVX-512, in which it confuses the operands.
void choose_before_mixing(llvm::Function& function);

// For optimised code on processors whose registers of lanes have no registers of masks beside them: words that are used as
// vectors of bits become comparisons, block by block. LLVM would take the bits out one by one.
void spread_mask_words(llvm::Function& function);

// On such processors, too: vectors of 8 or 16 bits that go from block to block, as a slice's lanes go round a loop, become
// numbers with those signs. LLVM would pack them into bytes and spread them again.
void widen_mask_vectors(llvm::Function& function);

}  // namespace warpbeam::jit
