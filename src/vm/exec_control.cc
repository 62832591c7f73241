// Branches, calls, exits, barriers, fences.
#include <fmt/format.h>

#include <atomic>

#include "vm/access.h"
#include "vm/exec_lane.h"
#include "vm/flow_handlers.h"

namespace warpbeam::vm {

void exec_label(Warp& w, const Insn&, uint32_t) {
  if (!w.groups.empty()) w.at_label();
}

void exec_jump(Warp& w, const Insn& i, uint32_t) {
  w.jump(i.target);
  if (i.spin) w.spin(1);
}

void exec_branch(Warp& w, const Insn& i, uint32_t taken) {
  if (taken == w.active) w.jump(i.target);
  else w.branch(i, taken);
  if (i.spin) w.spin(1);
}

void exec_branch_table(Warp& w, const Insn& i, uint32_t mask) {
  const uint32_t* index = w.lanes<uint32_t>(i.op[0]);
  if (mask != w.active) w.split(w.active & ~mask, w.ip);
  uint32_t left = mask;
  while (left) {
    const uint32_t choice = index[__builtin_ctz(left)];
    if (choice >= static_cast<uint64_t>(i.imm))
      w.trap(TrapKind::IllegalInstruction, i, __builtin_ctz(left), fmt::format("brx.idx index {} is past the {} targets", choice, i.imm));
    uint32_t same = 0;
    for (int l = 0; l < kWarpSize; ++l) same |= static_cast<uint32_t>((left >> l & 1) && index[l] == choice) << l;
    left &= ~same;
    const Insn* target = &w.frame->function->insns[static_cast<uint32_t>(i.list[choice])];
    if (left) w.split(same, target);
    else w.ip = target;
  }
  w.at_label();
}

void exec_call(Warp& w, const Insn& i, uint32_t mask) { w.call(i, *i.call->callee, *i.call, mask); }

void exec_call_builtin(Warp& w, const Insn& i, uint32_t mask) { i.call->builtin(w, i, *i.call, mask); }

void exec_ret(Warp& w, const Insn&, uint32_t mask) { w.ret(mask); }

void exec_exit(Warp& w, const Insn&, uint32_t mask) { w.exit_lanes(mask); }

namespace {

void exec_trap(Warp& w, const Insn& i, uint32_t mask) {
  w.trap(TrapKind::Trap, i, __builtin_ctz(mask), "the kernel executed a trap instruction");
}

void exec_breakpoint(Warp& w, const Insn& i, uint32_t mask) {
  w.trap(TrapKind::Trap, i, __builtin_ctz(mask), "the kernel reached a breakpoint and no debugger is attached");
}

// --- barriers ----------------------------------------------------------------------------------------------------

struct BarrierOperands {
  uint8_t id;
  uint32_t count;  // 0: the whole block
};

BarrierOperands barrier_operands(Warp& w, const Insn& i, uint32_t mask, int id_at) {
  const int lane = __builtin_ctz(mask);
  const uint32_t id = w.lanes<uint32_t>(i.op[id_at])[lane];
  const uint32_t count = i.op[id_at + 1] >= 0 ? w.lanes<uint32_t>(i.op[id_at + 1])[lane] : 0;
  if (id > 15) w.trap(TrapKind::IllegalInstruction, i, lane, fmt::format("barrier {} does not exist: there are 16", id));
  if (count % kWarpSize && i.op[id_at + 1] >= 0)
    w.trap(TrapKind::IllegalInstruction, i, lane, fmt::format("a barrier for {} threads: the number must be a multiple of 32", count));
  if (i.op[id_at + 1] >= 0 && count == 0) w.trap(TrapKind::IllegalInstruction, i, lane, "a barrier for 0 threads");
  return {static_cast<uint8_t>(id), count};
}

Barrier& enter(Warp& w, const Insn& i, const BarrierOperands& o, uint32_t mask) {
  Barrier& b = w.block->barriers[o.id];
  if (!b.in_use) b = Barrier{o.count, 0, 0, true, false, true};
  if (mask != w.active) w.split(w.active & ~mask, w.ip);
  if (w.block->observer) w.block->observer->barrier_arrive(w, i, o.id, o.count, mask, true);
  return b;
}

void barrier_sync(Warp& w, const Insn& i, uint32_t mask) {
  const BarrierOperands o = barrier_operands(w, i, mask, 0);
  enter(w, i, o, mask);
  w.wait_at_barrier(i, o.id);
}

void barrier_arrive(Warp& w, const Insn& i, uint32_t mask) {
  const BarrierOperands o = barrier_operands(w, i, mask, 0);
  Barrier& b = w.block->barriers[o.id];
  if (!b.in_use) b = Barrier{o.count, 0, 0, true, false, true};
  if (w.block->observer) w.block->observer->barrier_arrive(w, i, o.id, o.count, mask, false);
  // A whole warp counts with the lanes its block shape lacks.
  b.arrived_without_waiting += mask == w.live ? kWarpSize : static_cast<uint32_t>(__builtin_popcount(mask));
  w.block->check_barrier(o.id);
}

void barrier_reduce(Warp& w, const Insn& i, uint32_t mask) {
  // d, barrier, count or predicate, predicate: without a count the third operand is the predicate.
  Insn plain = i;
  const bool counted = i.source->operands.size() == 4;
  plain.op[2] = counted ? i.op[2] : -1;
  BarrierOperands o = barrier_operands(w, plain, mask, 1);
  uint32_t value = w.pred(counted ? i.op[3] : i.op[2]) & mask;
  Barrier& b = enter(w, i, o, mask);
  b.popc += static_cast<uint32_t>(__builtin_popcount(value));
  b.all = b.all && value == mask;
  b.any = b.any || value;
  w.wait_at_barrier(i, o.id);
}

void warp_sync(Warp& w, const Insn& i, uint32_t mask) {
  if (mask != w.active) w.split(w.active & ~mask, w.ip);
  refuse_strangers(w, i, w.lanes<uint32_t>(i.op[0]));
  w.gather(i, w.lanes<uint32_t>(i.op[0])[__builtin_ctz(mask)]);
}

void fence(Warp&, const Insn&, uint32_t) { std::atomic_thread_fence(std::memory_order_seq_cst); }

}  // namespace

Handler select_control(const ptx::Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  if (op == "trap") return exec_trap;
  if (op == "brkpt") return exec_breakpoint;
  return nullptr;
}

Handler select_barrier(const ptx::Instruction& i) {
  const std::string_view syntax = i.form.row->syntax;
  if (i.form.row->cls == isa::Class::Fence) return fence;
  if (syntax.find("warp.sync") != std::string_view::npos) return warp_sync;
  if (syntax.find(".arrive") != std::string_view::npos) return barrier_arrive;
  if (syntax.find(".red") != std::string_view::npos) return barrier_reduce;
  return barrier_sync;
}

}  // namespace warpbeam::vm
