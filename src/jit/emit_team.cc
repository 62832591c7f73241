// Warps side by side. A warp runs through a region before the next one begins; where a part of it only reads and
// computes, several warps can go through that together, a step of each in turn. They share what they load, as a row of a
// tile, and what they read one after the other lies together, where a warp by itself would jump, as in a grid-stride loop.
//
// Nothing that a team does shows before it is through (what it counts in shared memory: emit_counts.cc), and it goes on
// only while all of its lanes go the same way. When lanes part, its warps go on one by one from there; when one comes to
// anything unusual, they begin the region again.
//
// A team that goes through arrays side by side may store, too, where what it stores in one round is not what it accesses
// elsewhere in that round: each round looks whether all is well before the first store, and when it is not the warps go on
// one by one from the beginning of the round.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Kind;
using isa::Space;
using llvm::BasicBlock;

namespace {

constexpr size_t kMostWarps = 4;
constexpr size_t kMostOnLines = 8;      // where several read one line, or have nothing to remember from round to round but where they are
constexpr size_t kMostTogether = 800;   // instructions, each warp's counted
constexpr size_t kFewestShared = 8;     // loads of one place by all that are worth it
constexpr size_t kMostInARow = 8;       // bytes of a lane
constexpr size_t kMostPairs = 24;       // of what is stored and what else is accessed in a round
constexpr uint32_t kMostFailures = 4;   // in a block, after which its warps stay by themselves

bool parameter(const vm::Insn& i) {
  const Space space = i.mods().space;
  return i.op[1] < 0 && (space == Space::Param || space == Space::ParamEntry || space == Space::ParamFunc);
}

bool unchanging(const vm::Insn& i) { return i.mods().space == Space::Const || says(*i.source->form.row, ".nc"); }

bool one_value(const Shape& s) { return !s.unset && s.uniform() && s.reach == Reach::Block; }

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
bool Emitter::suits_team(const vm::Insn& i, bool may_store) const {
  if (flow_.says_nothing(i)) return true;
  if (counts(i)) return !watch_ || (counts_banks(i) && (counts_places(i) || shapes_.source(i.op[1], i.base_width).runs == 0));
  if (i.call || i.fn == flow_.services->read_special) return false;
  size_t shared = 0, written = 0;
  for (const Slot& s : flow_.slots[number_of(i)]) {
    const auto v = flow_.variable(s.at);
    if (!s.written || !v) continue;
    ++written;
    shared += one_value(shapes_.variables[*v]);
  }
  if (shared && shared != written) return false;
  if (i.fn == flow_.services->not_pred) return true;
  const isa::Row& row = *i.source->form.row;
  if (row.kind == Kind::Memory) {
    if (row.cls == isa::Class::Misc || flow_.cell_access(i) || (row.cls == isa::Class::Load && parameter(i))) return true;
    const std::optional<Access> a = access_of(i);
    const isa::Sem sem = i.mods().sem;
    if (a && !a->load && (!may_store || a->shared || i.op[1] < 0 || i.guard >= 0)) return false;
    if (!a || may_be_local(*a) || !counts_places(i) || (sem != isa::Sem::None && sem != isa::Sem::Weak) || says(row, ".volatile")) return false;
    return i.op[1] < 0 || shapes_.source(i.op[1], i.base_width).runs > 0;
  }
  if (row.kind != Kind::Lane && row.kind != Kind::Move && row.kind != Kind::Convert && row.kind != Kind::Address && row.kind != Kind::Select &&
      row.kind != Kind::Compare)
    return false;
  return shapes_.has_ir(i) || (row.kind == Kind::Lane && i.type() == isa::Type::F32 && (says(row, ".approx") || says(row, ".full")) &&
                               approximation(row.opcode, says(row, ".full"), i.mods().ftz));
}

// A warp that is through has nothing to find out for the others.
bool Emitter::ends_plainly(const Region& region) const {
  if (region.exit_to >= 0 || region.exit_node < 0) return true;
  const Node& node = flow_.nodes[static_cast<size_t>(region.exit_node)];
  return node.ends == End::Barrier ? !node.last->mods().red : of_block(node.last->guard, 0);
}

// Warps that come there are through with the kernel, and no barrier waits for others.
bool Emitter::leaves_at_end(const Region& region, const Node& node) const {
  return region.exit_to < 0 && region.exit_node < 0 && node.ends == End::Leave && node.last->guard < 0;
}

// Has each warp a number of rounds of its own, as where it goes through what the warps before it have left?
bool Emitter::counts_for_itself(const Team& team, uint32_t first, uint32_t last) const {
  for (uint32_t b = first; b <= last; ++b) {
    const Node& node = flow_.nodes[b];
    if (!team.together[b] || node.ends != End::Branch || node.last->guard < 0) continue;
    const Shape way = team.shapes->source(node.last->guard, 0);
    const bool leaves = std::ranges::any_of(node.next, [&](uint32_t s) { return s < first || s > last; });
    if (leaves && way.uniform() && way.reach == Reach::Warp) return true;
  }
  return false;
}

// Loops that read memory, or many loads of the same places.
bool Emitter::gains_from_team(const Region& region, const Team& team) const {
  const auto loads = [&](uint32_t from, uint32_t to, bool same) {
    size_t n = 0;
    for (uint32_t b = from; b <= to; ++b) {
      if (!team.together[b]) continue;
      for (uint32_t k = flow_.nodes[b].begin; k < flow_.nodes[b].end; ++k) {
        const vm::Insn& i = flow_.code->insns[k];
        if (flow_.says_nothing(i) || flow_.cell_access(i) || !access_of(i)) continue;
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
      if (s <= b && inside(s) && team.together[s] && !counts_for_itself(team, s, b) && loads(s, b, false)) return true;
  }
  if (whole && team.stores && ends_plainly(region) && accesses_in_a_row(region, team)) return true;
  if (watch_) return false;  // what each counts would be more than what they share
  return whole && ends_plainly(region) && loads(region.nodes.front(), region.nodes.back(), true) >= kFewestShared;
}

// What the team's warps access side by side.
template <class F>
static std::vector<Access> accesses_together(const Flow& flow, const Region& region, const std::vector<char>& together, F access_of) {
  std::vector<Access> all;
  for (uint32_t b : region.nodes)
    for (uint32_t k = flow.nodes[b].begin; together[b] && k < flow.nodes[b].end; ++k) {
      const vm::Insn& i = flow.code->insns[k];
      if (flow.says_nothing(i) || flow.cell_access(i)) continue;
      if (const std::optional<Access> a = access_of(i)) all.push_back(*a);
    }
  return all;
}

// All that it loads lies one behind the other in global memory, which is slower than any register that is put aside.
bool Emitter::only_streams(const Region& region, const Team& team) const {
  const std::vector<Access> all = accesses_together(flow_, region, team.together, [&](const vm::Insn& i) { return access_of(i); });
  const auto streams = [&](const Access& a) {
    const vm::Insn& i = *a.insn;
    return !a.shared && i.op[1] >= 0 && shapes_.source(i.op[1], i.base_width).stride == static_cast<int64_t>(a.total());
  };
  return !all.empty() && std::all_of(all.begin(), all.end(), streams);
}

// What warps access lies behind what the warps before them do, and is so little that one check for all is worth something.
bool Emitter::accesses_in_a_row(const Region& region, const Team& team) const {
  return std::ranges::all_of(accesses_together(flow_, region, team.together, [&](const vm::Insn& i) { return access_of(i); }), [&](const Access& a) {
    const Shape s = team.shapes->source(a.insn->op[1], a.insn->base_width);
    return a.total() <= kMostInARow && s.paced && s.pace == s.stride * kLanes;
  });
}

// What the rest of the region writes is not what the team reads.
bool Emitter::hides_nothing(const Region& region, Team& team) const {
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
      const vm::EngineServices& sv = *flow_.services;
      if (flow_.says_nothing(i) || i.fn == sv.not_pred || i.fn == sv.read_special || flow_.cell_access(i) || flow_.fixed_local.contains(&i)) continue;
      const bool computes = i.call ? flow_.is_library_call(i) : suits_team(i);  // a team that counts: what counts commutes
      if (computes) continue;
      if (!i.call) {
        const isa::Row& row = *i.source->form.row;
        const Space space = i.mods().space;
        if (row.kind == Kind::Warp || row.kind == Kind::Lane || row.kind == Kind::Convert || row.kind == Kind::Select || row.kind == Kind::Compare ||
            row.kind == Kind::Move || (row.kind == Kind::Memory && (row.cls == isa::Class::Load || space == Space::Local)) ||
            (row.kind == Kind::Barrier && (row.cls == isa::Class::Fence || i.watched == vm::Watched::WarpSync)))
          continue;
        const bool shared = space == Space::Shared || space == Space::SharedCluster;
        if (shared && (row.kind == Kind::Memory || row.kind == Kind::Atomic)) {
          if (reads_shared) return false;
          continue;
        }
        const int64_t root = row.kind == Kind::Memory || row.kind == Kind::Atomic ? plan_.roots.access(flow_, i) : Roots::kNone;
        const bool apart = root >= 0 && !reads_unknown && std::none_of(team.reads.begin(), team.reads.end(), [&](const Access& a) { return a.root == root; });
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
bool Emitter::stores_in_turn(const Region& region, const Team& team) const {
  if (watch_ || !team.streams || team.counts) return false;
  size_t pairs = 0;
  for (uint32_t n : region.nodes) {
    if (!team.together[n]) continue;
    const Node& node = flow_.nodes[n];
    const uint32_t end = node.last ? node.end - 1 : node.end;
    const Straight s = straight(node.begin, end);
    bool stored = false;
    size_t known = 0;
    for (uint32_t k = node.begin; k < end; ++k) {
      const vm::Insn& i = flow_.code->insns[k];
      if (flow_.says_nothing(i) || flow_.cell_access(i)) continue;
      if (const std::optional<Access> a = access_of(i)) {
        if (i.guard >= 0 || known == s.accesses.size() || s.accesses[known].insn != &i || shapes_.source(i.op[1], i.base_width).runs != 1) return false;
        ++known;
        stored = stored || !a->load;
        continue;
      }
      if (!stored || i.fn == flow_.services->not_pred || std::ranges::find(s.ahead, k) != s.ahead.end()) continue;
      const bool widens = (i.source->form.row->kind == Kind::Convert && isa::bytes_of(i.type()) == 8) || half_of(i) == isa::Half::Wide;
      if (widens) return false;  // and may find that it wraps around
    }
    for (const auto& [w, a] : stores_and_others(s.accesses)) {
      ++pairs;
      const int64_t apart = std::abs(w->insn->imm - a->insn->imm);
      const bool same = w->insn->op[1] == a->insn->op[1];
      if (same && (apart ? apart < static_cast<int64_t>(kLanes * kMostOnLines * std::max(w->total(), a->total())) : w->total() != a->total())) return false;
    }
  }
  return pairs <= kMostPairs;
}

// What is stored is not what is accessed elsewhere in the node, as far as all of the team's warps go, which lie in a row.
Emitter::V Emitter::stores_meet_nothing(Team& team, const Straight& s) {
  V good = b_.getTrue();
  as_member(team, 0);
  for (const auto& [w, a] : stores_and_others(s.accesses)) {
    if (w->insn->op[1] == a->insn->op[1]) continue;  // stores_in_turn
    const uint64_t bytes = kLanes * static_cast<uint64_t>(team.warps);
    const V from = b_.CreateSub(address_of(*a).run[0], address_of(*w).run[0]);
    // From a's end before w to w's end before a.
    V meets = b_.CreateICmpULT(b_.CreateAdd(from, b_.getInt64(bytes * a->total() - 1)), b_.getInt64(bytes * (a->total() + w->total()) - 1));
    if (a->total() == w->total()) meets = b_.CreateAnd(meets, b_.CreateICmpNE(from, b_.getInt64(0)));
    good = b_.CreateAnd(good, b_.CreateNot(meets));
  }
  return good;
}

Emitter::Team Emitter::find_team(const Region& region) {
  Team team = find_team(region, true);
  return team.stores && !team.warps ? find_team(region, false) : std::move(team);
}

Emitter::Team Emitter::find_team(const Region& region, bool may_store) {
  static const bool without = left_out("teams");
  Team team;
  const uint32_t threads = plan_.block[0] * plan_.block[1] * plan_.block[2], warps = threads / kLanes;
  if (without || tells() || threads % kLanes || warps < 2 || runs_once(region) || !processor_.avx) return team;
  team.together.assign(flow_.nodes.size(), 0);
  std::vector<uint32_t> work;
  const auto visit = [&](uint32_t n) {
    const Node& node = flow_.nodes[n];
    if (!inside(n) || team.together[n]) return;
    const bool ends = region.exit_node == static_cast<int32_t>(n), all_leave = leaves_at_end(region, node);
    if (ends ? !ends_plainly(region) : node.ends != End::Fall && node.ends != End::Branch && !all_leave) return;
    if (node.ends == End::Fall && node.next.empty()) return;
    for (uint32_t k = node.begin; k < (node.last ? node.end - 1 : node.end); ++k)
      if (!suits_team(flow_.code->insns[k], may_store)) return;
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
  const bool in_steps = team.stores && vectors == 0 && std::ranges::any_of(region.nodes, [&](uint32_t n) { return team.together[n] && in_loop(n); });
  // A block's rows beside one another: hosts like long stretches.
  const bool in_rows = team.streams && processor_.wide && !team.stores;
  size_t most = in_steps || ((on_lines || in_rows) && warps % kMostOnLines == 0) ? kMostOnLines : kMostWarps;
  while (most > 1 && (most > warps || most * vectors > registers || most * instructions > kMostTogether)) most /= 2;
  if (most < 2) return team;
  for (uint32_t n : region.nodes)
    for (uint32_t k = flow_.nodes[n].begin; team.together[n] && k < flow_.nodes[n].end; ++k) team.counts = team.counts || counts(flow_.code->insns[k]);
  if (team.counts && !only_counts(region)) return team;
  if (team.stores && !stores_in_turn(region, team)) return team;
  find_steps(region, team);
  if (!gains_from_team(region, team) || !hides_nothing(region, team)) return team;
  team.warps = static_cast<int>(most);
  return team;
}

void Emitter::as_member(Team& team, size_t m) {
  const auto change = [&](Member& member) {
    std::swap(storage_, member.storage);
    std::swap(windows_, member.windows);
    std::swap(warp_, member.warp);
    std::swap(kept_piece_, member.kept_piece);
  };
  if (team.member == m) return;
  if (team.member != Team::kNobody) change(team.members[team.member]);
  if (m != Team::kNobody) change(team.members[m]);
  team.member = m;
}

// The region up to where the team is through or its warps part.
void Emitter::emit_team(const Region& region, Team& team, V turn, BasicBlock* single, BasicBlock* done) {
  llvm::IRBuilder<> top(entry_, entry_->begin());
  const auto counter = [&] {
    auto* a = top.CreateAlloca(b_.getInt32Ty());
    top.CreateStore(b_.getInt32(0), a);
    return a;
  };
  team.left = counter();
  team.resume = counter();
  team.failures = counter();
  const size_t count = static_cast<size_t>(team.warps);
  team.taken = scratch(llvm::ArrayType::get(b_.getInt32Ty(), count));
  team.parted.assign(flow_.variables.size(), {});
  team.blocks.assign(flow_.nodes.size(), nullptr);
  const uint32_t warps = plan_.block[0] * plan_.block[1] * plan_.block[2] / kLanes;
  auto* ready = BasicBlock::Create(c_, "team", f_);
  team.apart = BasicBlock::Create(c_, "apart", f_);
  team.single = single;
  V go = b_.CreateICmpEQ(b_.CreateLoad(b_.getInt32Ty(), team.left), b_.getInt32(0));
  go = b_.CreateAnd(go, b_.CreateICmpULE(turn, b_.getInt32(warps - static_cast<uint32_t>(count))));
  go = b_.CreateAnd(go, b_.CreateICmpULT(b_.CreateLoad(b_.getInt32Ty(), team.failures), b_.getInt32(kMostFailures)));
  for (size_t m = 0; m < count; ++m) {
    Member member;
    member.warp = warp_at(b_.CreateAdd(turn, b_.getInt32(static_cast<uint32_t>(m))));
    if (lanes_leave_) {
      const V at = b_.CreateGEP(b_.getInt32Ty(), context_field(offsetof(Context, live), b_.getPtrTy(), true), member.warp);
      go = b_.CreateAnd(go, b_.CreateICmpEQ(machine_load(b_.getInt32Ty(), at), b_.getInt32(~0u)));
    }
    member.storage = storage_;
    for (size_t v = 0; m > 0 && v < storage_.size(); ++v) {
      if (one_value(shapes_.variables[v])) continue;
      for (llvm::AllocaInst*& place : member.storage[v])
        if (place) place = top.CreateAlloca(place->getAllocatedType());
    }
    team.members.push_back(std::move(member));
  }
  for (const Access& w : team.writes)
    for (const Access& r : team.reads) {
      const V where = lo_of(range_of(w));
      go = b_.CreateAnd(go, b_.CreateAnd(b_.CreateICmpNE(where, b_.getInt64(0)), b_.CreateICmpNE(where, lo_of(range_of(r)))));
    }
  if (team.counts) go = b_.CreateAnd(go, begin_counts(team));
  b_.CreateCondBr(go, ready, single);
  b_.SetInsertPoint(ready);
  if (team.counts) clear_counts(team);
  for (size_t m = 0; m < count; ++m) {
    as_member(team, m);
    warp_ = warp_at(b_.CreateAdd(turn, b_.getInt32(static_cast<uint32_t>(m))));  // again, where its turn is known to be low
    begin_warp(region);
  }
  for (uint32_t n : region.nodes)
    if (team.together[n]) team.blocks[n] = BasicBlock::Create(c_, "together", f_);
  team.finish = BasicBlock::Create(c_, "finish", f_);
  b_.CreateBr(team.blocks[region.entry]);
  apart_ = team.apart;
  team_ = &team;
  for (uint32_t n : region.nodes)
    if (team.together[n]) emit_together(region, team, n);
  apart_ = nullptr;

  b_.SetInsertPoint(team.finish);
  for (size_t m = 0; m < count; ++m) {
    as_member(team, m);
    active_ = b_.getInt32(~0u);
    team.written.each([&](size_t v) {
      if (steps_along(static_cast<uint32_t>(v))) b_.CreateStore(one_step_on(static_cast<uint32_t>(v)), storage_[v][0]);
    });
    store_kept(region);
  }
  if (team.counts) settle_counts(team);
  team_ = nullptr;
  settle_team(team, true);
  b_.CreateStore(b_.getTrue(), any_live_);
  b_.CreateBr(done);

  b_.SetInsertPoint(team.apart);
  settle_team(team, false);
  name_counters(team);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), team.failures), b_.getInt32(1)), team.failures);
  b_.CreateStore(b_.getInt32(static_cast<uint32_t>(count)), team.left);
  b_.CreateBr(single);
  as_member(team, 0);
}

// A node for all members, instruction by instruction.
void Emitter::emit_together(const Region& region, Team& team, uint32_t n) {
  const Node& node = flow_.nodes[n];
  const size_t count = team.members.size();
  node_ = n;
  b_.SetInsertPoint(team.blocks[n]);
  active_ = b_.getInt32(~0u);
  watch_times_ = count;
  watch_node();
  turns_ahead_.clear();
  // What the warps have before a node that stores, which some may not be able to go through with the others.
  struct Kept {
    llvm::AllocaInst* place;
    V value;
  };
  std::vector<Kept> before;
  if (team.stores) {
    apart_ = BasicBlock::Create(c_, "before", f_);
    team.written.each([&](size_t v) {
      for (size_t m = 0; m < count && node.live_in.has(v); ++m) {
        as_member(team, m);
        for (llvm::AllocaInst* place : storage_[v])
          if (place) before.push_back({place, b_.CreateLoad(place->getAllocatedType(), place)});
      }
    });
    auto* begin = b_.GetInsertBlock();
    b_.SetInsertPoint(apart_);
    for (const Kept& k : before) b_.CreateStore(k.value, k.place);
    part_before(team, n);
    b_.SetInsertPoint(begin);
  }
  const auto for_all = [&](uint32_t k) {
    return std::ranges::any_of(flow_.slots[k], [&](const Slot& s) {
      const auto v = flow_.variable(s.at);
      return s.written && v && one_value(shapes_.variables[*v]);
    });
  };
  const auto each = [&](uint32_t k) {
    watch_times_ = for_all(k) ? count : 1;
    for (size_t m = 0; m < (for_all(k) ? 1 : count); ++m) {
      as_member(team, m);
      emit_instruction(flow_.code->insns[k]);
    }
    watch_times_ = 1;
  };
  watch_times_ = 1;
  const Straight s = straight(node.begin, node.last ? node.end - 1 : node.end);
  const Decision decision = region.exit_node == static_cast<int32_t>(n) ? Decision{} : decides_in_a_row(team, node);
  const auto decides = [&](uint32_t k) { return decision.compare && std::ranges::find(decision.instructions, k) != decision.instructions.end(); };
  for (uint32_t k = s.begin; k < s.first; ++k)
    if (!decides(k)) each(k);
  auto* likely = llvm::MDBuilder(c_).createBranchWeights(10000, 1);
  V good = b_.getTrue();
  for (size_t m = 0; m < count; ++m) {
    as_member(team, m);
    good = b_.CreateAnd(good, run_ahead(s));
  }
  auto* fast = BasicBlock::Create(c_, "all_well", f_);
  if (const V whole = all_fit_in_a_row(team, s); whole && team.stores) {
    good = b_.CreateAnd(good, b_.CreateAnd(whole, stores_meet_nothing(team, s)));
  } else if (whole) {
    auto* careful = BasicBlock::Create(c_, "one_by_one", f_);
    b_.CreateCondBr(b_.CreateAnd(good, whole), fast, careful, likely);
    b_.SetInsertPoint(careful);
  }
  for (size_t m = 0; m < count && !team.stores; ++m) {
    as_member(team, m);
    good = b_.CreateAnd(good, all_fit(s));
  }
  b_.CreateCondBr(good, fast, apart_, likely);
  b_.SetInsertPoint(fast);
  for (const Access& a : s.accesses) checked_.insert(a.insn);
  for (size_t m = 0; m < count; ++m) {
    as_member(team, m);
    find_windows(s.accesses);
  }
  std::vector<uint32_t> straight_on;
  for (uint32_t k = s.first; k < s.end; ++k)
    if (!decides(k) && std::find(s.ahead.begin(), s.ahead.end(), k) == s.ahead.end()) straight_on.push_back(k);
  // Where it stores, all of a warp's and then the next one's: hosts like small steps through arrays. What others know by the
  // first warp's, and what changes for all of them, is done at once.
  Bits mentioned(flow_.variables.size());
  const auto at_once = [&](uint32_t k) {
    bool yes = false;
    for (const Slot& s : flow_.slots[k])
      if (const auto v = flow_.variable(s.at)) {
        yes = yes || (s.written && (team.steps[*v] || (one_value(shapes_.variables[*v]) && mentioned.has(*v))));
      }
    for (const Slot& s : flow_.slots[k])
      if (const auto v = flow_.variable(s.at)) mentioned.add(*v);
    return yes;
  };
  for (auto from = straight_on.begin(); from != straight_on.end();) {
    mentioned = Bits(flow_.variables.size());
    const auto to = team.stores ? std::find_if(from, straight_on.end(), at_once) : from;
    for (size_t m = 0; m < count; ++m) {
      as_member(team, m);
      for (auto k = from; k != to; ++k)
        if (m == 0 || !for_all(*k)) emit_instruction(flow_.code->insns[*k]);
    }
    if (to == straight_on.end()) break;
    each(*to);
    from = to + 1;
  }
  checked_.clear();
  for (size_t m = 0; m < count; ++m) {
    as_member(team, m);
    windows_.clear();
  }

  const auto go_to = [&](uint32_t to, bool taken) {
    if (inside(to) && team.together[to]) b_.CreateBr(team.blocks[to]);
    else if (region.exit_to == static_cast<int32_t>(to)) b_.CreateBr(team.finish);
    else part_at(team, n, std::vector<V>(count, b_.getInt32(taken ? ~0u : 0)));
  };
  if (region.exit_node == static_cast<int32_t>(n)) {
    for (size_t m = 0; m < count; ++m) {
      as_member(team, m);
      watch_exit(*node.last);
    }
    b_.CreateBr(team.finish);
    return;
  }
  if (leaves_at_end(region, node)) {
    b_.CreateBr(team.finish);
    return;
  }
  if (node.ends == End::Fall) return go_to(node.next[0], true);
  if (decision.compare) {
    auto* quick = BasicBlock::Create(c_, "all_go_on", f_);
    const bool once = team.stores && !in_loop(n);  // the warps at the end of an array can go one by one
    auto* look = once ? apart_ : BasicBlock::Create(c_, "look", f_);
    bool holds = true;
    b_.CreateCondBr(all_go_on(team, *decision.compare, holds), quick, look);
    b_.SetInsertPoint(quick);
    const bool branches = (holds == decision.holds) != node.last->guard_negated;
    watch_times_ = count;
    watch_end(*node.last, b_.getInt32(branches ? ~0u : 0));
    watch_times_ = 1;
    go_to(node.next[branches ? 0 : 1], branches);
    if (once) return;
    b_.SetInsertPoint(look);
    for (uint32_t k : decision.instructions) each(k);
  }
  std::vector<V> taken;
  V all = b_.getTrue(), none = b_.getTrue();
  for (size_t m = 0; m < count; ++m) {
    as_member(team, m);
    taken.push_back(guard_mask(*node.last));
    watch_end(*node.last, taken.back());
    all = b_.CreateAnd(all, b_.CreateICmpEQ(taken.back(), b_.getInt32(~0u)));
    none = b_.CreateAnd(none, b_.CreateICmpEQ(taken.back(), b_.getInt32(0)));
  }
  auto* every = BasicBlock::Create(c_, "all_taken", f_);
  auto* rest = BasicBlock::Create(c_, "not_all_taken", f_);
  auto* nobody = BasicBlock::Create(c_, "none_taken", f_);
  auto* some = BasicBlock::Create(c_, "some_taken", f_);
  b_.CreateCondBr(all, every, rest);
  b_.SetInsertPoint(rest);
  b_.CreateCondBr(none, nobody, some);
  b_.SetInsertPoint(every);
  go_to(node.next[0], true);
  b_.SetInsertPoint(nobody);
  go_to(node.next[1], false);
  b_.SetInsertPoint(some);
  part_at(team, n, taken);
}

// At the node's end each goes on by itself; `taken` lanes of each branch.
void Emitter::part_at(Team& team, uint32_t n, const std::vector<V>& taken) {
  settle_team(team, true);
  for (size_t m = 0; m < taken.size(); ++m)
    b_.CreateStore(taken[m], b_.CreateConstInBoundsGEP2_32(llvm::ArrayType::get(b_.getInt32Ty(), taken.size()), team.taken, 0, static_cast<unsigned>(m)));
  part(team, n, false);
}

// Before the node each goes on by itself, with what it had there.
void Emitter::part_before(Team& team, uint32_t n) {
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), team.failures), b_.getInt32(1)), team.failures);
  part(team, n, true);
}

