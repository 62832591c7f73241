// How control flows in compiled code: regions one after the other, in each a loop over the block's warps, in it the blocks
// of code in the decoder's order, each for the lanes that are there.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
namespace In = llvm::Intrinsic;

Emitter::Emitter(llvm::Module& module, KernelPlan& plan, CompiledTables& tables, const Processor& processor)
    : m_(module), c_(module.getContext()), b_(c_), plan_(plan), tables_(tables), processor_(processor), flow_(plan.flow), shapes_(plan.shapes), watch_(tables.watch.get()) {
  llvm::MDBuilder md(c_);
  auto* domain = md.createAnonymousAliasScopeDomain("block");
  machine_scope_ = llvm::MDNode::get(c_, {md.createAnonymousAliasScope(domain, "machine")});
  user_scope_ = llvm::MDNode::get(c_, {md.createAnonymousAliasScope(domain, "kernel")});
}

void Emitter::find_block_level() {
  block_level_.assign(flow_.variables.size(), 0);
  if (!many_regions_) return;
  uint32_t left = kMostBlockValues;
  for (size_t v = 0; v < block_level_.size() && left; ++v) {
    const Shape& s = shapes_.variables[v];
    const bool first_tells = s.runs == 1 || (s.runs > 1 && s.even);
    if (!first_tells || (s.reach != Reach::Block && !s.paced) || flow_.variables[v].bytes > 8) continue;
    block_level_[v] = 1;
    --left;
  }
}

void Emitter::find_full() {
  const size_t n = flow_.nodes.size();
  const auto& s = plan_.block;
  full_.assign(n, s[0] * s[1] * s[2] % kLanes == 0);
  std::vector<uint32_t> work;
  std::vector<char> lost(n);
  const auto lose = [&](size_t b) {
    if (lost[b]) return;
    lost[b] = 1;
    work.push_back(static_cast<uint32_t>(b));
  };
  for (size_t b = 0; b < n; ++b) {
    const Node& node = flow_.nodes[b];
    if (node.ends != End::Leave) continue;
    node.waits.each(lose);
    if (shapes_.divergent[b])
      for (uint32_t s : node.next) lose(s);
  }
  while (!work.empty()) {
    const uint32_t b = work.back();
    work.pop_back();
    for (uint32_t s : flow_.nodes[b].next) lose(s);
  }
  for (size_t b = 0; b < n; ++b)
    if (lost[b] || !flow_.nodes[b].waits.empty() || !flow_.nodes[b].at_end.empty()) full_[b] = 0;
}

