// Calls out of compiled code: the interpreter's handlers, for everything this engine has no code of its own for, and the
// device library.
#include <llvm/IR/Intrinsics.h>

#include "isa/library/library.h"
#include "jit/emitter.h"

namespace warpbeam::jit {

namespace In = llvm::Intrinsic;

Emitter::V Emitter::frame() {
  const V frames = context_field(offsetof(Context, frames), b_.getPtrTy(), true);
  return machine_load(b_.getPtrTy(), b_.CreateGEP(b_.getPtrTy(), frames, warp_));
}

void Emitter::store_slots(const vm::Insn& i, V frame) {
  for (const Slot& s : flow_.slots[static_cast<size_t>(&i - flow_.code->insns.data())]) {
    const Source source = flow_.source(s.at, s.bytes);
    if (source.kind != SourceKind::Variable || s.at >= kParamKeys || s.bytes == 16) continue;
    if (!s.read && flow_.source(s.at, s.bytes).kind == SourceKind::Variable) continue;
    const Value v = read_variable(source.variable);
    V at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), frame, static_cast<uint64_t>(s.at));
    if (s.bytes == 0) {
      machine_store(v.uniform() ? b_.CreateSExt(v.run[0], b_.getInt32Ty()) : mask_bits(v.lanes), at);
      continue;
    }
    V lanes = lanes_of(v, s.bytes);
    if (shapes_.loose[source.variable]) lanes = bits_of(canonical(float_of(lanes, 4)));
    machine_store(lanes, at);
  }
}

void Emitter::load_slots(const vm::Insn& i, V frame, bool) {
  const auto load = [&](llvm::Type* t, V at) {
    auto* l = llvm::cast<llvm::LoadInst>(machine_load(t, at));
    l->setAlignment(llvm::Align(1));
    return l;
  };
  for (const Slot& s : flow_.slots[static_cast<size_t>(&i - flow_.code->insns.data())]) {
    const Source source = flow_.source(s.at, s.bytes);
    if (!s.written || source.kind != SourceKind::Variable || s.at >= kParamKeys || s.bytes == 16) continue;
    const Shape& shape = shapes_.variables[source.variable];
    V at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), frame, static_cast<uint64_t>(s.at));
    Value v;
    if (shape.uniform()) {  // any lane that took part has it
      const V lane = b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {active_, b_.getTrue()});
      v.runs = 1;
      v.run[0] = s.bytes == 0 ? b_.CreateTrunc(b_.CreateLShr(load(b_.getInt32Ty(), at), lane), b_.getInt1Ty())
                              : static_cast<V>(load(lane_type(s.bytes), b_.CreateGEP(lane_type(s.bytes), at, lane)));
    } else {
      v.lanes = s.bytes == 0 ? bool_lanes(load(b_.getInt32Ty(), at)) : static_cast<V>(load(type_of(s.bytes, true), at));
    }
    write(s.at, s.bytes, v);
  }
}

void Emitter::call_handler(const vm::Insn& i, V mask) {
  const V frame = call("wb_prepare", b_.getPtrTy(), {context_, warp_});
  store_slots(i, frame);
  call("wb_handler", b_.getVoidTy(), {context_, outside(&i), warp_, mask, active_});
  load_slots(i, frame, false);
  // Regions find the values of runs where they have left them.
  if (!many_regions_) return;
  for (const Slot& s : flow_.slots[static_cast<size_t>(&i - flow_.code->insns.data())]) {
    const Source source = flow_.source(s.at, s.bytes);
    if (source.kind != SourceKind::Variable || s.at >= kParamKeys || shapes_.variables[source.variable].runs < 2) continue;
    const Value v = read_variable(source.variable);
    for (size_t r = 0; r < v.runs; ++r) machine_store(v.run[r], b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), frame, static_cast<uint64_t>(s.at) + r * s.bytes));
  }
}

Emitter::V Emitter::scratch(llvm::Type* type) {
  llvm::IRBuilder<> top(entry_, entry_->begin());
  return top.CreateAlloca(type);
}

void Emitter::emit_library_call(const vm::Insn& i) {
  const auto& f = *static_cast<const isa::LibraryFunction*>(i.call->builtin_data);
  for (const vm::LocalPart& p : i.call->args)
    if (!flow_.parameter_parts.contains(static_cast<int32_t>(p.offset))) return call_handler(i, active_);
  for (const vm::LocalPart& p : i.call->returns)
    if (!flow_.parameter_parts.contains(static_cast<int32_t>(p.offset))) return call_handler(i, active_);
  llvm::IRBuilder<> top(entry_, entry_->begin());
  const size_t n = i.call->args.size();
  auto* pointers = top.CreateAlloca(llvm::ArrayType::get(b_.getPtrTy(), std::max<size_t>(n, 1)));
  for (size_t k = 0; k < n; ++k) {
    const vm::LocalPart& p = i.call->args[k];
    auto* buffer = top.CreateAlloca(type_of(static_cast<Width>(p.size), true));
    b_.CreateStore(lanes_of(read(kParamKeys + static_cast<int32_t>(p.offset), static_cast<Width>(p.size)), static_cast<Width>(p.size)), buffer);
    b_.CreateStore(buffer, b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), pointers, k));
  }
  const vm::LocalPart& r = i.call->returns[0];
  auto* result = top.CreateAlloca(type_of(static_cast<Width>(r.size), true));
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getInt32Ty(), b_.getPtrTy(), b_.getPtrTy()}, false);
  b_.CreateCall(type, outside(reinterpret_cast<const void*>(f.lanes)), {active_, result, pointers});
  Value v;
  v.lanes = b_.CreateLoad(type_of(static_cast<Width>(r.size), true), result);
  write(kParamKeys + static_cast<int32_t>(r.offset), static_cast<Width>(r.size), v);
}

}  // namespace warpbeam::jit
