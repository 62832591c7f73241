// Idea: where barriers of the whole block stand at different places for different warps, no cut is one for all of them. There each warp
// runs until it stops at a barrier, puts down what is live behind it, and the next one runs; once all have stopped or left, each goes on
// from where it was: a state machine whose states are the barriers. It costs no stacks, and a stop no more than the end of a region does.
// Precondition: the kernel waits in no other way (take_turns), and whole warps come to a barrier. Postcondition: no warp goes on before
// all have stopped or left. Fallback: where lanes come to a barrier without the rest of their warp, the block is handed over: warps
// that have stopped in this round at their barriers, the others behind theirs. Other waits: stacks (turns.h).
#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

V Emitter::stopped_at() {
  return b_.CreateGEP(b_.getInt32Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context, offsetof(Context, stopped_at)), at_.warp);
}

void Emitter::emit_by_stops(const Region& region, BasicBlock* entry) {
  const uint32_t warps = plan_.warps();
  Bits live(flow_.variables.size());
  for (const Node& node : flow_.nodes)
    if (is_block_barrier(flow_.code->insns[node.end - 1])) live.add(node.live_out);
  b_.SetInsertPoint(entry);
  lay_out_spills(live);
  for (uint32_t w = 0; w < warps; ++w)
    machine_store(b_.getInt32(0), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context, offsetof(Context, stopped_at) + 4u * w));
  auto [round, warp, run] = new_blocks("round", "warp", "run");
  auto [start, through, unreachable] = new_blocks("start", "through", "unreachable");
  b_.CreateBr(round);
  b_.SetInsertPoint(round);
  b_.CreateStore(b_.getFalse(), stops_.any);
  b_.CreateBr(warp);
  b_.SetInsertPoint(warp);
  auto* turn = b_.CreatePHI(b_.getInt32Ty(), 2);
  turn->addIncoming(b_.getInt32(0), round);
  stops_.next_warp = new_block("next_warp");
  at_.warp = warp_at(turn);
  const V place = live_lanes();
  const V lanes = machine_load(b_.getInt32Ty(), place);
  b_.CreateCondBr(b_.CreateICmpNE(lanes, b_.getInt32(0)), run, stops_.next_warp);
  b_.SetInsertPoint(run);
  find_spill_piece();
  begin_warp(region);
  for (uint32_t b : region.nodes) b_.CreateStore(b_.getInt32(0), control_.masks[b]);
  stops_.resume = b_.CreateSwitch(machine_load(b_.getInt32Ty(), stopped_at()), unreachable);
  stops_.resume->addCase(b_.getInt32(0), start);
  b_.SetInsertPoint(unreachable);
  b_.CreateUnreachable();

  b_.SetInsertPoint(start);
  b_.CreateStore(lanes, control_.masks[region.entry]);
  control_.blocks.assign(flow_.nodes.size(), nullptr);
  control_.region_exit = new_block("region_exit");
  b_.CreateBr(block_of(region.entry));
  control_.sliced = find_subwarp_loops();
  stops_.lanes = lanes;
  emit_nodes(region);

  b_.SetInsertPoint(control_.region_exit);  // all lanes have left
  machine_store(b_.getInt32(0), place);
  go_on(stops_.next_warp);
  const V following = b_.CreateAdd(turn, b_.getInt32(1));
  turn->addIncoming(following, stops_.next_warp);
  b_.CreateCondBr(b_.CreateICmpULT(following, b_.getInt32(warps)), warp, through);
  b_.SetInsertPoint(through);
  first_warp_moves();
  auto* done = new_block("done");
  b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), stops_.any), round, done);
  b_.SetInsertPoint(done);
  end_block();
}

void Emitter::emit_stop(const vm::Insn& i) {
  uses(Technique::Stops);
  hand_over(i, b_.CreateICmpNE(lanes_elsewhere(i), b_.getInt32(0)), Why::Lanes);
  const Bits& live = flow_.nodes[at_.node].live_out;
  tables_.stops.push_back({&i, saved(live, true)});
  const V number = b_.getInt32(static_cast<uint32_t>(tables_.stops.size()));
  store_spills(live);
  if (!control_.full[at_.node]) machine_store(at_.active, live_lanes());
  machine_store(number, stopped_at());
  b_.CreateStore(b_.getTrue(), stops_.any);
  b_.CreateBr(stops_.next_warp);

  auto* on = new_block("resumed");
  stops_.resume->addCase(llvm::cast<llvm::ConstantInt>(number), on);
  b_.SetInsertPoint(on);
  load_spills(live);
  if (!control_.full[at_.node]) at_.active = stops_.lanes;
}

}  // namespace warpbeam::jit
