// How control flows in compiled code: regions one after the other (emit_regions.cc), in each the blocks of code in the
// decoder's order, each for the lanes that are there.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
namespace In = llvm::Intrinsic;

Emitter::Emitter(Writing& writing, KernelPlan& plan, CompiledTables& tables, const Processor& processor)
    : Words(writing),
      Facts(plan, tables.watch.get(), processor),
      changed_plan_(plan),
      tables_(tables),
      arithmetic_(writing, plan.shapes, processor),
      lane_memory_(writing) {}

void Emitter::find_block_level() {
  registers_.block_level.assign(flow_.variables.size(), 0);
  if (!control_.many_regions) return;
  uint32_t left = kMostBlockValues;
  for (size_t v = 0; v < registers_.block_level.size() && left; ++v) {
    const Shape& s = shapes_.variables[v];
    const bool first_tells = s.runs == 1 || (s.runs > 1 && s.even);
    if (!first_tells || (s.reach != Reach::Block && !s.paced) || flow_.variables[v].bytes > 8) continue;
    registers_.block_level[v] = 1;
    --left;
  }
}

void Emitter::find_full() {
  const size_t n = flow_.nodes.size();
  control_.full.assign(n, plan_.only_whole_warps());
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
    if (lost[b] || !flow_.nodes[b].waits.empty() || !flow_.nodes[b].at_end.empty()) control_.full[b] = 0;
}

void Emitter::run() {
  control_.many_regions =
      !flow_.in_turns &&
      (plan_.regions.size() > 1 || std::ranges::any_of(flow_.nodes, [](const Node& n) { return n.ends == End::Barrier || n.awaited; }));
  find_block_level();
  for (const Region& r : plan_.regions)
    for (uint32_t b : r.nodes)
      if (flow_.nodes[b].ends == End::Leave && (r.exit_node >= 0 || r.exit_to >= 0)) control_.lanes_leave = true;
  find_full();
  tables_.row = plan_.row ? plan_.block[0] : 0;
  if (plan_.row) uses(Technique::FilledRows);
  constexpr ptrdiff_t kMany = 8;
  control_.many_functions = std::ranges::count_if(flow_.code->insns, [&](const vm::Insn& i) { return is_approximation(i); }) > kMany;

  std::vector<llvm::Type*> arguments{b_.getPtrTy()};
  if (flow_.in_turns && !flow_.stops) arguments.push_back(b_.getInt32Ty());
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), arguments, false);
  w_.function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "block", w_.module);
  w_.function->addFnAttr(llvm::Attribute::UWTable);
  w_.function->addFnAttr(llvm::Attribute::NoRedZone);  // call_aside
  w_.function->addFnAttr("no-trapping-math", "true");
  w_.context = w_.function->getArg(0);
  w_.function->addParamAttr(0, llvm::Attribute::NoAlias);
  w_.entry = new_block("entry");
  b_.SetInsertPoint(w_.entry);

  begin_blocks();
  const auto cell = [&](llvm::Type* t) {
    auto* a = b_.CreateAlloca(t);
    b_.CreateStore(llvm::Constant::getNullValue(t), a);
    return a;
  };
  registers_.storage.resize(flow_.variables.size());
  registers_.in_block.resize(flow_.variables.size());
  registers_.block_after.resize(flow_.variables.size());
  for (uint32_t v = 0; v < flow_.variables.size(); ++v) {
    const Shape& s = shapes_.variables[v];
    const Width bytes = flow_.variables[v].bytes;
    const auto cells = [&](const Shape& s, bool sloped, bool spread) {
      std::array<llvm::AllocaInst*, 4> out{};
      for (size_t r = 0; r < std::max<size_t>(s.runs, 1); ++r) out[r] = cell(type_of(bytes, s.runs == 0));
      if (sloped || spread) out[1] = cell(lane_type(bytes)), out[2] = cell(spread ? type_of(4, true) : lane_type(bytes));
      return out;
    };
    registers_.storage[v] = cells(s, plan_.slopes[v], plan_.spreads[v]);
    const auto others = [&](const OtherShapes* o, Storage& storage) {
      if (!o) return;
      const bool same = o->shapes.variables[v] == s && o->slopes[v] == plan_.slopes[v] && o->spreads[v] == plan_.spreads[v];
      storage.push_back(same ? registers_.storage[v] : cells(o->shapes.variables[v], o->slopes[v], o->spreads[v]));
    };
    others(plan_.guessed.get(), registers_.guessed);
    others(plan_.packed.get(), registers_.packed);
    if (block_level(v)) {
      registers_.in_block[v] = cell(lane_type(bytes));
      registers_.block_after[v] = cell(lane_type(bytes));
    }
  }
  for (size_t b = 0; b < flow_.nodes.size(); ++b) control_.masks.push_back(cell(b_.getInt32Ty()));
  control_.exit_mask = cell(b_.getInt32Ty());
  votes_.all_taken = cell(b_.getInt1Ty());
  votes_.none_taken = cell(b_.getInt1Ty());
  votes_.any_live = cell(b_.getInt1Ty());
  votes_.popc = cell(b_.getInt32Ty());
  votes_.all = cell(b_.getInt1Ty());
  votes_.any = cell(b_.getInt1Ty());
  if (control_.many_regions || flow_.stops) control_.first_warp = cell(b_.getInt32Ty());
  if (flow_.stops) stops_.any = cell(b_.getInt1Ty());
  if (control_.many_regions) lay_out_spills(live_across());
  if (!flow_.in_turns) find_late();

  control_.handed_over = new_block("handed_over");
  control_.region_of_entry.assign(flow_.nodes.size(), -1);
  for (size_t r = 0; r < plan_.regions.size(); ++r) {
    control_.region_of_entry[plan_.regions[r].entry] = static_cast<int32_t>(r);
    control_.region_entry.push_back(new_block("region"));
  }
  unrolled_.done.assign(flow_.nodes.size(), 0);
  unrolled_.any = may_unroll();
  b_.CreateBr(way_in());
  if (unrolled_.whole) {  // the rest is for few blocks, the last ones of grids: short code will do
    changed_plan_.guessed.reset();
    std::ranges::fill(changed_plan_.slopes, 0);
    std::ranges::fill(changed_plan_.spreads, 0);
  } else if (unrolled_.any && !tells()) {
    find_known();
  }
  for (at_.region = 0; at_.region < plan_.regions.size(); ++at_.region)
    flow_.stops      ? emit_by_stops(plan_.regions[at_.region], control_.region_entry[at_.region])
    : flow_.in_turns ? emit_warp_alone(plan_.regions[at_.region], control_.region_entry[at_.region])
                     : emit_region(at_.region, control_.region_entry[at_.region]);
  for (size_t k = 0; k < unrolled_.copies.size(); ++k) {
    at_.region = unrolled_.copies[k].region;
    unrolled_.known.swap(unrolled_.copies[k].known);
    emit_region(at_.region, unrolled_.copies[k].entry);
  }
  b_.SetInsertPoint(control_.handed_over);
  b_.CreateRet(b_.getInt32(0));
  emit_next_block();
  note_structure();
  tables_.plan = plan_in_words();
}

