// Idea: loads whose addresses differ by constants, as in a stencil, read one stretch of memory once, and each is a shift of
// registers: a vector that lies across two lines of the cache costs twice.
// Precondition: weak loads of one element of 4 or 8 bytes (of smaller ones a warp's fill no more than a register), one behind the
// other from lane to lane, by a full warp, checked together (emit_straight.cc), with nothing between them that writes or waits.
// Postcondition: each register holds what its load would have given.
// Fallback: fewer than three places, or parts of warps, are loads by themselves.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Kind;
using llvm::BasicBlock;

namespace {

constexpr int kRegister = 64;  // bytes
constexpr size_t kFewest = 3;  // windows that are worth it

// Nothing that a later load must come after.
bool lets_loads_pass(const vm::Insn& i) {
  const isa::Effects e = i.effects();
  const bool ordered = e.reads && i.row() && i.row()->kind == Kind::Memory && !is_weak_access(i);
  return !ordered && !e.writes && !e.orders && !e.meets && !e.waits && (!e.leads || i.step == vm::Step::Jump);
}

bool plain_load(const Access& a) { return a.load && a.count == 1 && is_weak_access(*a.insn); }

}  // namespace

void Emitter::find_windows(const std::vector<Access>& accesses) {
  named_.windows.clear();
  static const bool without = left_out("windows");
  if (without || watch_ || !wide_host()) return;
  std::vector<char> done(accesses.size());
  for (size_t k = 0; k < accesses.size(); ++k) {
    const Access& a = accesses[k];
    if (done[k] || (a.memory != 4 && a.memory != 8) || a.insn->op[1] < 0 || !plain_load(a)) continue;
    const Shape shape = shapes_.source(a.insn->op[1], a.insn->base_width);
    if (shape.runs != 1 || shape.stride != a.memory) continue;
    int64_t low = a.insn->imm, high = low;
    std::vector<const vm::Insn*> members{a.insn};
    std::set<int64_t> places{low};
    const vm::Insn* last = a.insn;
    for (size_t o = k + 1; o < accesses.size(); ++o) {
      const Access& b = accesses[o];
      while (last < b.insn && lets_loads_pass(*last)) ++last;
      if (last != b.insn) break;
      if (b.insn->op[1] != a.insn->op[1] || b.insn->base_width != a.insn->base_width || b.memory != a.memory || b.shared != a.shared ||
          !plain_load(b) || done[o] || (b.insn->imm - low) % a.memory)
        continue;
      const int64_t from = std::min(low, b.insn->imm), to = std::max(high, b.insn->imm);
      if (to - from > kLanes * a.memory) continue;
      low = from;
      high = to;
      done[o] = 1;
      members.push_back(b.insn);
      places.insert(b.insn->imm);
    }
    if (places.size() < kFewest) continue;
    const auto all = std::make_shared<Windows>();
    all->low = low;
    all->more = static_cast<int>((high - low) / a.memory);
    for (const vm::Insn* i : members) named_.windows[i] = all;
  }
}

// The load's 32 lanes from the stretch; null: it is not one of several.
V Emitter::from_windows(const Access& a, V pointer) {
  const auto found = named_.windows.find(a.insn);
  if (found == named_.windows.end()) return nullptr;
  Windows& w = *found->second;
  const int size = kRegister / a.memory;  // elements of a register
  auto* part = llvm::FixedVectorType::get(lane_type(a.memory), static_cast<unsigned>(size));
  const int64_t from = a.insn->imm - w.low;
  uses(Technique::Windows);
  if (w.parts.empty()) {
    const V first = b_.CreateGEP(b_.getInt8Ty(), pointer, b_.getInt64(static_cast<uint64_t>(-from)));
    for (int k = 0; k < kLanes + w.more; k += size) {
      const V at = b_.CreateGEP(b_.getInt8Ty(), first, b_.getInt64(static_cast<uint64_t>(k) * a.memory));
      const int here = std::min(size, kLanes + w.more - k);
      if (here == size) {
        w.parts.push_back(user(b_.CreateAlignedLoad(part, at, llvm::Align(a.memory))));
        continue;
      }
      std::vector<llvm::Constant*> bits;
      for (int l = 0; l < size; ++l) bits.push_back(b_.getInt1(l < here));
      w.parts.push_back(
          user(b_.CreateMaskedLoad(part, at, llvm::Align(a.memory), llvm::ConstantVector::get(bits), llvm::Constant::getNullValue(part))));
    }
  }
  const int shift = static_cast<int>(from / a.memory);
  const auto shifted = [&](int at) {
    const size_t k = static_cast<size_t>(at / size);
    if (at % size == 0) return w.parts[k];
    return b_.CreateShuffleVector(w.parts[k], w.parts[k + 1], llvm::createSequentialMask(at % size, size, 0));
  };
  std::vector<V> parts;
  for (int at = 0; at < kLanes; at += size) parts.push_back(shifted(shift + at));
  return llvm::concatenateVectors(b_, parts);
}

void Emitter::name_line(V address, bool stored, uint32_t closeness) {
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                     {b_.CreateIntToPtr(address, b_.getPtrTy()), b_.getInt32(stored), b_.getInt32(closeness), b_.getInt32(1)});
}

