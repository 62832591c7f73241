// Calls out of compiled code: the interpreter's handlers, for everything this engine has no code of its own for, and the
// device library.
#include <fmt/format.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Intrinsics.h>

#include "isa/library/library.h"
#include "jit/emitter.h"

namespace warpbeam::jit {

namespace In = llvm::Intrinsic;

V Emitter::frame() {
  const V frames = context_field(offsetof(Context, frames), b_.getPtrTy(), true);
  return machine_load(b_.getPtrTy(), b_.CreateGEP(b_.getPtrTy(), frames, at_.warp));
}

void Emitter::by_handler(const vm::Insn& i) {
  if (i.call) handlers_.insert("call");
  else handlers_.emplace(i.row() ? i.row()->opcode : "special");
  call_handler(i, at_.active);
}

void Emitter::call_handler(const vm::Insn& i, V mask, const RangeCells* range) { call_detour(i, mask, range, Detour::What::Handler); }

void Emitter::call_detour(const vm::Insn& i, V mask, const RangeCells* range, Detour::What what) {
  write_rows();  // the handler may fault, and what was stored before that shows
  Detour& d = tables_.detours.emplace_back();
  d.what = what;
  d.insn = &i;
  d.range = range;
  const auto& slots = flow_.slots[number_of(i)];
  int32_t part = 0;
  const auto operand = [&](const Slot& s, const Variable& v) {
    Saved saved;
    saved.at = v.at;
    saved.bytes = s.bytes;
    saved.part = part++;
    return saved;
  };
  const auto place = [&](const Saved& s, size_t run = 0) {
    return b_.CreateConstInBoundsGEP1_64(
        b_.getInt8Ty(), w_.context,
        offsetof(Context, operands) + static_cast<size_t>(s.part) * sizeof(Context::operands[0]) + run * s.bytes);
  };
  const auto variable = [&](const Slot& s) {
    const Source source = flow_.source(s.at, s.bytes);
    return source.kind != SourceKind::Variable || s.at >= kParamKeys || s.bytes == 16 ? -1 : static_cast<int64_t>(source.variable);
  };
  for (const Slot& s : slots) {
    const int64_t k = variable(s);
    if (k < 0 || !s.read) continue;
    const uint32_t v = static_cast<uint32_t>(k);
    Saved given = operand(s, flow_.variables[v]);
    const Value value = read_variable(v);
    if (s.bytes == 0) {
      machine_store(value.uniform() ? b_.CreateSExt(value.run[0], b_.getInt32Ty()) : mask_bits(value.lanes), place(given));
    } else {
      given.runs = value.runs;
      given.stride = value.stride;
      given.loose = shapes_.loose[v];
      if (value.runs == 0) machine_store(value.lanes, place(given));
      for (size_t r = 0; r < value.runs; ++r) machine_store(value.run[r], place(given, r));
    }
    d.given.push_back(given);
  }
  if (watch_ && watch_->wanted.events)
    machine_store(lanes_alive(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context, offsetof(Context, running.alive)));
  call_aside(function("wb_detour"), {w_.context, outside(&d), at_.warp, mask, at_.active});
  if (as_.lane_cells) as_.lane_cells->changed.push_back(&b_.GetInsertBlock()->back());
  if (what != Detour::What::Handler) return;
  for (const Slot& s : slots) {
    const int64_t k = variable(s);
    if (k < 0 || !s.written) continue;
    const Saved taken = operand(s, flow_.variables[static_cast<size_t>(k)]);
    d.taken.push_back(taken);
    const auto load = [&](llvm::Type* t, V at) {
      auto* l = llvm::cast<llvm::LoadInst>(machine_load(t, at));
      l->setAlignment(llvm::Align(1));
      return l;
    };
    Value v;
    if (shapes_.variables[static_cast<size_t>(k)].uniform()) {  // any lane that took part has it
      const V lane = b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {at_.active, b_.getTrue()});
      v.runs = 1;
      v.run[0] = s.bytes == 0 ? b_.CreateTrunc(b_.CreateLShr(load(b_.getInt32Ty(), place(taken)), lane), b_.getInt1Ty())
                              : static_cast<V>(load(lane_type(s.bytes), b_.CreateGEP(lane_type(s.bytes), place(taken), lane)));
    } else {
      v.lanes = s.bytes == 0 ? bool_lanes(load(b_.getInt32Ty(), place(taken))) : static_cast<V>(load(type_of(s.bytes, true), place(taken)));
    }
    write(s.at, s.bytes, v);
  }
}

void Emitter::emit_library_call(const vm::Insn& i) {
  const auto& f = *static_cast<const isa::LibraryFunction*>(i.call->builtin_data);
  for (const vm::LocalPart& p : i.call->args)
    if (flow_.cell_of(p) < 0) return by_handler(i);
  for (const vm::LocalPart& p : i.call->returns)
    if (flow_.cell_of(p) < 0) return by_handler(i);
  uses(Technique::LibraryCalls);
  llvm::IRBuilder<> top(w_.entry, w_.entry->begin());
  const size_t n = i.call->args.size();
  auto* pointers = top.CreateAlloca(llvm::ArrayType::get(b_.getPtrTy(), std::max<size_t>(n, 1)));
  for (size_t k = 0; k < n; ++k) {
    const vm::LocalPart& p = i.call->args[k];
    auto* buffer = top.CreateAlloca(type_of(static_cast<Width>(p.size), true));
    b_.CreateStore(lanes_of(read(flow_.cell_of(p), static_cast<Width>(p.size)), static_cast<Width>(p.size)), buffer);
    b_.CreateStore(buffer, b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), pointers, k));
  }
  const vm::LocalPart& r = i.call->returns[0];
  auto* result = top.CreateAlloca(type_of(static_cast<Width>(r.size), true));
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getInt32Ty(), b_.getPtrTy(), b_.getPtrTy()}, false);
  b_.CreateCall(type, outside(reinterpret_cast<const void*>(f.lanes)), {at_.active, result, pointers});
  Value v;
  v.lanes = b_.CreateLoad(type_of(static_cast<Width>(r.size), true), result);
  write(flow_.cell_of(r), static_cast<Width>(r.size), v);
}

// As exec_pick_target.
void Emitter::emit_pick(const vm::Insn& i) {
  uses(Technique::ChosenCalls);
  const Value target = read(i.op[1], 8);
  const V lane = b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {at_.active, b_.getTrue()});
  const V first = target.uniform() ? target.run[0] : b_.CreateExtractElement(lanes_of(target, 8), lane);
  V which = b_.getInt32(static_cast<uint32_t>(i.imm));
  for (int64_t k = i.imm; k-- > 0;)
    which = b_.CreateSelect(b_.CreateICmpEQ(first, b_.getInt64(vm::code_address(static_cast<uint32_t>(i.list[k])))),
                            b_.getInt32(static_cast<uint32_t>(k)), which);
  Value out;
  if (target.uniform()) {
    out.runs = 1;
    out.run[0] = which;
  } else {
    out.lanes = b_.CreateSelect(b_.CreateICmpEQ(lanes_of(target, 8), splat(first)), splat(which),
                                splat(b_.getInt32(static_cast<uint32_t>(i.imm) + 1)));
  }
  write(i.op[0], 4, out);
}

}  // namespace warpbeam::jit