void Emitter::note_structure() {
  const auto decision = [&](const Region& r) {
    return r.exit_node >= 0 && plan_.decides[static_cast<size_t>(r.exit_node)] && !of_block(exit_insn(r)->guard, 0);
  };
  if (!flow_.in_turns && std::ranges::any_of(plan_.regions, decision)) uses(Technique::DecisionsOfTheBlock);
  if (control_.lanes_leave) uses(Technique::LeavesEarly);
  if (unrolled_.whole) uses(Technique::UnrolledWhole);
  else if (std::ranges::count(unrolled_.done, 1)) uses(Technique::UnrolledInPart);
  if (row_.next) uses(Technique::BlockAfterBlock);
  if (shapes_.lone()) uses(Technique::LoneThread);
  if (spills_.stride) uses(Technique::RegionSpills);
}

std::string Emitter::plan_in_words() const {
  std::string all = flow_.stops                 ? "warps by themselves"
                    : flow_.in_turns            ? "warps take turns"
                    : plan_.regions.size() == 1 ? "1 region"
                                                : std::to_string(plan_.regions.size()) + " regions";
  for (const Technique t : w_.techniques) (all += ", ") += name_of(t);
  const char* before = ", handlers: ";
  for (const std::string& h : handlers_) all += std::exchange(before, " ") + h;
  return all;
}

BasicBlock* Emitter::block_of(uint32_t node) {
  if (!control_.blocks[node]) control_.blocks[node] = new_block("node");
  return control_.blocks[node];
}

void Emitter::add_lanes(uint32_t node, V lanes) {
  if (as_.slice) {  // lanes that leave it are not counted: it ends when none is left
    if (inside(node)) set_lanes(node, b_.CreateOr(lanes_at(node), lanes));
    return;
  }
  if (leaves_wait(node)) note_passed(lanes);
  auto* cell = inside(node) ? control_.masks[node] : control_.exit_mask;
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
    auto* rest = new_block("rest");
    b_.CreateCondBr(any_of(lanes_at(node)), block_of(node), rest);
    b_.SetInsertPoint(rest);
  });
  if (!closed) b_.CreateBr(control_.region_exit);
}

// Lanes that disagree on a branch.
void Emitter::part(const Node& node, V taken) {
  watch_end(*node.last, taken);
  add_lanes(node.next[0], taken);
  add_lanes(node.next[1], b_.CreateAnd(at_.active, b_.CreateNot(taken)));
  leave_to(node.next, false);
}

