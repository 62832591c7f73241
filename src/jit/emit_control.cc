// How control flows in compiled code: regions one after the other (emit_regions.cc), in each the blocks of code in the
// decoder's order, each for the lanes that are there.
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
  many_regions_ = !flow_.in_turns && (plan_.regions.size() > 1 || std::ranges::any_of(flow_.nodes, [](const Node& n) { return n.ends == End::Barrier || n.awaited; }));
  find_block_level();
  for (const Region& r : plan_.regions)
    for (uint32_t b : r.nodes)
      if (flow_.nodes[b].ends == End::Leave && (r.exit_node >= 0 || r.exit_to >= 0)) lanes_leave_ = true;
  find_full();
  constexpr ptrdiff_t kMany = 8;
  many_functions_ = std::ranges::count_if(flow_.code->insns, [&](const vm::Insn& i) { return is_approximation(i); }) > kMany;

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
  note_structure();
  tables_.plan = plan_in_words();
}

void Emitter::note_structure() {
  const auto decision = [&](const Region& r) { return r.exit_node >= 0 && plan_.decides[static_cast<size_t>(r.exit_node)] && !of_block(exit_insn(r)->guard, 0); };
  if (!flow_.in_turns && std::ranges::any_of(plan_.regions, decision)) uses(Technique::DecisionsOfTheBlock);
  if (lanes_leave_) uses(Technique::LeavesEarly);
  if (rehearsed_to_its_end_) uses(Technique::RehearsedWhole);
  else if (std::ranges::count(rehearsed_, 1)) uses(Technique::Rehearsed);
  if (next_block_) uses(Technique::BlockAfterBlock);
  if (shapes_.lone()) uses(Technique::LoneThread);
  if (kept_stride_) uses(Technique::Kept);
}

std::string Emitter::plan_in_words() const {
  std::string all = flow_.in_turns ? "warps take turns" : plan_.regions.size() == 1 ? "1 region" : std::to_string(plan_.regions.size()) + " regions";
  for (const Technique t : techniques_) (all += ", ") += name_of(t);
  const char* before = ", handlers: ";
  for (const std::string& h : handlers_) all += std::exchange(before, " ") + h;
  return all;
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
  if (leaves_wait(node)) note_passed(lanes);
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

// Those that a sliced loop has written are not written again.
void Emitter::emit_nodes(const Region& region) {
  const auto written = [&](uint32_t b) { return std::ranges::any_of(sliced_, [&](const SlicedLoop& l) { return l.has(b) && l.head != b && !l.reads; }); };
  for (uint32_t b : region.nodes)
    if (!written(b)) emit_node(b);
  for (uint32_t b : region.nodes)
    if (written(b) && blocks_[b]) new llvm::UnreachableInst(c_, blocks_[b]);  // no lane waits there
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
  if (node.polls) emit_poll(node);
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
  if (i.silent()) return;
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
  if (i.step == vm::Step::PickTarget) return emit_pick(i);
  if (i.call) {
    if (flow_.is_library_call(i)) return emit_library_call(i);
    if (flow_.is_left_call(i)) return hand_over(i, b_.getTrue(), Why::Call);
    return by_handler(i);
  }
  if (emit_pure(i)) return;
  if (i.step == vm::Step::ReadSpecial) return by_handler(i);
  if (emit_approximation(i) || emit_directed(i) || emit_video(i)) return;
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
      if (row.op == isa::Opcode::Nanosleep && !watch_) return;  // giving way is not needed where nothing waits; a clock may go on
      return by_handler(i);
    case isa::Kind::Tensor:  // of the whole warp, or of none
      hand_over(i, b_.CreateICmpNE(active_, b_.getInt32(~0u)), Why::Lanes);
      if (waits_for_some(i)) return emit_look(i);
      if (emit_matrix(i)) return;
      return by_handler(i);
    case isa::Kind::Image:
      if (!emit_image(i)) by_handler(i);
      return;
    case isa::Kind::Async:
      if (waits_for_some(i)) return emit_look(i);
      if (row.cls == isa::Class::Load) return emit_copy(i);
      if (!emit_arrival(i)) call_handler(i, active_);
      return;
    default: return by_handler(i);
  }
}

void Emitter::emit_meeting(const vm::Insn& i) {
  meeting_wants_more_ = nullptr;
  emit_warp(i);
  if (meeting_wants_more_) hand_over(*(&i + 1), meeting_wants_more_, Why::Patience);
}

Handover& Emitter::new_handover(const vm::Insn& at, Why why) {
  const Region& region = plan_.regions[region_];
  const Node& node = flow_.nodes[node_];
  tables_.handovers.emplace_back();
  Handover& h = tables_.handovers.back();
  h.at = &at;
  h.why = why;
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

void Emitter::hand_over(const vm::Insn& at, V when, Why why) {
  auto* stub = apart_ ? apart_ : BasicBlock::Create(c_, "hand_over", f_);
  auto* on = BasicBlock::Create(c_, "on", f_);
  b_.CreateCondBr(when, stub, on, llvm::MDBuilder(c_).createBranchWeights(1, 100000));
  if (apart_) {
    b_.SetInsertPoint(on);
    return;
  }
  b_.SetInsertPoint(stub);
  write_rows();
  Handover& h = new_handover(at, why);
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