void Emitter::part(Team& team, uint32_t n, bool before) {
  for (const Team::Point& p : team.points)
    if (p.node == n && p.before == before) {
      b_.CreateBr(p.block);
      return;
    }
  auto* part = BasicBlock::Create(c_, "part", f_);
  b_.CreateBr(part);
  b_.SetInsertPoint(part);
  team.points.push_back({n, before, part});
  const Bits& live = before ? flow_.nodes[n].live_in : flow_.nodes[n].live_out;
  team.written.each([&](size_t v) {
    for (size_t k = 0; live.has(v) && k < 4; ++k) {
      if (!storage_[v][k]) continue;
      auto* type = llvm::ArrayType::get(storage_[v][k]->getAllocatedType(), team.members.size());
      V& all = team.parted[v][k];
      if (!all) all = scratch(type);
      for (size_t m = 0; m < team.members.size(); ++m) {
        as_member(team, m);
        const V value = steps_along(static_cast<uint32_t>(v)) ? one_step_on(static_cast<uint32_t>(v)) : b_.CreateLoad(storage_[v][k]->getAllocatedType(), storage_[v][k]);
        b_.CreateStore(value, b_.CreateConstInBoundsGEP2_32(type, all, 0, static_cast<unsigned>(m)));
      }
    }
  });
  if (team.counts) settle_counts(team);
  b_.CreateStore(b_.getInt32(static_cast<uint32_t>(team.points.size())), team.resume);
  b_.CreateStore(b_.getInt32(static_cast<uint32_t>(team.members.size())), team.left);
  b_.CreateBr(team.single);
}