void Emitter::run() {
  many_regions_ = !flow_.in_turns && (plan_.regions.size() > 1 || std::ranges::any_of(flow_.nodes, [](const Node& n) { return n.ends == End::Barrier; }));
  find_block_level();
  for (const Region& r : plan_.regions)
    for (uint32_t b : r.nodes)
      if (flow_.nodes[b].ends == End::Leave && (r.exit_node >= 0 || r.exit_to >= 0)) lanes_leave_ = true;
  find_full();

  std::vector<llvm::Type*> arguments{b_.getPtrTy()};
  if (flow_.in_turns) arguments.push_back(b_.getInt32Ty());
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), arguments, false);
  f_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "block", m_);
  f_->addFnAttr(llvm::Attribute::UWTable);
  f_->addFnAttr(llvm::Attribute::NoRedZone);  // call_aside
  f_->addFnAttr("no-trapping-math", "true");
  context_ = f_->getArg(0);
  f_->addParamAttr(0, llvm::Attribute::NoAlias);
  entry_ = BasicBlock::Create(c_, "entry", f_);
  b_.SetInsertPoint(entry_);

  begin_blocks();
  const auto cell = [&](llvm::Type* t) {
    auto* a = b_.CreateAlloca(t);
    b_.CreateStore(llvm::Constant::getNullValue(t), a);
    return a;
  };
  storage_.resize(flow_.variables.size());
  block_storage_.resize(flow_.variables.size());
  block_after_.resize(flow_.variables.size());
  for (uint32_t v = 0; v < flow_.variables.size(); ++v) {
    const Shape& s = shapes_.variables[v];
    const Width bytes = flow_.variables[v].bytes;
    const auto cells = [&](const Shape& s, bool sloped, bool spread) {
      std::array<llvm::AllocaInst*, 4> out{};
      for (size_t r = 0; r < std::max<size_t>(s.runs, 1); ++r) out[r] = cell(type_of(bytes, s.runs == 0));
      if (sloped || spread) out[1] = cell(lane_type(bytes)), out[2] = cell(spread ? type_of(4, true) : lane_type(bytes));
      return out;
    };
    storage_[v] = cells(s, plan_.slopes[v], plan_.spreads[v]);
    if (const Guessed* g = plan_.guessed.get()) {
      const bool same = g->shapes.variables[v] == s && g->slopes[v] == plan_.slopes[v] && g->spreads[v] == plan_.spreads[v];
      guessed_storage_.push_back(same ? storage_[v] : cells(g->shapes.variables[v], g->slopes[v], g->spreads[v]));
    }
    if (block_level(v)) {
      block_storage_[v] = cell(lane_type(bytes));
      block_after_[v] = cell(lane_type(bytes));
    }
  }
  for (size_t b = 0; b < flow_.nodes.size(); ++b) masks_.push_back(cell(b_.getInt32Ty()));
  exit_mask_ = cell(b_.getInt32Ty());
  all_taken_ = cell(b_.getInt1Ty());
  none_taken_ = cell(b_.getInt1Ty());
  any_live_ = cell(b_.getInt1Ty());
  popc_ = cell(b_.getInt32Ty());
  all_ = cell(b_.getInt1Ty());
  any_ = cell(b_.getInt1Ty());
  if (many_regions_) first_warp_ = cell(b_.getInt32Ty());
  if (many_regions_) lay_out_kept();
  if (!flow_.in_turns) find_late();

  handed_over_ = BasicBlock::Create(c_, "handed_over", f_);
  region_of_entry_.assign(flow_.nodes.size(), -1);
  for (size_t r = 0; r < plan_.regions.size(); ++r) {
    region_of_entry_[plan_.regions[r].entry] = static_cast<int32_t>(r);
    region_entry_.push_back(BasicBlock::Create(c_, "region", f_));
  }
  rehearsed_.assign(flow_.nodes.size(), 0);
  rehearses_ = may_rehearse();
  b_.CreateBr(way_in());
  if (rehearsed_to_its_end_) {  // the rest is for few blocks, the last ones of grids: short code will do
    plan_.guessed.reset();
    std::ranges::fill(plan_.slopes, 0);
    std::ranges::fill(plan_.spreads, 0);
  } else if (rehearses_ && !tells()) {
    find_known();
  }
  for (region_ = 0; region_ < plan_.regions.size(); ++region_)
    flow_.in_turns ? emit_warp_alone(plan_.regions[region_], region_entry_[region_]) : emit_region(region_, region_entry_[region_]);
  for (size_t k = 0; k < copies_.size(); ++k) {
    region_ = copies_[k].region;
    known_.swap(copies_[k].known);
    emit_region(region_, copies_[k].entry);
  }
  b_.SetInsertPoint(handed_over_);
  b_.CreateRet(b_.getInt32(0));
  emit_next_block();
}

const vm::Insn* Emitter::exit_insn(const Region& r) const {
  if (r.exit_node >= 0) return flow_.nodes[static_cast<size_t>(r.exit_node)].last;
  if (r.exit_to >= 0) return &flow_.code->insns[flow_.nodes[static_cast<size_t>(r.exit_to)].begin];
  return nullptr;
}

Bits Emitter::written_in(const Region& r) const {
  Bits written(flow_.variables.size());
  for (uint32_t b : r.nodes)
    for (uint32_t k = flow_.nodes[b].begin; k < flow_.nodes[b].end; ++k)
      for (const Slot& s : flow_.slots[k])
        if (const auto v = flow_.variable(s.at); s.written && v) written.add(*v);
  return written;
}

