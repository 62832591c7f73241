// Which parts of a region several warps can go through side by side (emit_coarsened.cc), and how many.
#include <algorithm>

#include "jit/emitter.h"
#include "isa/parameters.h"
#include "jit/shape_arithmetic.h"

namespace warpbeam::jit {

using isa::Kind;
using isa::Space;

namespace {

constexpr size_t kMostWarps = 4;
constexpr size_t kMostOnLines = 8;  // where several read one line, or have nothing to remember from round to round but where they are
constexpr size_t kMostTogether = 800;  // instructions, each warp's counted
constexpr size_t kFewestShared = 8;  // loads of one place by all that are worth it
constexpr size_t kMostInARow = 8;  // bytes of a lane
constexpr size_t kManyFunctions = 4;  // special ones, beside which memory does not count
constexpr size_t kMostComputed = 8;  // vectors for an access, beside which memory does not count either
constexpr size_t kMostPairs = 24;  // of what is stored and what else is accessed in a round

bool parameter(const vm::Insn& i) { return i.op[1] < 0 && is_parameter(i.mods().space); }

bool unchanging(const vm::Insn& i) { return i.mods().space == Space::Const || says(*i.source->form.row, ".nc"); }

// Each store with every load, and with the stores behind it.
std::vector<std::pair<const Access*, const Access*>> stores_and_others(const std::vector<Access>& all) {
  std::vector<std::pair<const Access*, const Access*>> pairs;
  for (const Access& w : all)
    for (const Access& a : all)
      if (!w.load && &w != &a && (a.load || &a > &w)) pairs.emplace_back(&w, &a);
  return pairs;
}

bool same_for_all(const Shape& s) { return !s.unset && s.runs > 0 && (s.reach == Reach::Block || (s.paced && s.pace == 0)); }

}  // namespace

// A load whose address has a known shape, a store of elements one behind the other, or an instruction that only computes or counts.
bool Emitter::suits_coarsening(const vm::Insn& i, bool may_store) const {
  if (i.silent()) return true;
  if (counts(i)) return !watch_ || (counts_banks(i) && (counts_places(i) || shapes_.source(i.op[1], i.base_width).runs == 0));
  if (i.effects().varies) return false;
  size_t shared = 0, written = 0;
  for (const Slot& s : flow_.slots[number_of(i)]) {
    const auto v = flow_.variable(s.at);
    if (!s.written || !v) continue;
    ++written;
    shared += shapes_.variables[*v].one_value();
  }
  if (shared && shared != written) return false;
  if (i.step == vm::Step::NotPred) return true;
  if (!i.row()) return false;
  const isa::Row& row = *i.row();
  if (is_foreign(i)) return leaves_nothing(i);
  if (row.kind == Kind::Memory) {
    if (row.cls == isa::Class::Misc || flow_.cell_access(i) || (row.cls == isa::Class::Load && parameter(i))) return true;
    const std::optional<Access> a = access_of(i);
    if (a && !a->load && (!may_store || a->shared || i.op[1] < 0 || i.guard >= 0)) return false;
    if (!a || may_be_local(*a) || !counts_places(i) || !is_weak_access(i)) return false;
    return i.op[1] < 0 || shapes_.source(i.op[1], i.base_width).runs > 0;
  }
  if (!row.effects.pure()) return false;
  return shapes_.has_ir(i) || (row.kind == Kind::Lane && i.type() == isa::Type::F32 && (says(row, ".approx") || says(row, ".full")) &&
                               approximation(row.op, says(row, ".full"), i.mods().ftz));
}

// Has each warp a number of rounds of its own, as where it goes through what the warps before it have left?
bool Emitter::counts_for_itself(const CoarsenedWarps& team, uint32_t first, uint32_t last) const {
  for (uint32_t b = first; b <= last; ++b) {
    const Node& node = flow_.nodes[b];
    if (!team.together[b] || node.ends != End::Branch || node.last->guard < 0) continue;
    const Shape way = team.in_step.shapes->source(node.last->guard, 0);
    const bool leaves = std::ranges::any_of(node.next, [&](uint32_t s) { return s < first || s > last; });
    if (leaves && way.uniform() && way.reach == Reach::Warp) return true;
  }
  return false;
}

// Loops that read memory, or many loads of the same places.
bool Emitter::gains_from_coarsening(const Region& region, const CoarsenedWarps& team) const {
  const auto accesses = [&](uint32_t from, uint32_t to, bool same) {
    size_t n = 0;
    for (uint32_t b = from; b <= to; ++b) {
      if (!team.together[b]) continue;
      for (uint32_t k = flow_.nodes[b].begin; k < flow_.nodes[b].end; ++k) {
        const vm::Insn& i = flow_.code->insns[k];
        if (i.silent() || flow_.cell_access(i) || !access_of(i)) continue;
        n += !same || i.op[1] < 0 || same_for_all(shapes_.source(i.op[1], i.base_width));
      }
    }
    return n;
  };
  bool whole = true;
  for (uint32_t b : region.nodes) {
    whole = whole && team.together[b];
    if (!team.together[b]) continue;
    for (uint32_t s : flow_.nodes[b].next)
      if (s <= b && inside(s) && team.together[s] && !counts_for_itself(team, s, b) && accesses(s, b, false)) return true;
  }
  if (whole && team.stores && ends_plainly(region) && accesses_in_a_row(region, team))
    return special_functions(region.nodes) < kManyFunctions &&
           vectors_made(region.nodes) <= kMostComputed * accesses(region.nodes.front(), region.nodes.back(), false);
  if (watch_) return false;  // what each counts would be more than what they share
  return whole && ends_plainly(region) && accesses(region.nodes.front(), region.nodes.back(), true) >= kFewestShared;
}

// What the team's warps access side by side.
template <class F>
static std::vector<Access> accesses_together(const Flow& flow, const Region& region, const std::vector<char>& together, F access_of) {
  std::vector<Access> all;
  for (uint32_t b : region.nodes)
    for (uint32_t k = flow.nodes[b].begin; together[b] && k < flow.nodes[b].end; ++k) {
      const vm::Insn& i = flow.code->insns[k];
      if (i.silent() || flow.cell_access(i)) continue;
      if (const std::optional<Access> a = access_of(i)) all.push_back(*a);
    }
  return all;
}

// All that it loads lies one behind the other in global memory, which is slower than any register that is put aside.
bool Emitter::only_streams(const Region& region, const CoarsenedWarps& team) const {
  const std::vector<Access> all = accesses_together(flow_, region, team.together, [&](const vm::Insn& i) { return access_of(i); });
  const auto streams = [&](const Access& a) {
    const vm::Insn& i = *a.insn;
    return !a.shared && i.op[1] >= 0 && shapes_.source(i.op[1], i.base_width).stride == static_cast<int64_t>(a.total());
  };
  return !all.empty() && std::all_of(all.begin(), all.end(), streams);
}

// What warps access lies behind what the warps before them do, and is so little that one check for all is worth something.
bool Emitter::accesses_in_a_row(const Region& region, const CoarsenedWarps& team) const {
  return std::ranges::all_of(accesses_together(flow_, region, team.together, [&](const vm::Insn& i) { return access_of(i); }),
                             [&](const Access& a) {
                               const Shape s = team.in_step.shapes->source(a.insn->op[1], a.insn->base_width);
                               return a.total() <= kMostInARow && s.paced && s.pace == s.stride * kLanes;
                             });
}

// What the rest of the region writes is not what the team reads.
bool Emitter::hides_nothing(const Region& region, CoarsenedWarps& team) const {
  bool reads_shared = false;
  for (const Access& a : accesses_together(flow_, region, team.together, [&](const vm::Insn& i) { return access_of(i); })) {
    if (unchanging(*a.insn) || !a.load) continue;
    if (a.shared || a.root < 0) reads_shared = true;
    if (!a.shared) team.reads.push_back(a);
  }
  const bool reads_unknown = std::any_of(team.reads.begin(), team.reads.end(), [](const Access& a) { return a.root < 0; });
  for (uint32_t b : region.nodes) {
    const Node& node = flow_.nodes[b];
    if (team.together[b]) continue;
    for (uint32_t k = node.begin; k < (node.last ? node.end - 1 : node.end); ++k) {
      const vm::Insn& i = flow_.code->insns[k];
      if (i.silent() || i.step == vm::Step::NotPred || i.step == vm::Step::ReadSpecial || flow_.cell_access(i) ||
          flow_.fixed_local.contains(&i))
        continue;
      const bool computes = i.call ? flow_.is_library_call(i) : suits_coarsening(i);  // a team that counts: what counts commutes
      if (computes) continue;
      if (!i.call) {
        const isa::Row& row = *i.source->form.row;
        const Space space = i.mods().space;
        if (is_foreign(i) && !row.effects.pure()) return false;
        if (row.effects.pure() || row.kind == Kind::Warp ||
            (row.kind == Kind::Memory && (row.cls == isa::Class::Load || space == Space::Local)) ||
            (row.kind == Kind::Barrier && (row.cls == isa::Class::Fence || i.watched == vm::Watched::WarpSync)))
          continue;
        const bool shared = space == Space::Shared || space == Space::SharedCluster;
        if (shared && (row.kind == Kind::Memory || row.kind == Kind::Atomic)) {
          if (reads_shared) return false;
          continue;
        }
        const int64_t root = row.kind == Kind::Memory || row.kind == Kind::Atomic ? plan_.roots.access(flow_, i) : Roots::kNone;
        const bool apart = root >= 0 && !reads_unknown &&
                           std::none_of(team.reads.begin(), team.reads.end(), [&](const Access& a) { return a.root == root; });
        if (apart) {
          if (const std::optional<Access> a = access_of(i); a && !a->shared) team.writes.push_back(*a);
          continue;
        }
      }
      if (reads_shared || !team.reads.empty()) return false;
    }
  }
  return true;
}

// Can all that may go wrong in a node be known before its first store? What the team accesses lies in rows, and nothing is
// told of its stores.
bool Emitter::stores_in_turn(const Region& region, const CoarsenedWarps& team) const {
  if (watch_ || !team.streams || team.counts) return false;
  size_t pairs = 0;
  for (uint32_t n : region.nodes)
    if (team.together[n] && !known_before_stores(flow_.nodes[n], pairs)) return false;
  return pairs <= kMostPairs;
}

// ... and which `pairs` of accesses it has to look at.
bool Emitter::known_before_stores(const Node& node, size_t& pairs) const {
  const uint32_t end = node.last ? node.end - 1 : node.end;
  const Straight s = straight(node.begin, end);
  bool stored = false;
  size_t known = 0;
  for (uint32_t k = node.begin; k < end; ++k) {
    const vm::Insn& i = flow_.code->insns[k];
    if (i.silent() || flow_.cell_access(i)) continue;
    if (const std::optional<Access> a = access_of(i)) {
      if (i.guard >= 0 || known == s.accesses.size() || s.accesses[known].insn != &i || shapes_.source(i.op[1], i.base_width).runs != 1)
        return false;
      ++known;
      stored = stored || !a->load;
      continue;
    }
    if (!stored || i.step == vm::Step::NotPred || std::ranges::find(s.ahead, k) != s.ahead.end()) continue;
    if (may_wrap(i)) return false;
  }
  for (const auto& [w, a] : stores_and_others(s.accesses)) {
    ++pairs;
    const int64_t apart = std::abs(w->insn->imm - a->insn->imm);
    const bool same = w->insn->op[1] == a->insn->op[1];
    if (same && (apart ? apart < static_cast<int64_t>(kLanes * kMostOnLines * std::max(w->total(), a->total())) : w->total() != a->total()))
      return false;
  }
  return true;
}

// What so many warps store, whose places lie in a row, is not what they access elsewhere in the node.
V Emitter::stores_meet_nothing(const Straight& s, int warps) {
  V good = b_.getTrue();
  const auto reach = [&](const Access& a, const Value& at) {
    return b_.getInt64(static_cast<uint64_t>(std::abs(at.stride)) * static_cast<uint64_t>(kLanes * warps - 1) + a.total());
  };
  for (const auto& [w, a] : stores_and_others(s.accesses)) {
    if (w->insn->op[1] == a->insn->op[1]) continue;  // known_before_stores
    const Value to = address_of(*w), at = address_of(*a);
    const V low = at.stride < 0 ? b_.CreateAdd(at.run[0], b_.getInt64(static_cast<uint64_t>(at.stride * (kLanes * warps - 1)))) : at.run[0];
    const V from = b_.CreateSub(low, to.run[0]);
    // From a's end before w to w's end before a.
    const V beyond = b_.CreateSub(reach(*a, at), b_.getInt64(1));
    V meets = b_.CreateICmpULT(b_.CreateAdd(from, beyond), b_.CreateAdd(beyond, reach(*w, to)));
    if (a->total() == w->total() && at.stride == to.stride) meets = b_.CreateAnd(meets, b_.CreateICmpNE(from, b_.getInt64(0)));
    good = b_.CreateAnd(good, b_.CreateNot(meets));
  }
  return good;
}

CoarsenedWarps Emitter::find_coarsening(const Region& region) {
  CoarsenedWarps team = find_coarsening(region, true);
  return (team.stores || plan_.row) && !team.warps ? find_coarsening(region, false) : std::move(team);
}

CoarsenedWarps Emitter::find_coarsening(const Region& region, bool may_store) {
  static const bool without = left_out("coarsening");
  CoarsenedWarps team;
  const uint32_t warps = plan_.warps();
  // Of rows that are filled up every warp must have as many.
  const bool whole = plan_.row ? plan_.row < kLanes && plan_.lanes() % kLanes == 0 && !may_store : plan_.only_whole_warps();
  if (without || tells() || !whole || warps < 2 || runs_once(region) || !processor_.avx) return team;
  team.together.assign(flow_.nodes.size(), 0);
  std::vector<uint32_t> work;
  const auto visit = [&](uint32_t n) {
    const Node& node = flow_.nodes[n];
    if (!inside(n) || team.together[n]) return;
    const bool ends = region.exit_node == static_cast<int32_t>(n), all_leave = leaves_at_end(region, node);
    if (ends ? !ends_plainly(region) : node.ends != End::Fall && node.ends != End::Branch && !all_leave) return;
    if (node.polls || (node.ends == End::Fall && node.next.empty())) return;
    for (uint32_t k = node.begin; k < (node.last ? node.end - 1 : node.end); ++k)
      if (!suits_coarsening(flow_.code->insns[k], may_store)) return;
    team.together[n] = 1;
    work.push_back(n);
  };
  visit(region.entry);
  size_t instructions = 0, vectors = 0;
  team.written = Bits(flow_.variables.size());
  while (!work.empty()) {
    const uint32_t n = work.back();
    work.pop_back();
    const Node& node = flow_.nodes[n];
    instructions += node.end - node.begin;
    size_t bytes = 0;
    node.live_in.each([&](size_t v) { bytes += shapes_.variables[v].runs == 0 ? flow_.variables[v].bytes : 0u; });
    vectors = std::max(vectors, processor_.wide ? bytes / 2 : bytes);
    for (uint32_t k = node.begin; k < node.end; ++k)
      for (const Slot& s : flow_.slots[k])
        if (const auto v = flow_.variable(s.at); s.written && v) team.written.add(*v);
    if (region.exit_node != static_cast<int32_t>(n))
      for (uint32_t s : node.next) visit(s);
  }
  team.streams = only_streams(region, team);
  const size_t registers = processor_.wide ? 20 : team.streams ? 16 : 10;
  const std::vector<Access> all = accesses_together(flow_, region, team.together, [&](const vm::Insn& i) { return access_of(i); });
  team.stores = std::ranges::any_of(all, [](const Access& a) { return !a.load; });
  const bool on_lines = team.streams && std::ranges::all_of(all, [](const Access& a) { return kLanes * a.total() < 64; });
  const bool in_steps =
      team.stores && vectors == 0 && std::ranges::any_of(region.nodes, [&](uint32_t n) { return team.together[n] && in_loop(n); });
  // A block's rows beside one another: hosts like long stretches.
  const bool in_rows = team.streams && processor_.wide && !team.stores;
  size_t most = in_steps || ((on_lines || in_rows) && warps % kMostOnLines == 0) ? kMostOnLines : kMostWarps;
  while (most > 1 && (most > warps || most * vectors > registers || most * instructions > kMostTogether)) most /= 2;
  if (most < 2) return team;
  for (uint32_t n : region.nodes)
    for (uint32_t k = flow_.nodes[n].begin; team.together[n] && k < flow_.nodes[n].end; ++k)
      team.counts = team.counts || counts(flow_.code->insns[k]);
  if (team.counts && (plan_.row || !only_counts(region))) return team;
  if (team.stores && !stores_in_turn(region, team)) return team;
  find_steps(region, team);
  if (!gains_from_coarsening(region, team) || !hides_nothing(region, team)) return team;
  team.warps = static_cast<int>(most);
  return team;
}

// A warp that is through has nothing to find out for the others.
bool Emitter::ends_plainly(const Region& region) const {
  if (region.exit_to >= 0 || region.exit_node < 0) return true;
  const Node& node = flow_.nodes[static_cast<size_t>(region.exit_node)];
  return node.ends == End::Barrier ? !node.last->mods().red : of_block(node.last->guard, 0);
}

}  // namespace warpbeam::jit
