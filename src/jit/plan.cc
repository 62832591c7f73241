// What is decided before code is written: where a kernel is cut, whether its warps take turns, which techniques fit.
#include "jit/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "isa/parameters.h"
#include "jit/implicit_sync.h"
#include "jit/rows.h"
#include "jit/runtime.h"
#include "jit/runtime_stride.h"
#include "jit/uniform_plus_pattern.h"
#include "vm/warp.h"

namespace warpbeam::jit {
namespace {

// Does the instruction stand in one of the functions that a call through a register chooses among?
bool may_be_passed(const vm::Code& code, const vm::Insn& insn) {
  const auto& insns = code.function->insns;
  const auto at = &insn - insns.data();
  for (size_t k = 0; k + 1 < insns.size(); ++k) {
    if (insns[k].step != vm::Step::PickTarget) continue;
    const vm::Insn& ways = insns[k + 1];
    if (at >= ways.list[0] && at < ways.list[insns[k].imm]) return true;
  }
  return false;
}

// Why a kernel stays with the interpreter; empty: it can be compiled.
std::string refuse(const PlanRequest& r) {
  const vm::Code& code = *r.code;
  const vm::EngineServices& services = *r.services;
  const bool watched = r.wanted.compiled;
  const auto at = [&](const vm::Insn& i, std::string_view why) {
    return fmt::format("{} ({})", why, services.location(i, *code.function));
  };
  constexpr size_t kMostInstructions = 8000;  // code generation takes seconds for more
  if (code.function->insns.size() > kMostInstructions) return "it is very long";
  for (const vm::Insn& i : code.function->insns) {
    if (i.step == vm::Step::Call && !may_be_passed(code, i))
      return at(i, "it calls device functions that call themselves or are very long");
    if (i.call && i.call->runtime) return at(i, "it calls the device runtime");
    const isa::Row* row = i.row();
    if (!row) continue;
    if (watched && (row->op == isa::Opcode::Wgmma || row->cls == isa::Class::Copy ||
                    (row->kind == isa::Kind::Async && row->cls == isa::Class::Barrier)))
      return at(i, "it has instructions of warp groups, bulk copies or barriers in memory, and is watched");
    if (row->kind == isa::Kind::Async && row->op == isa::Opcode::Barrier) return at(i, "it waits for its cluster");
    if (row->op == isa::Opcode::Alloca || row->op == isa::Opcode::Stacksave || row->op == isa::Opcode::Stackrestore)
      return at(i, "it changes its stack");
    const isa::Mods& m = i.mods();
    if (row->kind == isa::Kind::Memory && row->cls == isa::Class::Load && i.op[1] < 0 &&
        (m.space == isa::Space::Param || m.space == isa::Space::ParamEntry) &&
        (i.imm < 0 || static_cast<uint64_t>(i.imm) + static_cast<uint64_t>(isa::bytes_of(i.type()) * i.count) > r.param_bytes))
      return at(i, "it reads past its parameters");
  }
  return "";
}

// Do its warps wait for each other in other ways than all at one barrier?
bool needs_turns(const KernelPlan& plan) {
  if (std::ranges::any_of(plan.waits, &WaitingLoop::shared)) return true;
  return !plan.flow.awaits && std::ranges::any_of(plan.flow.code->insns, [&](const vm::Insn& i) { return waits_for_some(i); });
}

// Where all come to a barrier in each round, something comes about for ever, and blocks have to take turns nevertheless.
bool meets_in(const Flow& flow, const WaitingLoop& loop) {
  for (uint32_t b = loop.head; b <= loop.latch; ++b) {
    const Node& node = flow.nodes[b];
    if (node.ends == End::Barrier || waits_for_some(flow.code->insns[node.end - 1])) return true;
  }
  return false;
}

// A warp that is handed over has room for so many masks of waiting lanes and parts of parameters.
std::string refuse_handovers(const Flow& flow) {
  size_t most = 0;
  for (const Node& node : flow.nodes) {
    size_t waiting = 1;  // behind the handed-over instruction
    node.waits.each([&](size_t) { ++waiting; });
    most = std::max(most, waiting);
  }
  if (most > kMostPending) return "lanes wait in very many places at once";
  const auto part = [](const Variable& v) { return v.at >= kParamKeys; };
  return std::ranges::count_if(flow.variables, part) > kMostParts ? "its calls have very many parameters" : "";
}

// Where it is cut, and what its values look like. `early`: branches that some lanes leave the kernel by.
std::string find_structure(KernelPlan& plan, const PlanRequest& r, const EarlyLeaves& early) {
  plan.code = r.code;
  if (std::string why = build_flow(plan.flow, *r.code->function, *r.services, r.block, early, r.wanted.compiled, r.in_turns); !why.empty())
    return why;
  plan.row = r.rows ? row_to_fill(plan.flow, r) : 0;
  plan.block = filled(r.block, plan.row);
  const auto passed = [](const std::vector<Slot>& slots) {
    size_t n = 0;
    for (const Slot& s : slots) n += size_t{s.read} + size_t{s.written};
    return n;
  };
  for (size_t k = 0; k < plan.flow.slots.size(); ++k)
    if (passed(plan.flow.slots[k]) > kMostOperands && !plan.flow.is_left_call(r.code->function->insns[k]))
      return "it has an instruction with very many registers";
  plan.waits = find_waiting_loops(plan.flow, r.wanted.compiled);
  static const bool without_polls = left_out("polls");
  if (!plan.waits.empty() && (r.wanted.compiled || without_polls)) return plan.waits[0].why(plan.flow);
  for (const WaitingLoop& l : plan.waits) {
    plan.flow.nodes[l.latch].polls = true;
    plan.flow.nodes[l.latch].changes = l.changes;
  }
  plan.polls = !plan.waits.empty();
  std::string why;
  if (r.wanted.events) {  // told of in the interpreter's order, which under a watcher knows no such places
    for (Node& node : plan.flow.nodes) node.apart = false;
  } else if (plan.lanes() > vm::kWarpSize) {
    const Roots roots = find_roots(plan.flow);
    if (why = find_same_work(plan.flow, roots, plan.block); !why.empty()) return why;
    plan.flow.implicit_syncs = find_implicit_syncs(plan.flow, roots, r.block);
  }
  const bool some = needs_turns(plan);
  if (some && r.wanted.compiled) return "its warps wait for each other in their own ways, and it is watched";
  auto regions = some || r.in_turns || left_out("regions") ? std::nullopt : find_regions(plan.flow, why);
  if (!regions && r.wanted.compiled) return why;
  if (!regions && (plan.uncut = plan.flow.awaits)) return "";
  if (!regions) {
    for (const WaitingLoop& l : plan.waits)
      if (meets_in(plan.flow, l)) return l.why(plan.flow);
    take_turns(plan.flow, !some && plan.waits.empty() && !left_out("stops"));
    regions = find_regions(plan.flow, why);
  }
  plan.regions = std::move(*regions);
  find_late_nodes(plan.flow, plan.regions);
  if (r.wanted.events) {
    if (why = find_reordering(plan.flow, plan.regions); !why.empty()) return why;
    plan.settled = find_settled(plan.flow);
  }
  plan.decides.assign(plan.flow.nodes.size(), 0);
  const bool barriers = plan.regions.size() > 1;  // or places that are taken for one
  for (const Region& region : plan.regions)
    if (region.exit_node >= 0)
      plan.decides[static_cast<size_t>(region.exit_node)] = plan.flow.nodes[static_cast<size_t>(region.exit_node)].ends == End::Branch;
  plan.shapes = find_shapes(plan.flow, plan.block, plan.decides, barriers, r.wraps);
  if (std::string why = refuse_handovers(plan.flow); !why.empty()) return why;
  for (const Node& node : plan.flow.nodes)
    if (node.ends == End::Barrier && node.last->mods().red) {
      const Source d = plan.flow.source(node.last->op[0], plan.flow.variables.empty() ? 0 : 4);
      const Shape& s = plan.shapes.variables[d.variable];
      if (d.kind != SourceKind::Variable || !s.uniform() || s.reach != Reach::Block)
        return "the result of a barrier is mixed with values of single threads";
    }
  return "";
}

// How many bytes of each lane's local memory may lie side by side; 0: somebody else than compiled code may look at it.
Width unit_of_local_memory(const Flow& flow, const PlanRequest& r) {
  if (flow.local_escapes || r.wanted.compiled || r.block[0] * r.block[1] * r.block[2] == 1 || left_out("local") || left_out("interleaved"))
    return 0;
  Width unit = 8;
  bool any = false;
  for (const vm::Insn& i : flow.code->insns) {
    const auto elsewhere = [&](const vm::LocalPart& part) { return flow.cell_of(part) < 0; };
    if (i.call && !flow.is_left_call(i) &&
        (!flow.is_library_call(i) || std::ranges::any_of(i.call->args, elsewhere) || std::ranges::any_of(i.call->returns, elsewhere)))
      return 0;
    const isa::Row* row = i.row();
    if (!row || row->kind == isa::Kind::Address || flow.cell_access(i)) continue;
    const isa::Space space = i.mods().space;
    if (is_parameter(space) && i.op[1] >= 0 && !known_row(i)) return 0;  // the handler's
    const bool fixed = flow.fixed_local.contains(&i), computed = space == isa::Space::ParamFunc && i.op[1] >= 0;
    if (space != isa::Space::Local && !fixed && !computed) continue;
    if (!flow.is_local_access(i)) return 0;
    unit = std::min<Width>(unit, std::max<Width>(static_cast<Width>(isa::bytes_of(i.type())), 4));
    any = true;
  }
  return any ? unit : 0;
}

void find_techniques(KernelPlan& plan, const PlanRequest& r) {
  plan.local_unit = unit_of_local_memory(plan.flow, r);
  plan.roots = find_roots(plan.flow);
  if (!left_out("lanes") && !r.wanted.compiled) plan.lane_loops = find_lane_loops(plan.flow, plan.shapes, plan.regions);
  plan.slopes.assign(plan.flow.variables.size(), 0);
  if (!left_out("runtime_strides") && !r.wanted.compiled)
    plan.slopes = find_runtime_strides(plan.flow, plan.shapes, plan.regions, plan.lane_loops);
  plan.spreads.assign(plan.flow.variables.size(), 0);
  if (!left_out("patterns") && !r.wanted.compiled)
    plan.spreads = find_uniform_plus_patterns(plan.flow, plan.shapes, plan.regions, plan.lane_loops);
  if (!left_out("guesses") && !r.wanted.compiled && !plan.flow.in_turns)
    plan.guessed = guess_shapes(plan.flow, plan.shapes, plan.regions, plan.decides, plan.regions.size() > 1, plan.lane_loops);
  if (!left_out("packs") && !r.wanted.compiled && !plan.flow.in_turns && plan.regions.size() == 1 && !plan.row)
    plan.packed = pack_shapes(plan.flow, plan.shapes, plan.decides);
}

// Where warps wait for barriers in memory some of them may well go other ways than others, as where one fills what others empty.
bool decides_by_warp(const KernelPlan& plan) {
  for (size_t b = 0; b < plan.decides.size(); ++b) {
    if (!plan.decides[b]) continue;
    const Shape s = plan.shapes.source(plan.flow.nodes[b].last->guard, 0);
    if (!s.one_value() || s.reach != Reach::Block) return true;
  }
  return false;
}

}  // namespace

std::string make_plan(KernelPlan& plan, const PlanRequest& request) {
  PlanRequest r = request;
  if (std::string why = refuse(r); !why.empty()) return why;
  EarlyLeaves early;
  for (bool more = true; more;) {
    plan = {};
    if (std::string why = find_structure(plan, r, early); !why.empty()) return why;
    more = plan.row && (plan.flow.in_turns || plan.uncut || plan.polls || !plan.flow.implicit_syncs.empty());
    if (more) r.rows = false;
    if (more) continue;
    const bool leaves = !r.wanted.compiled && !left_out("leaving");  // watched, the order of what is told would change
    if (leaves && early.empty() &&
        (plan.uncut || (plan.flow.in_turns && !r.in_turns && !needs_turns(plan)))) {  // the ways out may be what could not be cut
      for (const Node& node : plan.flow.nodes)
        if (node.ends == End::Branch) more = early.insert(node.last).second || more;
      if (more) continue;
    }
    // Decisions of the whole block that warps may take differently.
    for (size_t b = 0; b < plan.decides.size() && leaves && !plan.uncut; ++b)
      if (plan.decides[b] && !plan.shapes.source(plan.flow.nodes[b].last->guard, 0).one_value())
        more = early.insert(plan.flow.nodes[b].last).second || more;
    if (!more && (plan.uncut || (plan.flow.awaits && decides_by_warp(plan)))) r.in_turns = more = true;
  }
  find_techniques(plan, r);
  return "";
}

}  // namespace warpbeam::jit