// Where each warp of a block has a row of its own, hosts see jumps from row to row instead of the few bytes that each
// row goes on by in the next block, so those are named. Where a block reads one stretch, they see it, but lose sight of it
// where the block has more to do behind a barrier.
void Emitter::name_next_blocks(const Access& a, const Value& address) {
  constexpr int64_t kLine = 64;
  constexpr int64_t kAhead = 512, kFurther = 4096;  // bytes, of rows and of a stretch
  static const bool without = left_out("next_blocks");
  if (without || watch_ || a.shared || a.count != 1 || (a.memory != 4 && a.memory != 8)) return;
  const auto& [x, y, z] = plan_.block;
  const int64_t row = x * address.stride, run = kLanes / address.runs * address.stride;
  const bool rows = y * z > 1 && row <= kAhead && (x == kLanes || !in_loop(at_.node));
  const bool line = y * z == 1 && address.runs == 1 && plan_.regions.size() > 1 && !unrolled_.now && !in_loop(at_.node);
  if (!rows && !line) return;
  if (const auto w = named_.windows.find(a.insn); w != named_.windows.end() && !w->second->parts.empty()) return;  // named already
  uses(Technique::NextBlocks);
  const int64_t further = rows ? std::max(kAhead, 2 * row) : kFurther;
  NamedLines& named = unrolled_.now ? unrolled_.now->named : named_.lines;
  const BasicBlock* const here = unrolled_.now ? nullptr : b_.GetInsertBlock();
  for (size_t r = 0; r < address.runs; ++r) {
    const auto [from, at] = sum_of(address.run[r]);
    for (int64_t k = 0; k < run; k += kLine) {
      // Loads of neighbours, and two of every second element, read the same lines.
      if (!named.emplace(here, from, (at + k) / kLine).second) continue;
      name_line(b_.CreateAdd(address.run[r], llvm::ConstantInt::getSigned(address.run[r]->getType(), further + k)));
    }
  }
}

// The nodes of the region that ways from this one lead to, or with `back` those that lead here; itself only around a loop.
std::vector<char> Emitter::reached(uint32_t from, bool back) const {
  std::vector<char> seen(flow_.nodes.size());
  std::vector<uint32_t> work{from};
  while (!work.empty()) {
    const uint32_t n = work.back();
    work.pop_back();
    const auto meet = [&](uint32_t o) {
      if (!seen[o]) seen[o] = 1, work.push_back(o);
    };
    if (back) {
      for (uint32_t o : plan_.regions[at_.region].nodes)
        if (std::ranges::find(flow_.nodes[o].next, n) != flow_.nodes[o].next.end()) meet(o);
    } else {
      for (uint32_t o : flow_.nodes[n].next)
        if (inside(o)) meet(o);
    }
  }
  return seen;
}

bool Emitter::changes_in_loop(uint32_t variable) const {
  const std::vector<char> after = reached(at_.node, false), before = reached(at_.node, true);
  for (uint32_t n : plan_.regions[at_.region].nodes)
    for (uint32_t k = flow_.nodes[n].begin; after[n] && before[n] && k < flow_.nodes[n].end; ++k)
      for (const Slot& s : flow_.slots[k])
        if (s.written && flow_.variable(s.at) == variable) return true;
  return false;
}

// In a loop that jumps by more than hosts look ahead, as grid-stride loops do, what will be read some turns later is as far
// from here as this is from the turn before.
void Emitter::name_next_turns(const Access& a, V address) {
  constexpr uint64_t kLine = 64, kStretch = 1024;
  static const bool without = left_out("next_turns");
  if (without || !as_.team || a.shared || a.insn->op[1] < 0) return;
  const uint64_t bytes = kLanes * a.total(), all = bytes * static_cast<uint64_t>(as_.team->warps);
  const Shape shape = as_.team->in_step.shapes->source(a.insn->op[1], a.insn->base_width);
  const bool in_a_row = as_.team->streams && shape.paced && shape.pace == static_cast<int64_t>(bytes);
  V& ahead = named_.turns_ahead[a.insn];
  if (!ahead) {  // the team's other warps take as long steps
    const Source base = flow_.source(a.insn->op[1], a.insn->base_width);
    if (base.kind != SourceKind::Variable) return;
    if (!in_loop(at_.node) || !changes_in_loop(base.variable)) return;
    llvm::IRBuilder<> top(w_.entry, w_.entry->begin());
    auto* last = top.CreateAlloca(b_.getInt64Ty());
    top.CreateStore(b_.getInt64(0), last);
    constexpr uint64_t kTurns = 6;
    const V step = b_.CreateSub(address, b_.CreateLoad(b_.getInt64Ty(), last));
    b_.CreateStore(address, last);
    ahead = b_.CreateMul(step, b_.getInt64(kTurns));
  }
  uses(Technique::NextTurns);
  const auto name = [&](V from, uint64_t length) {
    for (uint64_t k = 0; k < length; k += kLine) name_line(b_.CreateAdd(from, b_.getInt64(k)), false, in_a_row ? 2 : 3);
  };
  if (!in_a_row) return name(b_.CreateAdd(address, ahead), bytes);
  if (as_.team->member != 0) return;
  // The first warp names what all of them will read, and what lies behind that if it is little, which is for the blocks that
  // come next: they find it in the last cache, and hosts that are shown longer stretches have more of them under way. It is
  // named for the second cache, which waits for more lines at a time than the first.
  name(b_.CreateAdd(address, ahead), all);
  if (as_.team->stores) return;  // what is stored there is written meanwhile
  name(b_.CreateAdd(address, b_.getInt64(all)), bytes < kLine ? all : kStretch);
}

}  // namespace warpbeam::jit
