// Regions: what lies between barriers is a loop over the block's warps.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
namespace In = llvm::Intrinsic;

bool Emitter::inside(uint32_t node) const {
  if (as_.slice) return as_.slice->has(node);
  return std::binary_search(plan_.regions[at_.region].nodes.begin(), plan_.regions[at_.region].nodes.end(), node) &&
         plan_.regions[at_.region].exit_to != static_cast<int32_t>(node) &&
         (control_.region_of_entry[node] < 0 || control_.region_of_entry[node] == static_cast<int32_t>(at_.region));
}

// The interpreter goes on with the warp that came to a barrier last and then round; so programs that leave the order of
// their warps to chance get the same results.
V Emitter::warp_at(V turn) {
  const uint32_t warps = plan_.warps();
  if (!control_.first_warp || warps < 2) return turn;
  const V shifted = b_.CreateAdd(turn, b_.CreateLoad(b_.getInt32Ty(), control_.first_warp)), count = b_.getInt32(warps);
  return b_.CreateSelect(b_.CreateICmpULT(shifted, count), shifted, b_.CreateSub(shifted, count));
}

void Emitter::first_warp_moves() {
  const uint32_t warps = plan_.warps();
  const V first = b_.CreateLoad(b_.getInt32Ty(), control_.first_warp);
  b_.CreateStore(b_.CreateSelect(b_.CreateICmpEQ(first, b_.getInt32(0)), b_.getInt32(warps - 1), b_.CreateSub(first, b_.getInt32(1))),
                 control_.first_warp);
}

void Emitter::begin_warp(const Region& region) {
  // What earlier regions left.
  const Node& entry = flow_.nodes[region.entry];
  if (control_.many_regions) load_spills(region);
  // Nothing else outlives the warp before: everything that the region mentions begins anew.
  Bits fresh(flow_.variables.size());
  for (uint32_t n : region.nodes)
    for (uint32_t k = flow_.nodes[n].begin; k < flow_.nodes[n].end; ++k)
      for (const Slot& s : flow_.slots[k])
        if (const auto v = flow_.variable(s.at)) fresh.add(*v);
  fresh.each([&](size_t v) {
    if (region.entry != 0 && entry.live_in.has(v)) return;
    for (size_t k = 0; k < std::max<size_t>(shapes_.variables[v].runs, 1); ++k)
      b_.CreateStore(llvm::Constant::getNullValue(registers_.storage[v][k]->getAllocatedType()), registers_.storage[v][k]);
  });
}

void Emitter::emit_region(size_t r, BasicBlock* entry) {
  const Region& region = plan_.regions[r];
  const vm::Insn* decision = region.exit_node >= 0 && plan_.decides[static_cast<size_t>(region.exit_node)] ? exit_insn(region) : nullptr;
  const bool agrees = decision && !of_block(decision->guard, 0);
  const bool once = runs_once(region);
  if (once) uses(Technique::OncePerBlock);
  b_.SetInsertPoint(entry);
  b_.CreateStore(b_.getTrue(), votes_.all_taken);
  b_.CreateStore(b_.getTrue(), votes_.none_taken);
  b_.CreateStore(b_.getFalse(), votes_.any_live);
  b_.CreateStore(b_.getInt32(0), votes_.popc);
  b_.CreateStore(b_.getTrue(), votes_.all);
  b_.CreateStore(b_.getFalse(), votes_.any);
  begin_staged();
  if (control_.many_regions && region.entry != 0)
    live_at_exit(flow_, region).each([&](size_t v) {
      if (block_level(static_cast<uint32_t>(v)))
        b_.CreateStore(b_.CreateLoad(lane_type(flow_.variables[v].bytes), registers_.in_block[v]), registers_.block_after[v]);
    });
  if (plan_.packed && row_.next) emit_pack(region);
  const V todo = once || agrees || watch_ ? nullptr : warps_to_run(region);
  auto* after = new_block("warps_done");
  if (plan_.guessed && !once && !agrees && !watch_) emit_guessed(region, todo, after);
  emit_warps(region, todo, once, after);
  b_.SetInsertPoint(after);
  write_rows();
  emit_dispatch(region, once);
}