bool Emitter::inside(uint32_t node) const {
  if (slice_) return slice_->has(node);
  return std::binary_search(plan_.regions[region_].nodes.begin(), plan_.regions[region_].nodes.end(), node) &&
         (region_of_entry_[node] < 0 || region_of_entry_[node] == static_cast<int32_t>(region_));
}

// The interpreter goes on with the warp that came to a barrier last and then round; so programs that leave the order of
// their warps to chance get the same results.
Emitter::V Emitter::warp_at(V turn) {
  const uint32_t threads = plan_.block[0] * plan_.block[1] * plan_.block[2], warps = (threads + kLanes - 1) / kLanes;
  if (!first_warp_ || warps < 2) return turn;
  const V shifted = b_.CreateAdd(turn, b_.CreateLoad(b_.getInt32Ty(), first_warp_)), count = b_.getInt32(warps);
  return b_.CreateSelect(b_.CreateICmpULT(shifted, count), shifted, b_.CreateSub(shifted, count));
}

void Emitter::begin_warp(const Region& region) {
  // What earlier regions left.
  const Node& entry = flow_.nodes[region.entry];
  if (many_regions_) load_kept(region);
  // Nothing else outlives the warp before: everything that the region mentions begins anew.
  Bits fresh(flow_.variables.size());
  for (uint32_t n : region.nodes)
    for (uint32_t k = flow_.nodes[n].begin; k < flow_.nodes[n].end; ++k)
      for (const Slot& s : flow_.slots[k])
        if (const auto v = flow_.variable(s.at)) fresh.add(*v);
  fresh.each([&](size_t v) {
    if (region.entry != 0 && entry.live_in.has(v)) return;
    for (size_t k = 0; k < std::max<size_t>(shapes_.variables[v].runs, 1); ++k) b_.CreateStore(llvm::Constant::getNullValue(storage_[v][k]->getAllocatedType()), storage_[v][k]);
  });
}

void Emitter::emit_region(size_t r, BasicBlock* entry) {
  const Region& region = plan_.regions[r];
  const vm::Insn* decision = region.exit_node >= 0 && plan_.decides[static_cast<size_t>(region.exit_node)] ? exit_insn(region) : nullptr;
  const bool agrees = decision && !of_block(decision->guard, 0);
  const bool once = runs_once(region);
  b_.SetInsertPoint(entry);
  b_.CreateStore(b_.getTrue(), all_taken_);
  b_.CreateStore(b_.getTrue(), none_taken_);
  b_.CreateStore(b_.getFalse(), any_live_);
  b_.CreateStore(b_.getInt32(0), popc_);
  b_.CreateStore(b_.getTrue(), all_);
  b_.CreateStore(b_.getFalse(), any_);
  begin_staged();
  if (many_regions_ && region.entry != 0)
    live_at_exit(flow_, region).each([&](size_t v) {
      if (block_level(static_cast<uint32_t>(v))) b_.CreateStore(b_.CreateLoad(lane_type(flow_.variables[v].bytes), block_storage_[v]), block_after_[v]);
    });
  const V todo = once || agrees || watch_ ? nullptr : warps_to_run(region);
  auto* after = BasicBlock::Create(c_, "warps_done", f_);
  if (plan_.guessed && !once && !agrees && !watch_) emit_guessed(region, todo, after);
  emit_warps(region, todo, once, after);
  b_.SetInsertPoint(after);
  write_rows();
  emit_dispatch(region, once);
}

