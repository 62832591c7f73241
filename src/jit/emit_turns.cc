// Kernels whose warps take turns (turns.h): the code is for one warp, which calls the machine where it has to wait. Coming
// back, it goes on, or it is handed over at the instruction at which it waited. And loops that wait for other blocks
// (waiting_block.h), in kernels of either kind.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
namespace In = llvm::Intrinsic;

void Emitter::emit_warp_alone(const Region& region, BasicBlock* entry) {
  b_.SetInsertPoint(entry);
  control_.blocks.assign(flow_.nodes.size(), nullptr);
  at_.warp = w_.function->getArg(1);
  b_.CreateStore(machine_load(b_.getInt32Ty(), live_lanes()), control_.masks[region.entry]);
  control_.region_exit = new_block("region_exit");
  b_.CreateBr(block_of(region.entry));
  control_.sliced = find_subwarp_loops();
  emit_nodes(region);
  b_.SetInsertPoint(control_.region_exit);
  b_.CreateRet(b_.getInt32(1));
}

void Emitter::emit_way_for_others(const vm::Insn& next) {
  hand_over(next, b_.CreateICmpNE(call("wb_give_way", b_.getInt32Ty(), {w_.context}), b_.getInt32(0)), Why::Waits);
}

// A barrier of the block, or of some of its warps. Lanes that come to it without the rest of their warp are for the interpreter,
// and so are numbers that no barrier has.
void Emitter::emit_barrier(const vm::Insn& i) {
  const isa::Row& row = *i.source->form.row;
  const bool red = i.mods().red, arrives = says(row, ".arrive");
  const int at = red ? 1 : 0;
  const bool counted = i.source->operands.size() == (red ? 4u : 2u);
  const auto number = [&](int32_t slot) {
    const Value v = read(slot, 4);
    return v.uniform()
               ? v.run[0]
               : b_.CreateExtractElement(lanes_of(v, 4), b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {at_.active, b_.getTrue()}));
  };
  const V id = number(i.op[at]), count = counted ? number(i.op[at + 1]) : static_cast<V>(b_.getInt32(0));
  V wrong = b_.CreateICmpUGT(id, b_.getInt32(15));
  if (counted)
    wrong = b_.CreateOr(
        wrong, b_.CreateOr(b_.CreateICmpEQ(count, b_.getInt32(0)), b_.CreateICmpNE(b_.CreateAnd(count, b_.getInt32(31)), b_.getInt32(0))));
  wrong = b_.CreateOr(wrong, b_.CreateICmpNE(lanes_elsewhere(i), b_.getInt32(0)));
  hand_over(i, wrong, Why::Lanes);
  if (arrives) {
    call("wb_arrive_at", b_.getVoidTy(), {w_.context, outside(&i), at_.active, id, count});
    return;
  }
  V said = b_.getInt32(0);
  if (red) {
    const Value p = read(i.op[counted ? 3 : 2], 0);
    said = b_.CreateAnd(p.uniform() ? b_.CreateSExt(p.run[0], b_.getInt32Ty()) : mask_bits(p.lanes), at_.active);
  }
  const V left = call("wb_wait_at", b_.getInt32Ty(), {w_.context, outside(&i), at_.active, id, count, said});
  hand_over(i, b_.CreateICmpNE(left, b_.getInt32(0)), Why::Waits);
  if (!red) return;
  const V answer = call("wb_answer", b_.getInt32Ty(), {w_.context});
  const Source d = flow_.source(i.op[0], 0);
  const Width bytes = d.kind == SourceKind::Variable ? flow_.variables[d.variable].bytes : 4;
  Value v;
  v.runs = 1;
  v.run[0] = bytes ? answer : b_.CreateICmpNE(answer, b_.getInt32(0));
  write(i.op[0], bytes, v);
}

// Has what the warp waits for come about? If not, the others may go first.
void Emitter::emit_look(const vm::Insn& i) {
  const bool product = i.source->form.row->op == isa::Opcode::Wgmma;
  const uint32_t weight = product || says(*i.source->form.row, ".try_wait") ? 256 : 64;  // as the handlers have it
  auto* look = new_block("look");
  go_on(look);
  V missing;
  if (product) {
    call_handler(i, at_.active);
    missing = call("wb_stays", b_.getInt32Ty(), {w_.context, at_.warp, outside(&i)});
  } else {
    if (!emit_test(i)) call_handler(i, at_.active);
    const Value done = read(i.wide[0].slot, 0);
    missing = b_.CreateAnd(at_.active, b_.CreateNot(done.uniform() ? b_.CreateSExt(done.run[0], b_.getInt32Ty()) : mask_bits(done.lanes)));
  }
  if (!flow_.in_turns) {  // all warps are here (find_awaited)
    uses(Technique::Awaited);
    hand_over(i, b_.CreateICmpNE(missing, b_.getInt32(0)), Why::Waits);
    return;
  }
  auto [again, on] = new_blocks("again", "on");
  go_on_if(b_.CreateICmpNE(missing, b_.getInt32(0)), again, on);
  hand_over(i, b_.CreateICmpNE(call("wb_look_again", b_.getInt32Ty(), {w_.context, b_.getInt32(weight)}), b_.getInt32(0)), Why::Waits);
  b_.CreateBr(product ? look : on);
  b_.SetInsertPoint(on);
}

bool Emitter::leaves_wait(uint32_t to) const {
  return std::ranges::any_of(plan_.waits, [&](const WaitingLoop& l) { return l.has(at_.node) && !l.has(to); });
}

// What they waited for has come about.
void Emitter::note_passed(V lanes) {
  auto [some, on] = new_blocks("passed", "on");
  go_on_if(any_of(lanes), some, on);
  call("wb_passed", b_.getVoidTy(), {w_.context});
  go_on(on);
}

// The way back in a loop that may wait.
void Emitter::emit_poll(const Node& node) {
  uses(Technique::Waits);
  hand_over(flow_.code->insns[node.end - 1],
            b_.CreateICmpNE(call("wb_poll", b_.getInt32Ty(), {w_.context, b_.getInt32(node.changes)}), b_.getInt32(0)), Why::Waits);
}

// Counts what others may wait for.
void Emitter::note_event(V happens) {
  const V at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context, offsetof(Context, events));
  machine_store(b_.CreateAdd(machine_load(b_.getInt64Ty(), at), b_.CreateZExt(happens, b_.getInt64Ty())), at);
}

}  // namespace warpbeam::jit
