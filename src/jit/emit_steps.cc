// Idea: what differs between warps only by a number, as the index of a grid-stride loop, is reckoned for the first of them; places that
// lie in a row get one check, and one comparison ends the loop. Precondition: a team that has gone the same way so far. Postcondition:
// every member's registers are its own. Fallback: where a number would wrap around or the last warps stay behind, the team parts.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Cmp;
using isa::Kind;
namespace In = llvm::Intrinsic;

void Emitter::find_steps(const Region& region, CoarsenedWarps& team) {
  team.in_step.shapes = std::make_unique<Shapes>(shapes_.in_step(team.together, region.entry));
  team.in_step.steps.resize(flow_.variables.size());
  team.written.each([&](size_t v) {
    const Shape &own = shapes_.variables[v], &s = team.in_step.shapes->variables[v];
    const bool alike = own.runs == 1 && s.runs == 1 && own.stride == s.stride && flow_.variables[v].bytes > 0;
    if (alike && (s.reach == Reach::Block || s.paced)) team.in_step.steps[v] = s.reach == Reach::Block ? 0 : s.pace;
  });
}

// For a warp that is not the first: what the first one has tells the variable.
bool Emitter::steps_along(uint32_t variable) const {
  return as_.team && as_.team->member != 0 && as_.team->member != CoarsenedWarps::kNobody && as_.team->in_step.steps[variable];
}

// ... and so all that the instruction writes.
bool Emitter::steps_along(const vm::Insn& i) const {
  if (!as_.team || as_.team->member == 0 || as_.team->member == CoarsenedWarps::kNobody) return false;
  bool any = false, all = true;
  for (const Slot& s : flow_.slots[number_of(i)]) {
    if (!s.written) continue;
    const auto v = flow_.variable(s.at);
    any = true;
    all = all && v && steps_along(*v);
  }
  return any && all;
}

V Emitter::beyond_first(int64_t pace, Width bytes) {
  llvm::Type* type = lane_type(bytes);
  return b_.CreateMul(b_.CreateSExtOrTrunc(b_.CreateSub(at_.warp, as_.team->members[0].warp), type),
                      llvm::ConstantInt::getSigned(type, pace));
}

V Emitter::one_step_on(uint32_t v) {
  const Width bytes = flow_.variables[v].bytes;
  const V first = b_.CreateLoad(lane_type(bytes), as_.team->members[0].storage[v][0]);
  const int64_t pace = *as_.team->in_step.steps[v];
  return pace ? b_.CreateAdd(first, beyond_first(pace, bytes)) : first;
}

// What is widened grows on only where it did not wrap between the first warp and this one.
void Emitter::check_step(const vm::Insn& i) {
  const isa::Row& row = *i.source->form.row;
  const bool convert = row.kind == Kind::Convert && isa::bytes_of(i.type()) == 8 && isa::bytes_of(i.source->form.atype) == 4;
  const bool wide = row.kind == Kind::Lane && half_of(i) == isa::Half::Wide && isa::bytes_of(i.type()) == 4;
  if (!convert && !wide) return;
  const bool sg = isa::is_signed(convert ? i.source->form.atype : i.type());
  for (int k = 1; k <= (wide ? 2 : 1); ++k) {
    const Shape s = as_.team->in_step.shapes->source(i.op[k], 4);
    const Source source = flow_.source(i.op[k], 4);
    if (!s.paced || s.pace == 0 || s.bits <= 30 || source.kind != SourceKind::Variable) continue;
    const auto widened = [&](V x) { return sg ? b_.CreateSExt(x, b_.getInt64Ty()) : b_.CreateZExt(x, b_.getInt64Ty()); };
    const V first =
        steps_along(source.variable) ? b_.CreateLoad(b_.getInt32Ty(), as_.team->members[0].storage[source.variable][0]) : nullptr;
    V wraps;
    if (first && sg) {
      wraps = b_.CreateExtractValue(b_.CreateIntrinsic(In::sadd_with_overflow, {b_.getInt32Ty()}, {first, beyond_first(s.pace, 4)}), 1);
    } else {
      const V from = first ? first : b_.CreateSub(read(i.op[k], 4).run[0], beyond_first(s.pace, 4));
      wraps = b_.CreateICmpNE(widened(b_.CreateAdd(from, beyond_first(s.pace, 4))), b_.CreateAdd(widened(from), beyond_first(s.pace, 8)));
    }
    as_.wraps ? as_.wraps->push_back(wraps) : hand_over(i, wraps);
  }
}

V Emitter::in_a_row(const CoarsenedWarps& team) {
  const V first = team.member == 0 ? at_.warp : team.members[0].warp, last = team.members.back().warp;
  return b_.CreateICmpEQ(b_.CreateSub(last, first), b_.getInt32(static_cast<uint32_t>(team.warps - 1)));
}