// The loop over the block's warps.
void Emitter::emit_warps(const Region& region, V todo, bool once, BasicBlock* after) {
  const auto& shape = plan_.block;
  const uint32_t threads = shape[0] * shape[1] * shape[2], warps = (threads + kLanes - 1) / kLanes;
  const vm::Insn* decision = region.exit_node >= 0 && plan_.decides[static_cast<size_t>(region.exit_node)] ? exit_insn(region) : nullptr;
  const bool agrees = decision && !of_block(decision->guard, 0);
  auto* head = b_.GetInsertBlock();
  auto* loop = BasicBlock::Create(c_, "warp", f_);
  auto* next = BasicBlock::Create(c_, "next_warp", f_);
  blocks_.assign(flow_.nodes.size(), nullptr);
  if (todo) b_.CreateCondBr(b_.CreateICmpNE(todo, b_.getInt32(0)), loop, after);
  else b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* turn = b_.CreatePHI(b_.getInt32Ty(), 2);  // counts the warps, or has a bit for each that is left
  turn->addIncoming(todo ? todo : b_.getInt32(0), head);
  Team team = todo ? Team{} : find_team(region);
  auto* through = team.warps ? BasicBlock::Create(c_, "team_through", f_) : nullptr;
  if (team.warps) {
    auto* single = BasicBlock::Create(c_, "single", f_);
    emit_team(region, team, turn, single, through);
    b_.SetInsertPoint(single);
  }
  const V index = todo ? b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {turn, b_.getTrue()}) : static_cast<V>(turn);
  warp_ = once ? static_cast<V>(b_.getInt32(0)) : warp_at(index);
  V live = b_.getInt32(~0u);
  if (threads % kLanes && !once) live = b_.CreateSelect(b_.CreateICmpEQ(warp_, b_.getInt32(warps - 1)), b_.getInt32((1u << threads % kLanes) - 1), live);
  if (lanes_leave_ && !once) {
    V at = b_.CreateGEP(b_.getInt32Ty(), context_field(offsetof(Context, live), b_.getPtrTy(), true), warp_);
    live = machine_load(b_.getInt32Ty(), at);
    auto* go = BasicBlock::Create(c_, "live", f_);
    b_.CreateCondBr(b_.CreateICmpNE(live, b_.getInt32(0)), go, next);
    b_.SetInsertPoint(go);
  }
  begin_warp(region);
  for (uint32_t b : region.nodes) b_.CreateStore(b_.getInt32(0), masks_[b]);
  b_.CreateStore(b_.getInt32(0), exit_mask_);
  b_.CreateStore(live, masks_[region.entry]);
  region_exit_ = BasicBlock::Create(c_, "region_exit", f_);
  if (team.warps) emit_resumed(region, team);
  else b_.CreateBr(block_of(region.entry));
  sliced_ = team.warps ? std::vector<SlicedLoop>() : find_sliced_loops();
  const auto written = [&](uint32_t b) { return std::ranges::any_of(sliced_, [&](const SlicedLoop& l) { return l.has(b) && l.head != b && !l.reads; }); };
  for (uint32_t b : region.nodes)
    if (!written(b)) emit_node(b);
  for (uint32_t b : region.nodes)
    if (written(b) && blocks_[b]) new llvm::UnreachableInst(c_, blocks_[b]);  // no lane waits there

  // The warp is through.
  b_.SetInsertPoint(region_exit_);
  if (region.exit_node >= 0 || region.exit_to >= 0) {
    V arrived = lanes_leave_ && !once ? static_cast<V>(b_.CreateLoad(b_.getInt32Ty(), exit_mask_)) : live;
    active_ = arrived;
    store_kept(region);
    if (lanes_leave_ && !once) {
      V at = b_.CreateGEP(b_.getInt32Ty(), context_field(offsetof(Context, live), b_.getPtrTy(), true), warp_);
      machine_store(arrived, at);
    }
    const V here = b_.CreateICmpNE(arrived, b_.getInt32(0));
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt1Ty(), any_live_), here), any_live_);
    if (agrees) {
      V taken = guard_mask(*decision);
      b_.CreateStore(b_.CreateAnd(b_.CreateLoad(b_.getInt1Ty(), all_taken_), b_.CreateICmpEQ(taken, arrived)), all_taken_);
      b_.CreateStore(b_.CreateAnd(b_.CreateLoad(b_.getInt1Ty(), none_taken_), b_.CreateICmpEQ(taken, b_.getInt32(0))), none_taken_);
    } else if (region.exit_node >= 0 && !decision) {
      const vm::Insn& barrier = *flow_.nodes[static_cast<size_t>(region.exit_node)].last;
      if (barrier.mods().red) {
        const Value p = read(barrier.op[2], 0);
        V said = b_.CreateAnd(p.uniform() ? b_.CreateSExt(p.run[0], b_.getInt32Ty()) : mask_bits(p.lanes), arrived);
        b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), popc_), intrinsic(In::ctpop, said)), popc_);
        b_.CreateStore(b_.CreateAnd(b_.CreateLoad(b_.getInt1Ty(), all_), b_.CreateICmpEQ(said, arrived)), all_);
        b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt1Ty(), any_), b_.CreateICmpNE(said, b_.getInt32(0))), any_);
      }
    }
  }
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  if (team.warps) {
    const V left = b_.CreateIntrinsic(In::usub_sat, {b_.getInt32Ty()}, {b_.CreateLoad(b_.getInt32Ty(), team.left), b_.getInt32(1)});
    b_.CreateStore(left, team.left);
    b_.CreateStore(b_.CreateSelect(b_.CreateICmpEQ(left, b_.getInt32(0)), b_.getInt32(0), b_.CreateLoad(b_.getInt32Ty(), team.resume)), team.resume);
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
    if (block_level(static_cast<uint32_t>(v))) b_.CreateStore(b_.CreateLoad(lane_type(flow_.variables[v].bytes), block_after_[v]), block_storage_[v]);
  });
  if (lanes_leave_ && !once) {
    auto* go = BasicBlock::Create(c_, "some_live", f_);
    auto* none = BasicBlock::Create(c_, "none_live", f_);
    b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), any_live_), go, none);
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
    const uint32_t warps = (plan_.block[0] * plan_.block[1] * plan_.block[2] + kLanes - 1) / kLanes;
    const V first = b_.CreateLoad(b_.getInt32Ty(), first_warp_);
    b_.CreateStore(b_.CreateSelect(b_.CreateICmpEQ(first, b_.getInt32(0)), b_.getInt32(warps - 1), b_.CreateSub(first, b_.getInt32(1))), first_warp_);
    if (barrier.mods().red) {
      const Source d = flow_.source(barrier.op[0], 0);
      if (d.kind == SourceKind::Variable && block_storage_[d.variable]) {
        const bool pred = flow_.variables[d.variable].bytes == 0;
        V v = !pred ? b_.CreateLoad(b_.getInt32Ty(), popc_) : b_.CreateLoad(b_.getInt1Ty(), barrier.mods().boolop == isa::BoolOp::And ? all_ : any_);
        b_.CreateStore(v, block_storage_[d.variable]);
      }
    }
    watch_barrier(barrier);
    if (node.next.empty()) end_block();
    else b_.CreateBr(entry_of(node.next[0]));
    return;
  }
  if (of_block(node.last->guard, 0)) {
    const Source p = flow_.source(node.last->guard, 0);
    V way = p.kind == SourceKind::Constant ? static_cast<V>(b_.getInt1(p.bits)) : b_.CreateLoad(b_.getInt1Ty(), block_storage_[p.variable]);
    if (node.last->guard_negated) way = b_.CreateNot(way);
    b_.CreateCondBr(way, entry_of(node.next[0]), entry_of(node.next[1]));
    return;
  }
  // A decision of the whole block. Where warps do not agree, barriers would be passed by some only: the interpreter knows
  // what comes of that.
  auto* not_all = BasicBlock::Create(c_, "not_all", f_);
  auto* mixed = BasicBlock::Create(c_, "mixed", f_);
  b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), all_taken_), entry_of(node.next[0]), not_all);
  b_.SetInsertPoint(not_all);
  b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), none_taken_), entry_of(node.next[1]), mixed, llvm::MDBuilder(c_).createBranchWeights(1000, 1));
  b_.SetInsertPoint(mixed);
  settle_staged(*node.last, true);
  tables_.handovers.emplace_back();
  Handover& h = tables_.handovers.back();
  h.at = h.after = node.last;
  h.saved_after = saved(live_at_exit(flow_, region), true);
  call("wb_prepare", b_.getPtrTy(), {context_, b_.getInt32(0)});
  emit_handover(h, b_.getInt32(~0u), b_.getInt32(0), b_.getInt32(0));
}

