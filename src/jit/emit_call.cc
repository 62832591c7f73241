// Idea: the device library is called as it is, lanes that choose functions go one function at a time, and all else calls its handler.
// Precondition: operands are in the frame. Postcondition: results are variables. Fallback: what waits goes on in the interpreter.
#include <fmt/format.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <span>

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
  if (watch_) call_handler(i, at_.active);
  else call_directly(i);
}

// The variable that an operand is, where the handler gets it from compiled code; null: it is in the frame as it is.
const Variable* Emitter::passed(const Slot& s) const {
  const Source source = flow_.source(s.at, s.bytes);
  const bool there = source.kind != SourceKind::Variable || s.at >= kParamKeys || s.bytes == 16;
  return there ? nullptr : &flow_.variables[source.variable];
}

// A handler that is what the instruction is always done by: operands and results are at their places in the frame, and it is called as any
// function is.
void Emitter::call_directly(const vm::Insn& i) {
  if (!i.effects().pure()) write_rows();
  const V regs = call("wb_prepare", b_.getPtrTy(), {w_.context, at_.warp});
  const auto place = [&](const Slot& s) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), regs, static_cast<uint64_t>(s.at)); };
  const auto& slots = flow_.slots[number_of(i)];
  for (const Slot& s : slots) {
    if (!s.read || !passed(s)) continue;
    const Value v = read(s.at, s.bytes);
    if (s.bytes == 0) {
      machine_store(v.uniform() ? b_.CreateSExt(v.run[0], b_.getInt32Ty()) : mask_bits(v.lanes), place(s));
      continue;
    }
    const V lanes = lanes_of(v, s.bytes);
    machine_store(s.bytes == 4 && shapes_.is_loose(s.at) ? bits_of(canonical(float_of(lanes, 4))) : lanes, place(s));
  }
  call("wb_handler", b_.getVoidTy(), {w_.context, outside(&i), at_.warp, at_.active, at_.active});
  if (as_.lane_cells) as_.lane_cells->changed.push_back(&b_.GetInsertBlock()->back());
  for (const Slot& s : slots)
    if (s.written && passed(s)) take_result(s, place(s));
}

void Emitter::take_result(const Slot& s, V place) {
  const auto load = [&](llvm::Type* t, V at) {
    auto* l = llvm::cast<llvm::LoadInst>(machine_load(t, at));
    l->setAlignment(llvm::Align(1));
    return l;
  };
  Value v;
  if (shapes_.variables[*flow_.variable(s.at)].uniform()) {  // any lane that took part has it
    const V lane = b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {at_.active, b_.getTrue()});
    v.runs = 1;
    v.run[0] = s.bytes == 0 ? b_.CreateTrunc(b_.CreateLShr(load(b_.getInt32Ty(), place), lane), b_.getInt1Ty())
                            : static_cast<V>(load(lane_type(s.bytes), b_.CreateGEP(lane_type(s.bytes), place, lane)));
  } else {
    v.lanes = s.bytes == 0 ? bool_lanes(load(b_.getInt32Ty(), place)) : static_cast<V>(load(type_of(s.bytes, true), place));
  }
  write(s.at, s.bytes, v);
}

// What comes of it follows from the row's effects: waiting and going elsewhere is for the interpreter from there on, and so is meeting
// lanes of the warp that are not here.
void Emitter::emit_foreign(const vm::Insn& i) {
  const isa::Effects e = i.effects();
  if (leaves_nothing(i)) return;
  if (e.waits || e.leads) return hand_over(i, b_.getTrue(), Why::Foreign);
  if (e.meets) {
    const V away = b_.CreateICmpNE(lanes_elsewhere(i), b_.getInt32(0));
    hand_over(i, i.guard >= 0 && at_.forced ? static_cast<V>(b_.getTrue()) : away, Why::Meeting);
  }
  by_handler(i);
  if (e.orders) b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
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
  for (const Slot& s : slots) {
    const Variable* variable = passed(s);
    if (!variable || !s.read) continue;
    const auto v = static_cast<uint32_t>(variable - flow_.variables.data());
    Saved given = operand(s, *variable);
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
    const Variable* variable = passed(s);
    if (!variable || !s.written) continue;
    d.taken.push_back(operand(s, *variable));
    take_result(s, place(d.taken.back()));
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

// As exec_pick_target. Where functions are few and none changes anything, so that their order does not show, each lane's is found out at
// once, and none waits for another round.
void Emitter::emit_pick(const vm::Insn& i) {
  constexpr int64_t kFew = 8;
  uses(Technique::ChosenCalls);
  const Value target = read(i.op[1], 8);
  const vm::Insn* const ways = &i + 1;
  const auto changes = [&](const vm::Insn& o) {
    const isa::Effects e = o.effects();
    return o.call || ((e.writes || e.orders || e.meets || e.waits || e.varies) && !flow_.cell_access(o));
  };
  const auto code =
      std::span(flow_.code->insns).subspan(static_cast<size_t>(ways->list[0]), static_cast<size_t>(ways->list[i.imm] - ways->list[0]));
  if (!target.uniform() && i.imm <= kFew && std::ranges::none_of(code, changes)) {
    Value each;
    each.lanes = splat(b_.getInt32(static_cast<uint32_t>(i.imm)));
    for (int64_t k = 0; k < i.imm; ++k)
      each.lanes =
          b_.CreateSelect(b_.CreateICmpEQ(lanes_of(target, 8), splat(b_.getInt64(vm::code_address(static_cast<uint32_t>(i.list[k]))))),
                          splat(b_.getInt32(static_cast<uint32_t>(k))), each.lanes);
    return write(i.op[0], 4, each);
  }
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