// The loop over the block's warps.
void Emitter::emit_warps(const Region& region, V todo, bool once, BasicBlock* after) {
  const uint32_t lanes = plan_.lanes(), warps = plan_.warps();
  const vm::Insn* decision = region.exit_node >= 0 && plan_.decides[static_cast<size_t>(region.exit_node)] ? exit_insn(region) : nullptr;
  const bool agrees = decision && !of_block(decision->guard, 0);
  auto* head = b_.GetInsertBlock();
  auto [loop, next] = new_blocks("warp", "next_warp");
  control_.blocks.assign(flow_.nodes.size(), nullptr);
  if (todo) b_.CreateCondBr(b_.CreateICmpNE(todo, b_.getInt32(0)), loop, after);
  else b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* turn = b_.CreatePHI(b_.getInt32Ty(), 2);  // counts the warps, or has a bit for each that is left
  turn->addIncoming(todo ? todo : b_.getInt32(0), head);
  CoarsenedWarps team = todo ? CoarsenedWarps{} : find_coarsening(region);
  auto* through = team.warps ? new_block("team_through") : nullptr;
  if (team.warps) {
    auto* single = new_block("single");
    emit_coarsened(region, team, turn, single, through);
    b_.SetInsertPoint(single);
  }
  const V index = todo ? b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {turn, b_.getTrue()}) : static_cast<V>(turn);
  at_.warp = once ? static_cast<V>(b_.getInt32(0)) : warp_at(index);
  V live = b_.getInt32(~0u);
  if (lanes % kLanes && !once)
    live = b_.CreateSelect(b_.CreateICmpEQ(at_.warp, b_.getInt32(warps - 1)), b_.getInt32((1u << lanes % kLanes) - 1), live);
  if ((control_.lanes_leave || plan_.row) && !once) {
    live = machine_load(b_.getInt32Ty(), live_lanes());
  }
  if (control_.lanes_leave && !once) {
    auto* go = new_block("live");
    go_on_if(b_.CreateICmpNE(live, b_.getInt32(0)), go, next);
  }
  begin_warp(region);
  for (uint32_t b : region.nodes) b_.CreateStore(b_.getInt32(0), control_.masks[b]);
  b_.CreateStore(b_.getInt32(0), control_.exit_mask);
  b_.CreateStore(live, control_.masks[region.entry]);
  control_.region_exit = new_block("region_exit");
  if (team.warps) emit_resumed(region, team);
  else b_.CreateBr(block_of(region.entry));
  control_.sliced = team.warps ? std::vector<SubwarpLoop>() : find_subwarp_loops();
  emit_nodes(region);

  // The warp is through.
  b_.SetInsertPoint(control_.region_exit);
  if (region.exit_node >= 0 || region.exit_to >= 0) {
    V arrived = control_.lanes_leave && !once ? static_cast<V>(b_.CreateLoad(b_.getInt32Ty(), control_.exit_mask)) : live;
    at_.active = arrived;
    if (control_.lanes_leave && !once) {
      machine_store(arrived, live_lanes());
      // A warp that has left has nothing to say, not even of what is the same in the whole block: it may not have come to it.
      auto* some = new_block("some_arrived");
      go_on_if(b_.CreateICmpNE(arrived, b_.getInt32(0)), some, next);
    }
    store_spills(region);
    const V here = b_.CreateICmpNE(arrived, b_.getInt32(0));
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt1Ty(), votes_.any_live), here), votes_.any_live);
    if (agrees) {
      V taken = guard_mask(*decision);
      b_.CreateStore(b_.CreateAnd(b_.CreateLoad(b_.getInt1Ty(), votes_.all_taken), b_.CreateICmpEQ(taken, arrived)), votes_.all_taken);
      b_.CreateStore(b_.CreateAnd(b_.CreateLoad(b_.getInt1Ty(), votes_.none_taken), b_.CreateICmpEQ(taken, b_.getInt32(0))),
                     votes_.none_taken);
    } else if (region.exit_node >= 0 && !decision) {
      const vm::Insn& barrier = *flow_.nodes[static_cast<size_t>(region.exit_node)].last;
      if (barrier.mods().red) {
        const Value p = read(barrier.op[2], 0);
        V said = b_.CreateAnd(p.uniform() ? b_.CreateSExt(p.run[0], b_.getInt32Ty()) : mask_bits(p.lanes), arrived);
        b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), votes_.popc), intrinsic(In::ctpop, said)), votes_.popc);
        b_.CreateStore(b_.CreateAnd(b_.CreateLoad(b_.getInt1Ty(), votes_.all), b_.CreateICmpEQ(said, arrived)), votes_.all);
        b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt1Ty(), votes_.any), b_.CreateICmpNE(said, b_.getInt32(0))), votes_.any);
      }
    }
  }
  go_on(next);
  if (team.warps) {
    const V left = b_.CreateIntrinsic(In::usub_sat, {b_.getInt32Ty()}, {b_.CreateLoad(b_.getInt32Ty(), team.left), b_.getInt32(1)});
    b_.CreateStore(left, team.left);
    b_.CreateStore(b_.CreateSelect(b_.CreateICmpEQ(left, b_.getInt32(0)), b_.getInt32(0), b_.CreateLoad(b_.getInt32Ty(), team.resume)),
                   team.resume);
  }
  const V following = todo ? b_.CreateAnd(turn, b_.CreateSub(turn, b_.getInt32(1))) : b_.CreateAdd(turn, b_.getInt32(1));
  turn->addIncoming(following, next);
  const V more = todo ? b_.CreateICmpNE(following, b_.getInt32(0)) : b_.CreateICmpULT(following, b_.getInt32(warps));
  b_.CreateCondBr(once ? static_cast<V>(b_.getFalse()) : more, loop, after);
  if (team.warps) {
    b_.SetInsertPoint(through);
    const V further = b_.CreateAdd(turn, b_.getInt32(static_cast<uint32_t>(team.warps)));
    turn->addIncoming(further, through);
    b_.CreateCondBr(b_.CreateICmpULT(further, b_.getInt32(warps)), loop, after);
  }
}