BasicBlock* Emitter::block_of(uint32_t node) {
  if (!blocks_[node]) blocks_[node] = BasicBlock::Create(c_, "node", f_);
  return blocks_[node];
}

void Emitter::add_lanes(uint32_t node, V lanes) {
  if (slice_) {  // lanes that leave it are not counted: it ends when none is left
    if (inside(node)) set_lanes(node, b_.CreateOr(lanes_at(node), lanes));
    return;
  }
  auto* cell = inside(node) ? masks_[node] : exit_mask_;
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), cell), lanes), cell);
}

void Emitter::leave_to(const std::vector<uint32_t>& targets, bool may_be_none, const Bits& waits) {
  Bits candidates = waits;
  size_t open = 0;  // targets that may still have lanes
  std::vector<char> is_target(flow_.nodes.size());
  for (uint32_t t : targets) {
    if (is_target[t]) continue;
    is_target[t] = 1;
    candidates.add(t);
    ++open;
  }
  bool closed = false;
  candidates.each([&](size_t c) {
    const uint32_t node = static_cast<uint32_t>(c);
    if (closed || !inside(node)) return;
    if (is_target[node] && open == 1 && !may_be_none) {
      b_.CreateBr(block_of(node));
      closed = true;
      return;
    }
    open -= static_cast<size_t>(is_target[node]);
    auto* rest = BasicBlock::Create(c_, "rest", f_);
    b_.CreateCondBr(any_of(lanes_at(node)), block_of(node), rest);
    b_.SetInsertPoint(rest);
  });
  if (!closed) b_.CreateBr(region_exit_);
}

