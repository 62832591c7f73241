// Idea: a block of eight threads leaves three quarters of a warp idle, and going on with the next block takes longer than what it does.
// So a warp runs as many of the row's blocks as fit into it, each in lanes of its own (pack_shapes): `blockIdx.x * 8 + threadIdx.x` grows
// from lane to lane as it does in a block of 32.
// Precondition: one region without shared or local memory, whose lanes go one way; what a pack stores is nothing that it accesses
// otherwise, so that the order of its blocks does not matter.
// Postcondition: nothing shows before the first store, and nothing can go wrong from there on.
// Fallback: where anything is unusual before, the blocks are run one by one; after some failures in a row of blocks they stay so.
#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
namespace In = llvm::Intrinsic;

namespace {

constexpr uint32_t kMostFailures = 4;  // in a row of blocks, after which they stay by themselves
constexpr size_t kMostPairs = 24;      // of what is stored and what else is accessed

}  // namespace

// Does each instruction do the same for lanes of several blocks, without shared or local memory, and do all lanes go one way?
bool Emitter::suits_pack(uint32_t n) const {
  const Node& node = flow_.nodes[n];
  const bool branches = node.ends == End::Branch || node.ends == End::Leave;
  if (!inside(n) || node.polls || (!branches && (node.ends != End::Fall || node.next.empty()))) return false;
  if (node.ends == End::Branch && shapes_.divergent[n] && in_loop(n)) return false;  // to go so far would often be in vain
  for (uint32_t k = node.begin; k < node.end; ++k) {
    const vm::Insn& i = flow_.code->insns[k];
    for (const Slot& s : flow_.slots[k]) {
      using isa::Special;
      const Source source = flow_.source(s.at, s.bytes);
      if (source.kind != SourceKind::Special) continue;
      const Special special = source.special->special;
      if (source.special->kind != vm::SlotKind::Special ||
          (special != Special::Tid && special != Special::Ctaid && special != Special::Nctaid))
        return false;
    }
    if (&i == node.last) continue;
    const std::optional<Access> a = i.silent() ? std::nullopt : access_of(i);
    if ((a && a->shared) || counts(i) || !suits_coarsening(i, true)) return false;
  }
  return true;
}

std::optional<Pack> Emitter::find_pack(const Region& region) const {
  Pack pack;
  pack.together.assign(flow_.nodes.size(), 0);
  std::vector<uint32_t> work;
  const auto visit = [&](uint32_t n) {
    if (!pack.together[n] && suits_pack(n)) pack.together[n] = 1, work.push_back(n);
  };
  visit(region.entry);
  bool ends = false;
  size_t pairs = 0;
  std::vector<uint32_t> stores;
  while (!work.empty()) {
    const uint32_t n = work.back();
    work.pop_back();
    const Node& node = flow_.nodes[n];
    ends = ends || node.ends == End::Leave;
    std::vector<Access> reads;
    bool writes = false;
    for (uint32_t k = node.begin; k < node.end; ++k) {
      const vm::Insn& i = flow_.code->insns[k];
      const std::optional<Access> a = i.silent() ? std::nullopt : access_of(i);
      if (!a) continue;
      const Shape at = shapes_.source(i.op[1], i.base_width);
      if (a->load && i.mods().space != isa::Space::Const && !says(*i.row(), ".nc")) reads.push_back(*a);
      if (!a->load && (at.runs != 1 || at.stride != static_cast<int64_t>(a->total()))) return std::nullopt;
      writes = writes || !a->load;
    }
    if (writes) stores.push_back(n);
    else pack.reads.insert(pack.reads.end(), reads.begin(), reads.end());
    if (writes && !known_before_stores(node, pairs)) return std::nullopt;
    for (uint32_t s : node.next) visit(s);
  }
  // Behind a store there is nothing but the way out.
  for (const uint32_t n : stores) {
    if (flow_.nodes[n].ends == End::Branch || flow_.nodes[n].last) {
      if (flow_.nodes[n].ends != End::Leave || flow_.nodes[n].last->guard >= 0) return std::nullopt;
    }
    const std::vector<char> after = reached(n, false);
    for (uint32_t b = 0; b < after.size(); ++b) {
      if (!after[b]) continue;
      const Node& node = flow_.nodes[b];
      const bool plain = node.ends == End::Fall || (node.ends == End::Leave && node.last->guard < 0);
      for (uint32_t k = node.begin; k < (node.last ? node.end - 1 : node.end); ++k)
        if (!flow_.code->insns[k].silent()) return std::nullopt;
      if (!plain || !pack.together[b]) return std::nullopt;
    }
  }
  if (stores.empty() || !ends || pairs > kMostPairs) return std::nullopt;
  return pack;
}