// What the block does after a region.
void Emitter::emit_dispatch(const Region& region, bool once) {
  if (region.exit_node < 0 && region.exit_to < 0) {
    end_block();
    return;
  }
  live_at_exit(flow_, region).each([&](size_t v) {
    if (block_level(static_cast<uint32_t>(v)))
      b_.CreateStore(b_.CreateLoad(lane_type(flow_.variables[v].bytes), registers_.block_after[v]), registers_.in_block[v]);
  });
  if (control_.lanes_leave && !once) {
    auto [go, none] = new_blocks("some_live", "none_live");
    b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), votes_.any_live), go, none);
    b_.SetInsertPoint(none);
    end_block();
    b_.SetInsertPoint(go);
  }
  if (region.exit_node >= 0) settle_staged(*exit_insn(region), false);
  const auto entry_of = [&](uint32_t node) { return way_to(region, node); };
  if (region.exit_to >= 0) {
    b_.CreateBr(entry_of(static_cast<uint32_t>(region.exit_to)));
    return;
  }
  const Node& node = flow_.nodes[static_cast<size_t>(region.exit_node)];
  if (node.ends == End::Barrier) {
    const vm::Insn& barrier = *node.last;
    first_warp_moves();
    if (barrier.mods().red) {
      const Source d = flow_.source(barrier.op[0], 0);
      if (d.kind == SourceKind::Variable && registers_.in_block[d.variable]) {
        const bool pred = flow_.variables[d.variable].bytes == 0;
        V v = !pred ? b_.CreateLoad(b_.getInt32Ty(), votes_.popc)
                    : b_.CreateLoad(b_.getInt1Ty(), barrier.mods().boolop == isa::BoolOp::And ? votes_.all : votes_.any);
        b_.CreateStore(v, registers_.in_block[d.variable]);
      }
    }
    watch_barrier(barrier);
    if (node.next.empty()) end_block();
    else b_.CreateBr(entry_of(node.next[0]));
    return;
  }
  if (of_block(node.last->guard, 0)) {
    const Source p = flow_.source(node.last->guard, 0);
    V way = p.kind == SourceKind::Constant ? static_cast<V>(b_.getInt1(p.bits))
                                           : b_.CreateLoad(b_.getInt1Ty(), registers_.in_block[p.variable]);
    if (node.last->guard_negated) way = b_.CreateNot(way);
    b_.CreateCondBr(way, entry_of(node.next[0]), entry_of(node.next[1]));
    return;
  }
  // A decision of the whole block. Where warps do not agree, barriers would be passed by some only: the interpreter knows
  // what comes of that.
  auto [not_all, mixed] = new_blocks("not_all", "mixed");
  b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), votes_.all_taken), entry_of(node.next[0]), not_all);
  b_.SetInsertPoint(not_all);
  b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), votes_.none_taken), entry_of(node.next[1]), mixed,
                  llvm::MDBuilder(c_).createBranchWeights(1000, 1));
  b_.SetInsertPoint(mixed);
  settle_staged(*node.last, true);
  tables_.handovers.emplace_back();
  Handover& h = tables_.handovers.back();
  h.why = Why::Warps;
  h.at = h.after = node.last;
  h.saved_after = saved(live_at_exit(flow_, region), true);
  call("wb_prepare", b_.getPtrTy(), {w_.context, b_.getInt32(0)});
  emit_handover(h, b_.getInt32(~0u), b_.getInt32(0), b_.getInt32(0));
}

}  // namespace warpbeam::jit