// Lanes that disagree on a branch.
void Emitter::part(const Node& node, V taken) {
  watch_end(*node.last, taken);
  add_lanes(node.next[0], taken);
  add_lanes(node.next[1], b_.CreateAnd(active_, b_.CreateNot(taken)));
  leave_to(node.next, false);
}

void Emitter::emit_node(uint32_t n) {
  const Node& node = flow_.nodes[n];
  const Region& region = plan_.regions[region_];
  node_ = n;
  b_.SetInsertPoint(block_of(n));
  const V here = lanes_at(n);
  active_ = full_[n] ? static_cast<V>(llvm::Constant::getAllOnesValue(here->getType())) : here;
  set_lanes(n, llvm::Constant::getNullValue(here->getType()));
  watch_node();
  const uint32_t last = node.last ? node.end - 1 : node.end;
  if (node.gives_way && flow_.in_turns) emit_way_for_others(flow_.code->insns[node.begin]);
  if (!slice_)
    for (const SlicedLoop& l : sliced_)
      if (l.head == n && emit_sliced_loop(l)) return;
  for (const LaneLoop& l : plan_.lane_loops)
    if (l.head == n) emit_lane_loop(l);
  if (loops_whole(n)) emit_whole_loop(n);
  emit_straight(node.begin, last);
  if (node.polls && flow_.in_turns) emit_poll(node);
  if (region.exit_node == static_cast<int32_t>(n)) {
    watch_exit(*node.last);
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), exit_mask_), active_), exit_mask_);
    leave_to({}, true);
    return;
  }
  switch (node.ends) {
    case End::Fall:
      for (uint32_t s : node.next) add_lanes(s, active_);
      if (node.next.empty()) leave_to({}, true);
      else leave_to(node.next, false);
      break;
    case End::Trap:
      call_handler(*node.last, active_);
      leave_to({}, true);
      break;
    case End::Barrier:  // every barrier is the exit of its region
      leave_to({}, true);
      break;
    case End::Leave: {
      if (node.last->guard < 0) {
        leave_to({}, true);
        break;
      }
      const V leaves = guard_mask(*node.last);
      watch_end(*node.last, leaves);
      V stay = b_.CreateAnd(active_, b_.CreateNot(leaves));
      for (uint32_t s : node.next) add_lanes(s, stay);
      leave_to(node.next, true);
      break;
    }
    case End::Branch: {
      if (!shapes_.divergent[n]) {
        if (watch_) watch_end(*node.last, guard_mask(*node.last));
        V way = read(node.last->guard, 0).run[0];
        if (node.last->guard_negated) way = b_.CreateNot(way);
        auto* taken = BasicBlock::Create(c_, "taken", f_);
        auto* fall = BasicBlock::Create(c_, "fall", f_);
        b_.CreateCondBr(way, taken, fall);
        for (size_t k = 0; k < 2; ++k) {
          b_.SetInsertPoint(k ? fall : taken);
          add_lanes(node.next[k], active_);
          leave_to({node.next[k]}, false);
        }
        break;
      }
      part(node, guard_mask(*node.last));
      break;
    }
    case End::Table: {
      const Value index = read(node.last->op[0], 4);
      const V all = lanes_of(index, 4);
      watch_table(*node.last, all);
      V bad = b_.CreateAnd(active_, mask_bits(b_.CreateICmpUGE(all, splat(b_.getInt32(static_cast<uint32_t>(node.last->imm))))));
      auto* wrong = BasicBlock::Create(c_, "wrong", f_);
      auto* right = BasicBlock::Create(c_, "right", f_);
      b_.CreateCondBr(b_.CreateICmpNE(bad, b_.getInt32(0)), wrong, right);
      b_.SetInsertPoint(wrong);
      call_handler(*node.last, active_);  // does not return
      b_.CreateUnreachable();
      b_.SetInsertPoint(right);
      if (index.uniform()) {
        auto* none = BasicBlock::Create(c_, "none", f_);
        auto* choice = b_.CreateSwitch(index.run[0], none, static_cast<unsigned>(node.next.size()));
        for (size_t k = 0; k < node.next.size(); ++k) {
          auto* way = BasicBlock::Create(c_, "way", f_);
          choice->addCase(b_.getInt32(static_cast<uint32_t>(k)), way);
          b_.SetInsertPoint(way);
          add_lanes(node.next[k], active_);
          leave_to({node.next[k]}, false);
        }
        b_.SetInsertPoint(none);
        b_.CreateUnreachable();
        break;
      }
      for (size_t k = 0; k < node.next.size(); ++k)
        add_lanes(node.next[k], b_.CreateAnd(active_, mask_bits(b_.CreateICmpEQ(all, splat(b_.getInt32(static_cast<uint32_t>(k)))))));
      leave_to(node.next, false);
      break;
    }
  }
}