// As many blocks as fit, if there are so many; then it goes on with the next ones.
void Emitter::emit_pack(const Region& region) {
  change_shapes(*plan_.packed, registers_.packed);
  if (const std::optional<Pack> pack = find_pack(region)) {
    uses(Technique::BlocksInAWarp);
    llvm::IRBuilder<> top(w_.entry, w_.entry->begin());
    row_.failures = top.CreateAlloca(b_.getInt32Ty());
    auto *together = new_block("pack"), *one = new_block("one_block"), *finish = new_block("pack_through");
    const V left = context_field(offsetof(Context, next.more), b_.getInt64Ty(), false);
    const V failures = b_.CreateLoad(b_.getInt32Ty(), row_.failures);
    go_on_if(b_.CreateAnd(b_.CreateICmpUGE(left, b_.getInt64(shapes_.packed - 1)), b_.CreateICmpULT(failures, b_.getInt32(kMostFailures))),
             together, one);
    at_.warp = b_.getInt32(0);
    begin_warp(region);
    std::vector<BasicBlock*> blocks(flow_.nodes.size());
    for (uint32_t n : region.nodes)
      if (pack->together[n]) blocks[n] = new_block("packed");
    b_.CreateBr(blocks[region.entry]);
    as_.apart = new_block("pack_parts");
    for (uint32_t n : region.nodes)
      if (pack->together[n]) emit_packed(region, *pack, n, blocks, finish);
    b_.SetInsertPoint(std::exchange(as_.apart, nullptr));
    b_.CreateStore(b_.CreateAdd(failures, b_.getInt32(1)), row_.failures);
    b_.CreateBr(one);
    b_.SetInsertPoint(finish);
    go_on_by(shapes_.packed - 1);
    end_block();
    b_.SetInsertPoint(one);
  }
  change_shapes(*plan_.packed, registers_.packed);
}

void Emitter::emit_packed(const Region& region, const Pack& pack, uint32_t n, const std::vector<BasicBlock*>& blocks, BasicBlock* finish) {
  const Node& node = flow_.nodes[n];
  const auto& insns = flow_.code->insns;
  at_.node = n;
  at_.active = b_.getInt32(~0u);
  b_.SetInsertPoint(blocks[n]);
  interleaved_.clear();
  const Straight s = straight(node.begin, node.last ? node.end - 1 : node.end);
  for (uint32_t k = s.begin; k < s.first; ++k) emit_instruction(insns[k]);
  if (!s.accesses.empty()) {
    V good = b_.CreateAnd(b_.CreateAnd(run_ahead(s), all_fit(s)), stores_meet_nothing(s, 1));
    for (const Access& w : s.accesses)
      for (const Access& r : pack.reads)
        if (!w.load) good = b_.CreateAnd(good, b_.CreateICmpNE(lo_of(range_of(w)), lo_of(range_of(r))));
    auto* fast = new_block("all_well");
    go_on_if(good, fast, as_.apart, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
    for (const Access& a : s.accesses) as_.checked.insert(a.insn);
    find_windows(s.accesses);
    for (uint32_t k = s.first; k < s.end; ++k)
      if (std::ranges::find(s.ahead, k) == s.ahead.end()) emit_instruction(insns[k]);
    as_.checked.clear();
    named_.windows.clear();
  }
  const auto way = [&](uint32_t to) { return inside(to) && pack.together[to] ? blocks[to] : as_.apart; };
  if (node.ends == End::Fall) {
    b_.CreateBr(way(node.next[0]));
    return;
  }
  const bool leaves = node.ends == End::Leave;
  if (leaves && node.last->guard < 0) {
    b_.CreateBr(finish);
    return;
  }
  const V taken = guard_mask(*node.last);
  auto* rest = new_block("not_all_taken");
  b_.CreateCondBr(b_.CreateICmpEQ(taken, b_.getInt32(~0u)), leaves ? finish : way(node.next[0]), rest);
  b_.SetInsertPoint(rest);
  b_.CreateCondBr(b_.CreateICmpEQ(taken, b_.getInt32(0)), way(node.next[leaves ? 0 : 1]), as_.apart);
}

}  // namespace warpbeam::jit
