#include "jit/writing.h"

#include <fmt/format.h>

namespace warpbeam::jit {

using llvm::FixedVectorType;

constexpr unsigned kAtOnce = 8;  // lanes whose bits are looked at together

Writing::Writing(llvm::Module& module, Names& names) : module(module), names(names), builder(module.getContext()) {
  llvm::MDBuilder md(module.getContext());
  auto* domain = md.createAnonymousAliasScopeDomain("block");
  machine_scope = llvm::MDNode::get(module.getContext(), {md.createAnonymousAliasScope(domain, "machine")});
  user_scope = llvm::MDNode::get(module.getContext(), {md.createAnonymousAliasScope(domain, "kernel")});
}

llvm::Type* Words::lane_type(Width bytes) { return bytes == 0 ? b_.getInt1Ty() : static_cast<llvm::Type*>(b_.getIntNTy(bytes * 8u)); }

llvm::Type* Words::type_of(Width bytes, bool vector) {
  return vector ? static_cast<llvm::Type*>(FixedVectorType::get(lane_type(bytes), w_.lanes)) : lane_type(bytes);
}

V Words::splat(V scalar) { return b_.CreateVectorSplat(w_.lanes, scalar); }

V Words::machine_load(llvm::Type* type, V at, bool unchanging) {
  auto* load = b_.CreateLoad(type, at);
  load->setMetadata(llvm::LLVMContext::MD_alias_scope, w_.machine_scope);
  load->setMetadata(llvm::LLVMContext::MD_noalias, w_.user_scope);
  if (unchanging) load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(c_, {}));
  return load;
}

void Words::machine_store(V value, V at) {
  auto* store = b_.CreateAlignedStore(value, at, llvm::Align(1));
  store->setMetadata(llvm::LLVMContext::MD_alias_scope, w_.machine_scope);
  store->setMetadata(llvm::LLVMContext::MD_noalias, w_.user_scope);
}

V Words::user(llvm::Instruction* access) {
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, w_.user_scope);
  access->setMetadata(llvm::LLVMContext::MD_noalias, w_.machine_scope);
  return access;
}

V Words::float_of(V bits, Width bytes) {
  llvm::Type* t = bytes == 8 ? b_.getDoubleTy() : bytes == 4 ? b_.getFloatTy() : b_.getHalfTy();
  if (auto* v = llvm::dyn_cast<FixedVectorType>(bits->getType())) t = FixedVectorType::get(t, v->getNumElements());
  return b_.CreateBitCast(bits, t);
}

V Words::bits_of(V floats) {
  llvm::Type* t = b_.getIntNTy(floats->getType()->getScalarSizeInBits());
  if (auto* v = llvm::dyn_cast<FixedVectorType>(floats->getType())) t = FixedVectorType::get(t, v->getNumElements());
  return b_.CreateBitCast(floats, t);
}

// NaN results of f32 arithmetic carry no payload.
V Words::canonical(V x) {
  const V nan = b_.CreateBitCast(llvm::ConstantInt::get(bits_of(x)->getType(), 0x7fffffff), x->getType());
  return b_.CreateSelect(b_.CreateFCmpUNO(x, x), nan, x);
}

V Words::call(const char* name, llvm::Type* result, llvm::ArrayRef<V> arguments) {
  std::vector<llvm::Type*> types;
  for (V a : arguments) types.push_back(a->getType());
  auto callee = w_.module.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  return b_.CreateCall(callee, arguments);
}

V Words::outside(const void* address) {
  std::string& name = w_.names[address];
  if (name.empty()) name = fmt::format("wb.{}", w_.names.size());
  return w_.module.getOrInsertGlobal(name, b_.getInt8Ty());
}

V Words::any_of(V mask) {
  if (!mask->getType()->isVectorTy()) return b_.CreateICmpNE(mask, llvm::Constant::getNullValue(mask->getType()));
  const V signs = b_.CreateSExt(mask, FixedVectorType::get(b_.getInt32Ty(), w_.lanes));
  V all = nullptr;
  for (unsigned first = 0; first < w_.lanes; first += kAtOnce) {
    int pick[kAtOnce];
    for (unsigned l = 0; l < kAtOnce; ++l) pick[l] = static_cast<int>(first + l);
    const V part = b_.CreateShuffleVector(signs, pick);
    all = all ? b_.CreateOr(all, part) : part;
  }
  const V bits = b_.CreateBitCast(b_.CreateICmpSLT(all, llvm::Constant::getNullValue(all->getType())), b_.getIntNTy(kAtOnce));
  return b_.CreateICmpNE(bits, b_.getIntN(kAtOnce, 0));
}

V Words::scratch(llvm::Type* type) {
  llvm::IRBuilder<> top(w_.entry, w_.entry->begin());
  return top.CreateAlloca(type);
}

V Words::function(const char* name) {
  return w_.module.getOrInsertFunction(name, llvm::FunctionType::get(b_.getVoidTy(), false)).getCallee();
}

}  // namespace warpbeam::jit