void Emitter::emit_instruction(const vm::Insn& i) {
  if (flow_.says_nothing(i)) return;
  if (steps_along(i)) return check_step(i);
  if (i.guard < 0) return dispatch(i);
  const Value p = read(i.guard, 0);
  const isa::Kind kind = i.source->form.row->kind;
  const bool pure = !i.call && shapes_.has_ir(i) && kind != isa::Kind::Memory && kind != isa::Kind::Warp && kind != isa::Kind::Barrier;
  const V whole = active_;
  const V mask = guard_mask(i);
  watch_guarded(i, mask);
  if (pure && !p.uniform()) {
    active_ = mask;
    forced_ = true;
    dispatch(i);
  } else {
    auto* go = BasicBlock::Create(c_, "guarded", f_);
    auto* on = BasicBlock::Create(c_, "on", f_);
    b_.CreateCondBr(any_of(mask), go, on);
    b_.SetInsertPoint(go);
    active_ = p.uniform() ? whole : mask;
    forced_ = !p.uniform();
    come_ = whole;
    dispatch(i);
    come_ = nullptr;
    b_.CreateBr(on);
    b_.SetInsertPoint(on);
  }
  forced_ = false;
  active_ = whole;
}

void Emitter::dispatch(const vm::Insn& i) {
  const vm::EngineServices& sv = *flow_.services;
  if (i.fn == sv.pick_target) return emit_pick(i);
  if (i.call) {
    if (flow_.is_library_call(i)) return emit_library_call(i);
    if (flow_.is_left_call(i)) return hand_over(i, b_.getTrue());
    return call_handler(i, active_);
  }
  if (emit_pure(i)) return;
  if (i.fn == sv.read_special) return call_handler(i, active_);
  if (emit_approximation(i)) return;
  const isa::Row& row = *i.source->form.row;
  switch (row.kind) {
    case isa::Kind::Memory: return emit_memory(i);
    case isa::Kind::Warp: return emit_meeting(i);
    case isa::Kind::Atomic: return emit_atomic(i);
    case isa::Kind::Barrier:
      if (row.cls == isa::Class::Fence) {
        watch_fence(i);
        b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
      }
      else if (says(row, ".warp")) emit_meeting(i);
      else emit_barrier(i);
      return;
    case isa::Kind::Misc:
      if (row.opcode == "nanosleep") return;  // giving way is not needed where nothing waits
      return call_handler(i, active_);
    case isa::Kind::Tensor:  // of the whole warp, or of none
      hand_over(i, b_.CreateICmpNE(active_, b_.getInt32(~0u)));
      if (waits_for_some(i, sv)) return emit_look(i);
      return call_handler(i, active_);
    case isa::Kind::Async:
      if (waits_for_some(i, sv)) return emit_look(i);
      if (row.cls == isa::Class::Load) return emit_copy(i);
      if (!emit_arrival(i)) call_handler(i, active_);
      return;
    default: return call_handler(i, active_);
  }
}