// Whether the warps' places follow each other and all of them fit. Null: that cannot be.
V Emitter::all_fit_in_a_row(CoarsenedWarps& team, const Straight& s) {
  if (s.accesses.empty()) return nullptr;
  V good = b_.getTrue();
  for (const Access& a : s.accesses) {
    as_member(team, 0);
    const Value first = address_of(a);
    if (first.runs != 1 || first.stride < 0) return nullptr;
    for (size_t m = 1; m < team.members.size(); ++m) {
      as_member(team, m);
      const V there = b_.CreateAdd(first.run[0], b_.getInt64(static_cast<uint64_t>(first.stride) * kLanes * m));
      good = b_.CreateAnd(good, b_.CreateICmpEQ(address_of(a).run[0], there));
    }
  }
  as_member(team, 0);
  return b_.CreateAnd(good, all_fit(s, team.warps));
}

// The comparison of an index with a bound that is the node's decision and nothing else, if it is there.
Decision Emitter::decides_in_a_row(const CoarsenedWarps& team, const Node& node) const {
  if (node.ends != End::Branch || node.last->guard < 0) return {};
  Decision decision;
  const vm::Insn* i = compared(node, node.last->guard, decision.holds);
  if (!i || i->guard >= 0 || isa::is_float(i->type()) || isa::bits_of(i->type()) < 32) return {};
  const Cmp c = i->mods().cmp;
  if (c == Cmp::Eq || c == Cmp::Ne) return {};
  // What it says, and what turns that round, is for the branch alone.
  const uint32_t at = number_of(*i);
  Bits said(flow_.variables.size());
  for (uint32_t k = at; k < node.end; ++k) {
    size_t written = 0;
    bool reads = k == at;
    for (const Slot& s : flow_.slots[k]) {
      const auto v = flow_.variable(s.at);
      written += s.written;
      reads = reads || (s.read && v && said.has(*v));
    }
    const vm::Insn& user = flow_.code->insns[k];
    if (!reads || &user == node.last) continue;
    if (written != 1 || (k != at && user.step != vm::Step::NotPred)) return {};
    for (const Slot& s : flow_.slots[k]) {
      const auto v = flow_.variable(s.at);
      if (!s.written) continue;
      if (!v || node.live_out.has(*v)) return {};
      said.add(*v);
    }
    decision.instructions.push_back(k);
  }
  const Width bytes = static_cast<Width>(isa::bytes_of(i->type()));
  bool index = false, bound = false;
  for (int k = 1; k <= 2; ++k) {
    const Source s = flow_.source(i->op[k], bytes);
    const Shape shape = team.in_step.shapes->source(i->op[k], bytes), own = shapes_.source(i->op[k], bytes);
    if (shape.unset || shape.runs != 1 || own.runs != 1 || own.stride != shape.stride) return {};
    const bool grows = shape.paced && shape.stride > 0 && shape.pace == shape.stride * kLanes && shape.stride < 1 << 16;
    if (grows && s.kind == SourceKind::Variable) index = true;
    else if (shape.one_value()) bound = true;
    if (s.kind != SourceKind::Variable) continue;
    for (uint32_t later = at + 1; later < node.end; ++later)  // it has to be there still
      for (const Slot& o : flow_.slots[later])
        if (const auto v = flow_.variable(o.at); o.written && v && *v == s.variable) return {};
  }
  if (!index || !bound) return {};
  decision.compare = i;
  return decision;
}

// All lanes of all warps are below the bound, by the last one. `holds`: what the comparison says of them then.
V Emitter::all_go_on(CoarsenedWarps& team, const vm::Insn& i, bool& holds) {
  as_member(team, 0);
  const Width bytes = static_cast<Width>(isa::bytes_of(i.type()));
  const bool swap = shapes_.source(i.op[2], bytes).stride != 0;
  const Cmp c = i.mods().cmp;
  const bool less = c == Cmp::Lt || c == Cmp::Lo || c == Cmp::Le || c == Cmp::Ls;
  holds = less != swap;
  const Value index = read(i.op[swap ? 2 : 1], bytes), bound = read(i.op[swap ? 1 : 2], bytes);
  const V room =
      llvm::ConstantInt::get(lane_type(bytes), static_cast<uint64_t>(index.stride) * static_cast<uint64_t>(kLanes * team.warps - 1));
  const bool sg = isa::is_signed(i.type());
  const V least = b_.CreateBinaryIntrinsic(sg ? In::ssub_sat : In::usub_sat, bound.run[0], room);
  const V below = sg ? b_.CreateICmpSLT(index.run[0], least) : b_.CreateICmpULT(index.run[0], least);
  return b_.CreateAnd(in_a_row(team), below);
}

}  // namespace warpbeam::jit
