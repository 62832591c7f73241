#include "jit/writing.h"

#include <fmt/format.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Intrinsics.h>

namespace warpbeam::jit {

using llvm::FixedVectorType;
namespace In = llvm::Intrinsic;

constexpr unsigned kAtOnce = 8;  // lanes whose bits are looked at together

Writing::Writing(llvm::Module& module, Names& names, const Processor& processor)
    : module(module), names(names), processor(processor), builder(module.getContext()) {
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

V Words::picked(V a, V b, int n, const std::function<int(int)>& from) {
  std::vector<int> pick;
  for (int k = 0; k < n; ++k) pick.push_back(from(k));
  return b_.CreateShuffleVector(a, b, pick);
}

V Words::lanes_behind(V lanes) {
  std::vector<int> next;
  for (int l = 0; l < kLanes; ++l) next.push_back(std::min(l + 1, kLanes - 1));
  return b_.CreateShuffleVector(lanes, next);
}

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

V Words::lanes_of(const Value& v, Width bytes) {
  if (v.runs == 0) return v.lanes;
  const int length = kLanes / v.runs;
  V all = splat(v.run[0]);
  if (v.even && bytes != 0) {
    std::vector<llvm::Constant*> steps;
    for (int l = 0; l < kLanes; ++l)
      steps.push_back(llvm::ConstantInt::get(lane_type(bytes), static_cast<uint64_t>(v.gap * (l / length) + v.stride * (l % length))));
    return b_.CreateAdd(all, llvm::ConstantVector::get(steps));
  }
  for (int r = 1; r < v.runs; ++r) {
    std::vector<int> pick(kLanes);
    for (int l = 0; l < kLanes; ++l) pick[static_cast<size_t>(l)] = l / length == r ? kLanes + l : l;
    all = b_.CreateShuffleVector(all, splat(v.run[static_cast<size_t>(r)]), pick);
  }
  if (v.stride == 0 || bytes == 0) return all;
  std::vector<llvm::Constant*> steps;
  for (int l = 0; l < kLanes; ++l)
    steps.push_back(llvm::ConstantInt::get(lane_type(bytes), static_cast<uint64_t>(v.stride) * static_cast<uint64_t>(l % length)));
  return b_.CreateAdd(all, llvm::ConstantVector::get(steps));
}

V Words::in_run(const Value& v, Width bytes, int run, int runs) {
  const int mine = v.runs * run / runs;                       // which of its own runs
  const int lane = run * (kLanes / runs) - mine * (kLanes / v.runs);  // how far into it
  V base = v.run[static_cast<size_t>(mine)];
  if (lane == 0 || v.stride == 0 || bytes == 0) return base;
  return b_.CreateAdd(base, llvm::ConstantInt::get(lane_type(bytes), static_cast<uint64_t>(v.stride * lane)));
}

Value Words::shaped(const Value& v, const Shape& shape, Width bytes) {
  Value out;
  out.runs = shape.runs;
  out.stride = shape.stride;
  if (shape.runs == 0) {
    out.lanes = lanes_of(v, bytes);
    return out;
  }
  for (int r = 0; r < shape.runs; ++r)
    out.run[static_cast<size_t>(r)] =
        v.runs ? in_run(v, bytes, r, shape.runs) : b_.CreateExtractElement(v.lanes, static_cast<uint64_t>(r * kLanes / shape.runs));
  return out;
}

Line Words::line_of(const Value& v, Width bytes) {
  if (v.runs == 1) return {v.run[0], llvm::ConstantInt::getSigned(lane_type(bytes), v.stride)};
  if (v.line.base) return v.line;
  const V first = b_.CreateExtractElement(v.lanes, uint64_t(0)), second = b_.CreateExtractElement(v.lanes, uint64_t(1));
  return {first, b_.CreateSub(second, first)};
}

// The first and the last lane that run, as numbers of 64 bits.
std::pair<V, V> Words::ends_of(V mask) {
  const V head = b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {mask, b_.getFalse()});
  const V tail = b_.CreateSub(b_.getInt32(31), b_.CreateIntrinsic(In::ctlz, {b_.getInt32Ty()}, {mask, b_.getFalse()}));
  return {b_.CreateZExt(head, b_.getInt64Ty()), b_.CreateSExt(tail, b_.getInt64Ty())};
}

// Lanes whose addresses are too large for shared memory. Where all of them are 32 bits made longer, LLVM knows that there
// are none.
V Words::above_32_bits(V addresses) {
  const V high = b_.CreateLShr(addresses, llvm::ConstantInt::get(addresses->getType(), 32));
  return mask_bits(b_.CreateICmpNE(high, llvm::Constant::getNullValue(high->getType())));
}

V Words::context_field(size_t offset, llvm::Type* type, bool unchanging) {
  if (w_.samples) return type->isIntegerTy() ? llvm::ConstantInt::get(type, offset % 7 + 1) : llvm::Constant::getNullValue(type);
  return machine_load(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context, offset), unchanging);
}

void Words::call_aside(V function, llvm::ArrayRef<V> arguments) {
  constexpr const char* kRegisters[] = {"{di}", "{si}", "{dx}", "{cx}", "{r8}", "{r9}"};
  std::vector<llvm::Type*> types;
  for (V a : arguments) types.push_back(a->getType());
  if (!quiet_call(w_.processor)) {
    b_.CreateCall(llvm::FunctionType::get(b_.getVoidTy(), types, false), function, arguments);
    return;
  }
  std::string constraints = "{ax}";
  std::vector<V> all{function};
  types.insert(types.begin(), function->getType());
  for (size_t k = 0; k < arguments.size(); ++k) {
    constraints += fmt::format(",{}", kRegisters[k]);
    all.push_back(arguments[k]);
  }
  constraints += ",~{memory},~{dirflag},~{fpsr},~{flags}";
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), types, false);
  b_.CreateCall(type, llvm::InlineAsm::get(type, "callq wb_quiet@PLT", constraints, true), all);
}

V Words::lanes_in(V mask) { return b_.CreateZExt(intrinsic(In::ctpop, mask), b_.getInt64Ty()); }

}  // namespace warpbeam::jit