// Those that a sliced loop has written are not written again.
void Emitter::emit_nodes(const Region& region) {
  const auto written = [&](uint32_t b) {
    return std::ranges::any_of(control_.sliced, [&](const SubwarpLoop& l) { return l.has(b) && l.head != b && !l.reads; });
  };
  for (uint32_t b : region.nodes)
    if (!written(b)) emit_node(b);
  for (uint32_t b : region.nodes)
    if (written(b) && control_.blocks[b]) new llvm::UnreachableInst(c_, control_.blocks[b]);  // no lane waits there
}

void Emitter::emit_node(uint32_t n) {
  const Node& node = flow_.nodes[n];
  const Region& region = plan_.regions[at_.region];
  at_.node = n;
  b_.SetInsertPoint(block_of(n));
  const V here = lanes_at(n);
  at_.active = control_.full[n] ? static_cast<V>(llvm::Constant::getAllOnesValue(here->getType())) : here;
  set_lanes(n, llvm::Constant::getNullValue(here->getType()));
  watch_node();
  const vm::Insn* stop = flow_.stops && is_block_barrier(flow_.code->insns[node.end - 1]) ? &flow_.code->insns[node.end - 1] : nullptr;
  const uint32_t last = node.last || stop ? node.end - 1 : node.end;
  if (node.gives_way && flow_.in_turns) emit_way_for_others(flow_.code->insns[node.begin]);
  if (!as_.slice)
    for (const SubwarpLoop& l : control_.sliced)
      if (l.head == n && emit_subwarp_loop(l)) return;
  for (const LaneLoop& l : plan_.lane_loops)
    if (l.head == n) emit_lane_loop(l);
  if (loops_whole(n)) emit_whole_loop(n);
  emit_straight(node.begin, last);
  if (node.polls) emit_poll(node);
  if (stop) emit_stop(*stop);
  if (region.exit_node == static_cast<int32_t>(n)) {
    watch_exit(*node.last);
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), control_.exit_mask), at_.active), control_.exit_mask);
    leave_to({}, true);
    return;
  }
  switch (node.ends) {
    case End::Fall:
      for (uint32_t s : node.next) add_lanes(s, at_.active);
      if (node.next.empty()) leave_to({}, true);
      else leave_to(node.next, false);
      break;
    case End::Trap:
      call_handler(*node.last, at_.active);
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
      V stay = b_.CreateAnd(at_.active, b_.CreateNot(leaves));
      for (uint32_t s : node.next) add_lanes(s, stay);
      leave_to(node.next, true);
      break;
    }
    case End::Branch: {
      if (!shapes_.divergent[n]) {
        if (watch_) watch_end(*node.last, guard_mask(*node.last));
        V way = read(node.last->guard, 0).run[0];
        if (node.last->guard_negated) way = b_.CreateNot(way);
        auto [taken, fall] = new_blocks("taken", "fall");
        b_.CreateCondBr(way, taken, fall);
        for (size_t k = 0; k < 2; ++k) {
          b_.SetInsertPoint(k ? fall : taken);
          add_lanes(node.next[k], at_.active);
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
      V bad = b_.CreateAnd(at_.active, mask_bits(b_.CreateICmpUGE(all, splat(b_.getInt32(static_cast<uint32_t>(node.last->imm))))));
      auto [wrong, right] = new_blocks("wrong", "right");
      go_on_if(b_.CreateICmpNE(bad, b_.getInt32(0)), wrong, right);
      call_handler(*node.last, at_.active);  // does not return
      b_.CreateUnreachable();
      b_.SetInsertPoint(right);
      if (index.uniform()) {
        auto* none = new_block("none");
        auto* choice = b_.CreateSwitch(index.run[0], none, static_cast<unsigned>(node.next.size()));
        for (size_t k = 0; k < node.next.size(); ++k) {
          auto* way = new_block("way");
          choice->addCase(b_.getInt32(static_cast<uint32_t>(k)), way);
          b_.SetInsertPoint(way);
          add_lanes(node.next[k], at_.active);
          leave_to({node.next[k]}, false);
        }
        b_.SetInsertPoint(none);
        b_.CreateUnreachable();
        break;
      }
      for (size_t k = 0; k < node.next.size(); ++k)
        add_lanes(node.next[k], b_.CreateAnd(at_.active, mask_bits(b_.CreateICmpEQ(all, splat(b_.getInt32(static_cast<uint32_t>(k)))))));
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
  const V whole = at_.active;
  const V mask = guard_mask(i);
  watch_guarded(i, mask);
  if (pure && !p.uniform()) {
    at_.active = mask;
    at_.forced = true;
    dispatch(i);
  } else {
    auto [go, on] = new_blocks("guarded", "on");
    go_on_if(any_of(mask), go, on);
    at_.active = p.uniform() ? whole : mask;
    at_.forced = !p.uniform();
    at_.come = whole;
    dispatch(i);
    at_.come = nullptr;
    go_on(on);
  }
  at_.forced = false;
  at_.active = whole;
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
  if (is_foreign(i)) return emit_foreign(i);
  if (emit_approximation(i) || emit_directed(i) || emit_video(i)) return;
  const isa::Row& row = *i.source->form.row;
  switch (row.kind) {
    case isa::Kind::Memory:
      // The host keeps such an order by itself: it is LLVM that must not change it.
      if (i.mods().sem == isa::Sem::Release) b_.CreateFence(llvm::AtomicOrdering::Release, llvm::SyncScope::SingleThread);
      emit_memory(i);
      if (i.mods().sem == isa::Sem::Acquire) b_.CreateFence(llvm::AtomicOrdering::Acquire, llvm::SyncScope::SingleThread);
      return;
    case isa::Kind::Warp: return emit_meeting(i);
    case isa::Kind::Atomic: return emit_atomic(i);
    case isa::Kind::Barrier:
      if (row.cls == isa::Class::Fence) {
        watch_fence(i);
        b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
      } else if (says(row, ".warp")) emit_meeting(i);
      else emit_barrier(i);
      return;
    case isa::Kind::Misc:
      if (row.op == isa::Opcode::Nanosleep && !watch_) return;  // giving way is not needed where nothing waits; a clock may go on
      return by_handler(i);
    case isa::Kind::Tensor:  // of the whole warp, or of none
      hand_over(i, b_.CreateICmpNE(at_.active, b_.getInt32(~0u)), Why::Lanes);
      if (waits_for_some(i)) return emit_look(i);
      if (emit_matrix(i)) return;
      return by_handler(i);
    case isa::Kind::Image:
      if (!emit_image(i)) by_handler(i);
      return;
    case isa::Kind::Async:
      if (waits_for_some(i)) return emit_look(i);
      if (row.cls == isa::Class::Load) return emit_copy(i);
      if (!emit_arrival(i)) call_handler(i, at_.active);
      return;
    default: return by_handler(i);
  }
}

void Emitter::emit_meeting(const vm::Insn& i) {
  watching_.meeting_wants_more = nullptr;
  emit_warp(i);
  if (watching_.meeting_wants_more) hand_over(*(&i + 1), watching_.meeting_wants_more, Why::Patience);
}

Handover& Emitter::new_handover(const vm::Insn& at, Why why) {
  const Region& region = plan_.regions[at_.region];
  const Node& node = flow_.nodes[at_.node];
  tables_.handovers.emplace_back();
  Handover& h = tables_.handovers.back();
  h.at = &at;
  h.why = why;
  h.stretch = at_.stretch;
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
  if (control_.many_regions && region.entry != 0) h.saved_before = saved(flow_.nodes[region.entry].live_in, true);
  if (flow_.stops) h.stops = &tables_.stops;
  if (h.after) h.saved_after = saved(live_at_exit(flow_, region), true);
  return h;
}

void Emitter::hand_over(const vm::Insn& at, V when, Why why) {
  if (const auto* known = llvm::dyn_cast<llvm::Constant>(when); known && known->isZeroValue()) return;
  auto* stub = as_.apart ? as_.apart : new_block("hand_over");
  auto* on = new_block("on");
  b_.CreateCondBr(when, stub, on, llvm::MDBuilder(c_).createBranchWeights(1, 100000));
  if (as_.apart) {
    b_.SetInsertPoint(on);
    return;
  }
  b_.SetInsertPoint(stub);
  write_rows();
  Handover& h = new_handover(at, why);
  call_aside(function("wb_prepare"), {w_.context, at_.warp});
  store_saved(h.here, frame());
  const auto pend = [&](V mask, const vm::Insn* go_on) {
    const uint32_t k = static_cast<uint32_t>(h.pending.size());
    machine_store(mask, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context, offsetof(Context, handed.pending) + 4u * k));
    h.pending.emplace_back(k, go_on);
  };
  flow_.nodes[at_.node].waits.each([&](size_t w) {
    if (inside(static_cast<uint32_t>(w))) pend(b_.CreateLoad(b_.getInt32Ty(), control_.masks[w]), &flow_.code->insns[flow_.nodes[w].begin]);
  });
  if (h.after) pend(b_.CreateLoad(b_.getInt32Ty(), control_.exit_mask), h.after);
  emit_handover(h, at_.warp, at_.come ? at_.come : at_.active,
                control_.first_warp ? b_.CreateLoad(b_.getInt32Ty(), control_.first_warp) : static_cast<V>(b_.getInt32(0)));
  b_.SetInsertPoint(on);
}

}  // namespace warpbeam::jit