void Emitter::emit_meeting(const vm::Insn& i) {
  meeting_wants_more_ = nullptr;
  emit_warp(i);
  if (meeting_wants_more_) hand_over(*(&i + 1), meeting_wants_more_);
}

Handover& Emitter::new_handover(const vm::Insn& at) {
  const Region& region = plan_.regions[region_];
  const Node& node = flow_.nodes[node_];
  tables_.handovers.emplace_back();
  Handover& h = tables_.handovers.back();
  h.at = &at;
  h.stretch = stretch_;
  // Whatever may be read from here on, by the lanes that run or by those that wait.
  Bits live = node.live_out;
  for (size_t k = number_of(at); k < node.end; ++k)
    for (const Slot& s : flow_.slots[k])
      if (const auto v = flow_.variable(s.at)) live.add(*v);
  node.waits.each([&](size_t w) { live.add(flow_.nodes[w].live_in); });
  live.add(live_at_exit(flow_, region));
  h.here = saved(live, false);
  h.before = &flow_.code->insns[flow_.nodes[region.entry].begin];
  h.after = exit_insn(region);
  if (many_regions_ && region.entry != 0) h.saved_before = saved(flow_.nodes[region.entry].live_in, true);
  if (h.after) h.saved_after = saved(live_at_exit(flow_, region), true);
  return h;
}

void Emitter::hand_over(const vm::Insn& at, V when) {
  auto* stub = apart_ ? apart_ : BasicBlock::Create(c_, "hand_over", f_);
  auto* on = BasicBlock::Create(c_, "on", f_);
  b_.CreateCondBr(when, stub, on, llvm::MDBuilder(c_).createBranchWeights(1, 100000));
  if (apart_) {
    b_.SetInsertPoint(on);
    return;
  }
  b_.SetInsertPoint(stub);
  write_rows();
  Handover& h = new_handover(at);
  call_aside(function("wb_prepare"), {context_, warp_});
  store_saved(h.here, frame());
  const auto pend = [&](V mask, const vm::Insn* go_on) {
    const uint32_t k = static_cast<uint32_t>(h.pending.size());
    machine_store(mask, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), context_, offsetof(Context, pending) + 4u * k));
    h.pending.emplace_back(k, go_on);
  };
  flow_.nodes[node_].waits.each([&](size_t w) {
    if (inside(static_cast<uint32_t>(w))) pend(b_.CreateLoad(b_.getInt32Ty(), masks_[w]), &flow_.code->insns[flow_.nodes[w].begin]);
  });
  if (h.after) pend(b_.CreateLoad(b_.getInt32Ty(), exit_mask_), h.after);
  emit_handover(h, warp_, come_ ? come_ : active_, first_warp_ ? b_.CreateLoad(b_.getInt32Ty(), first_warp_) : static_cast<V>(b_.getInt32(0)));
  b_.SetInsertPoint(on);
}

}  // namespace warpbeam::jit
