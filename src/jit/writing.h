// What is being written, and the words that every part of the engine says it with.
//
// A value is held in a host scalar, or in a vector of lanes; predicates are i1 or vectors of it. Sets of lanes are words, or vectors
// of bits where the code is for a slice of a warp.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <array>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>

#include "jit/runtime.h"
#include "jit/shapes.h"
#include "jit/technique.h"
#include "jit/values.h"

namespace warpbeam::jit {

using V = llvm::Value*;
using Names = std::unordered_map<const void*, std::string>;  // of what the code refers to outside of itself

// Are all lanes in it, whatever happens?
inline bool is_all(const llvm::Value* mask) {
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(mask);
  return known && known->isMinusOne();
}

struct Writing {
  llvm::Module& module;
  Names& names;
  const Processor& processor;
  llvm::IRBuilder<> builder;
  llvm::Function* function = nullptr;
  V context = nullptr;                    // jit::Context, the function's first argument
  llvm::BasicBlock* entry = nullptr;
  unsigned lanes = kLanes;                // that the code is for
  llvm::MDNode *machine_scope = nullptr, *user_scope = nullptr;  // accesses of the one do not meet those of the other
  bool samples = false;                   // what only the launch tells is taken to be some number
  std::set<Technique> techniques;         // that have been used
  Writing(llvm::Module& module, Names& names, const Processor& processor);
};

class Words {
 protected:
  explicit Words(Writing& writing) : w_(writing), b_(writing.builder), c_(writing.builder.getContext()) {}
  llvm::Type* lane_type(Width bytes);
  llvm::Type* type_of(Width bytes, bool vector);
  V constant(Width bytes, uint64_t bits) { return bytes ? static_cast<V>(b_.getIntN(bytes * 8u, bits)) : b_.getInt1(bits & 1); }
  V splat(V scalar);
  V picked(V a, V b, int n, const std::function<int(int)>& from);  // n elements of both
  V mask_bits(V lanes_of_bool) { return w_.lanes == kLanes ? b_.CreateBitCast(lanes_of_bool, b_.getInt32Ty()) : lanes_of_bool; }
  V bool_lanes(V mask) {
    return mask->getType()->isVectorTy() ? mask : b_.CreateBitCast(mask, llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes));
  }
  V lanes_behind(V lanes);                          // each lane has what the next one had
  V any_of(V mask);                                 // is a lane among them?
  V machine_load(llvm::Type* type, V at, bool unchanging = false);
  void machine_store(V value, V at);
  V user(llvm::Instruction* access);                // marks an access of the kernel's own
  V canonical(V floats);
  V float_of(V bits, Width bytes);
  V bits_of(V floats);
  V call(const char* name, llvm::Type* result, llvm::ArrayRef<V> arguments);
  V intrinsic(llvm::Intrinsic::ID id, V a) { return b_.CreateUnaryIntrinsic(id, a); }
  V intrinsic(llvm::Intrinsic::ID id, V a, V c) { return b_.CreateBinaryIntrinsic(id, a, c); }
  V intrinsic(llvm::Intrinsic::ID id, V a, V c, V d) { return b_.CreateIntrinsic(id, {a->getType()}, {a, c, d}); }
  V scratch(llvm::Type* type);                      // a place on the stack
  V outside(const void* address);                   // by a name, so that the code is the same in every process
  V function(const char* name);
  llvm::BasicBlock* new_block(const char* name) { return llvm::BasicBlock::Create(c_, name, w_.function); }
  template <class... Names>
  std::array<llvm::BasicBlock*, sizeof...(Names)> new_blocks(Names... names) {
    return {new_block(names)...};
  }
  // What is written next stands there.
  void go_on(llvm::BasicBlock* there) {
    b_.CreateBr(there);
    b_.SetInsertPoint(there);
  }
  void go_on_if(V condition, llvm::BasicBlock* there, llvm::BasicBlock* otherwise, llvm::MDNode* weights = nullptr) {
    b_.CreateCondBr(condition, there, otherwise, weights);
    b_.SetInsertPoint(there);
  }
  V context_field(size_t offset, llvm::Type* type, bool unchanging);
  void call_aside(V function, llvm::ArrayRef<V> arguments);  // leaves all registers as they are: for what is rare
  V lanes_in(V mask);                               // how many
  std::pair<V, V> ends_of(V mask);
  V above_32_bits(V addresses);
  V lanes_of(const Value& v, Width bytes);          // as a vector
  V in_run(const Value& v, Width bytes, int run, int runs);  // its value in the first lane of run `run` of `runs`
  Value shaped(const Value& v, const Shape& shape, Width bytes);
  Line line_of(const Value& v, Width bytes);
  void uses(Technique technique) { w_.techniques.insert(technique); }

  Writing& w_;
  llvm::IRBuilder<>& b_;
  llvm::LLVMContext& c_;
};

}  // namespace warpbeam::jit