// A warp of a team that has parted goes on from there.
void Emitter::emit_resumed(const Region& region, Team& team) {
  auto* fresh = block_of(region.entry);
  if (team.points.empty()) {
    b_.CreateBr(fresh);
    return;
  }
  auto* resumed = BasicBlock::Create(c_, "resumed", f_);
  const V point = b_.CreateLoad(b_.getInt32Ty(), team.resume);
  b_.CreateCondBr(b_.CreateICmpEQ(point, b_.getInt32(0)), fresh, resumed);
  b_.SetInsertPoint(resumed);
  b_.CreateStore(b_.getInt32(0), masks_[region.entry]);
  const V which = b_.CreateSub(b_.getInt32(static_cast<uint32_t>(team.members.size())), b_.CreateLoad(b_.getInt32Ty(), team.left));
  const auto mine = [&](llvm::Type* type, V all) {
    return b_.CreateLoad(type, b_.CreateInBoundsGEP(llvm::ArrayType::get(type, team.members.size()), all, {b_.getInt32(0), which}));
  };
  team.written.each([&](size_t v) {
    for (size_t k = 0; k < 4; ++k)
      if (team.parted[v][k]) b_.CreateStore(mine(storage_[v][k]->getAllocatedType(), team.parted[v][k]), storage_[v][k]);
  });
  const V taken = mine(b_.getInt32Ty(), team.taken);
  auto* nowhere = BasicBlock::Create(c_, "nowhere", f_);
  auto* choice = b_.CreateSwitch(point, nowhere, static_cast<unsigned>(team.points.size()));
  b_.SetInsertPoint(nowhere);
  b_.CreateUnreachable();
  for (size_t k = 0; k < team.points.size(); ++k) {
    auto* here = BasicBlock::Create(c_, "point", f_);
    choice->addCase(b_.getInt32(static_cast<uint32_t>(k + 1)), here);
    b_.SetInsertPoint(here);
    node_ = team.points[k].node;
    const Node& node = flow_.nodes[node_];
    if (team.points[k].before) {
      add_lanes(node_, b_.getInt32(~0u));
      b_.CreateBr(block_of(node_));
      continue;
    }
    if (node.ends == End::Fall) {
      add_lanes(node.next[0], b_.getInt32(~0u));
      leave_to({node.next[0]}, false);
      continue;
    }
    add_lanes(node.next[0], taken);
    add_lanes(node.next[1], b_.CreateNot(taken));
    leave_to(node.next, false);
  }
}

}  // namespace warpbeam::jit
