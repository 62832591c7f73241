// Idea: where registers are sixteen of eight lanes, a warp's value is four of them, and a few values are all there are. So a warp runs a
// loop that only computes slice by slice, a slice's values and its set of lanes in registers, and no longer than its own lanes stay. A
// loop that they leave together is quicker as a whole, where there is always something to do while a result is waited for, unless its
// values have 64 bits. Precondition: no AVX-512; lanes leave the loop at different times and are independent of each other there; memory
// is read only at places that are the same for all lanes.
//
// Postcondition: lanes wait where they left the loop, with its values.
// Fallback: where one of these reads is unusual, nothing has been changed yet that counts, and the warp begins the loop again as a whole.
#include <algorithm>
#include <map>

#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Kind;
using isa::Space;
using llvm::BasicBlock;
using llvm::FixedVectorType;

namespace {

constexpr uint32_t kMostInstructions = 300;  // of which there may be two versions
constexpr size_t kManyBytes = 16;            // a lane's values that go round the loop
constexpr unsigned kSlice = 16;              // lanes: with fewer, processors wait for results
constexpr unsigned kRegister = 8;

}  // namespace

std::vector<SubwarpLoop> Emitter::find_subwarp_loops() const {
  static const bool without = left_out("subwarp");
  std::vector<SubwarpLoop> loops;
  if (without || watch_ || !processor_.avx || processor_.avx512) return loops;
  const std::vector<int> region_of = regions_of_nodes(flow_, plan_.regions);
  for (uint32_t head : plan_.regions[at_.region].nodes) {
    const int32_t latch = latch_of(flow_, head);
    if (latch < 0 || (!loops.empty() && loops.back().has(head))) continue;
    std::optional<LoopBody> body = loop_body(flow_, shapes_, plan_.regions, region_of, head, static_cast<uint32_t>(latch));
    if (!body || body->targets.size() != 1) continue;
    SubwarpLoop l{head, static_cast<uint32_t>(latch), body->targets[0], kSlice, false, body->used, body->written, body->seen_after};
    const auto& nodes = flow_.nodes;
    if (nodes[l.latch].end - nodes[head].begin > kMostInstructions) continue;
    size_t bytes = 0;
    bool wide = false;
    nodes[head].live_in.each([&](size_t v) {
      if (!shapes_.variables[v].vector() || !l.used.has(v)) return;
      bytes += flow_.variables[v].bytes;
      wide = wide || flow_.variables[v].bytes == 8;
    });
    if (body->parts ? bytes == 0 : !wide || bytes < kManyBytes) continue;
    if (!body->parts) l.lanes = kRegister;
    bool suits = true;
    for (uint32_t n = head; n <= l.latch && suits; ++n) {
      size_t accesses = 0;
      for (uint32_t k = nodes[n].begin; k < nodes[n].end && suits; ++k) {
        suits = suits_subwarp(flow_.code->insns[k]);
        accesses += suits && access_of(flow_.code->insns[k]);
      }
      if (!accesses || !suits) continue;
      l.reads = true;
      suits = straight(nodes[n].begin, nodes[n].last ? nodes[n].end - 1 : nodes[n].end).accesses.size() == accesses;
    }
    if (suits) loops.push_back(std::move(l));
  }
  return loops;
}

// --- sets of lanes --------------------------------------------------------------------------------------------------

// A slice's are kept as signs, which is what its registers compare, blend and test by.
V Emitter::lanes_at(uint32_t node) {
  if (!as_.slice) return b_.CreateLoad(b_.getInt32Ty(), control_.masks[node]);
  const V signs = b_.CreateLoad(control_.masks[node]->getAllocatedType(), control_.masks[node]);
  return b_.CreateICmpSLT(signs, llvm::Constant::getNullValue(signs->getType()));
}

void Emitter::set_lanes(uint32_t node, V lanes) {
  b_.CreateStore(as_.slice ? b_.CreateSExt(lanes, control_.masks[node]->getAllocatedType()) : lanes, control_.masks[node]);
}

// --- the loop -------------------------------------------------------------------------------------------------------

// Like emit_straight, but all is well or the slice is given up.
void Emitter::emit_straight_in_subwarp(uint32_t begin, uint32_t end) {
  const auto& insns = flow_.code->insns;
  const Straight s = straight(begin, end);
  for (uint32_t k = begin; k < s.first; ++k) emit_instruction(insns[k]);
  if (s.accesses.empty()) return;
  const V good = b_.CreateAnd(run_ahead(s), all_fit(s));
  auto* well = new_block("all_well");
  go_on_if(good, well, as_.apart, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
  for (const Access& a : s.accesses) as_.checked.insert(a.insn);
  for (uint32_t k = s.first; k < end; ++k)
    if (std::ranges::find(s.ahead, k) == s.ahead.end()) emit_instruction(insns[k]);
  as_.checked.clear();
}

// The lanes of at_.active are about to run the loop's head. Goes on behind the loop.
bool Emitter::emit_subwarp_loop(const SubwarpLoop& loop) {
  uses(Technique::SubwarpLoops);
  const V mask = at_.active;
  llvm::IRBuilder<> top(w_.entry, w_.entry->begin());
  const Bits& given = flow_.nodes[loop.head].live_in;
  const auto left = [&](size_t v) { return loop.written.has(v) && loop.seen_after.has(v); };
  const auto slice_type = [&](size_t v) { return FixedVectorType::get(lane_type(flow_.variables[v].bytes), loop.lanes); };
  const V none = b_.getInt32(0);

  // Vectors that come in or go out have a place in memory each, of which a slice is a part.
  std::map<uint32_t, llvm::AllocaInst*> homes;
  std::map<uint32_t, V> at_first;  // values that are the same for all lanes
  auto storage = registers_.storage;
  auto masks = control_.masks;
  auto blocks = control_.blocks;
  loop.used.each([&](size_t v) {
    const Width bytes = flow_.variables[v].bytes;
    if (!shapes_.variables[v].vector()) {
      at_first[static_cast<uint32_t>(v)] = b_.CreateLoad(lane_type(bytes), registers_.storage[v][0]);
      storage[v][0] = top.CreateAlloca(lane_type(bytes));
      return;
    }
    storage[v][0] = top.CreateAlloca(slice_type(v));
    if (!given.has(v) && !left(v)) return;
    homes[static_cast<uint32_t>(v)] = top.CreateAlloca(bytes ? type_of(bytes, true) : b_.getInt32Ty());
    const V all = b_.CreateLoad(type_of(bytes, true), registers_.storage[v][0]);
    b_.CreateStore(bytes ? all : mask_bits(all), homes[static_cast<uint32_t>(v)]);
  });
  auto* lanes = top.CreateAlloca(b_.getInt32Ty());
  for (uint32_t n = loop.head; n <= loop.latch; ++n) {
    masks[n] = top.CreateAlloca(FixedVectorType::get(b_.getInt32Ty(), loop.lanes));
    blocks[n] = nullptr;
  }
  auto [slice, begin, end, next, through] = new_blocks("slice", "slice_begin", "slice_end", "next_slice", "slices_through");
  auto* whole = loop.reads ? new_block("unsliced") : nullptr;
  b_.CreateStore(none, lanes);
  b_.CreateBr(slice);

  b_.SetInsertPoint(slice);
  const V first = b_.CreateLoad(b_.getInt32Ty(), lanes);
  const V here = b_.CreateTrunc(b_.CreateLShr(mask, first), b_.getIntNTy(loop.lanes));
  b_.CreateCondBr(b_.CreateICmpNE(here, llvm::Constant::getNullValue(here->getType())), begin, next);
  const auto place = [&](uint32_t v) {
    return b_.CreateGEP(lane_type(flow_.variables[v].bytes), homes[v], b_.CreateZExt(first, b_.getInt64Ty()));
  };

  b_.SetInsertPoint(begin);
  loop.used.each([&](size_t k) {
    const uint32_t v = static_cast<uint32_t>(k);
    V value = llvm::Constant::getNullValue(storage[v][0]->getAllocatedType());
    if (at_first.contains(v)) value = at_first[v];
    else if (homes.contains(v) && flow_.variables[v].bytes)
      value = b_.CreateAlignedLoad(slice_type(v), place(v), llvm::Align(flow_.variables[v].bytes));
    else if (homes.contains(v))
      value =
          b_.CreateBitCast(b_.CreateTrunc(b_.CreateLShr(b_.CreateLoad(b_.getInt32Ty(), homes[v]), first), here->getType()), slice_type(v));
    b_.CreateStore(value, storage[v][0]);
  });
  const auto change = [&] {
    std::swap(registers_.storage, storage);
    std::swap(control_.masks, masks);
    std::swap(control_.blocks, blocks);
    std::swap(control_.region_exit, end);
    std::swap(as_.apart, whole);
  };
  change();
  as_.slice = &loop;
  w_.lanes = loop.lanes;
  for (uint32_t n = loop.head; n <= loop.latch; ++n)
    set_lanes(n, llvm::Constant::getNullValue(FixedVectorType::get(b_.getInt1Ty(), w_.lanes)));
  set_lanes(loop.head, b_.CreateBitCast(here, FixedVectorType::get(b_.getInt1Ty(), w_.lanes)));
  b_.CreateBr(block_of(loop.head));
  for (uint32_t n = loop.head; n <= loop.latch; ++n) emit_node(n);
  as_.slice = nullptr;
  w_.lanes = kLanes;
  change();

  b_.SetInsertPoint(end);
  for (const auto& [v, home] : homes) {
    if (!left(v)) continue;
    const V value = b_.CreateLoad(slice_type(v), storage[v][0]);
    if (flow_.variables[v].bytes) {
      b_.CreateAlignedStore(value, place(v), llvm::Align(flow_.variables[v].bytes));
      continue;
    }
    const V others =
        b_.CreateAnd(b_.CreateLoad(b_.getInt32Ty(), home),
                     b_.CreateNot(b_.CreateShl(b_.CreateZExt(llvm::Constant::getAllOnesValue(here->getType()), b_.getInt32Ty()), first)));
    b_.CreateStore(b_.CreateOr(others, b_.CreateShl(b_.CreateZExt(b_.CreateBitCast(value, here->getType()), b_.getInt32Ty()), first)),
                   home);
  }
  go_on(next);
  const V further = b_.CreateAdd(first, b_.getInt32(loop.lanes));
  b_.CreateStore(further, lanes);
  b_.CreateCondBr(b_.CreateICmpULT(further, b_.getInt32(kLanes)), slice, through);

  b_.SetInsertPoint(through);
  for (const auto& [v, home] : homes) {
    if (!left(v)) continue;
    const Width bytes = flow_.variables[v].bytes;
    b_.CreateStore(bytes ? static_cast<V>(b_.CreateLoad(type_of(bytes, true), home)) : bool_lanes(b_.CreateLoad(b_.getInt32Ty(), home)),
                   registers_.storage[v][0]);
  }
  for (const auto& [v, value] : at_first)  // each slice with lanes has come to the same
    if (left(v)) b_.CreateStore(b_.CreateLoad(value->getType(), storage[v][0]), registers_.storage[v][0]);
  add_lanes(loop.target, mask);
  Bits waits(flow_.nodes.size());
  for (uint32_t n = loop.head; n <= loop.latch; ++n) waits.add(flow_.nodes[n].waits);
  leave_to({loop.target}, false, waits);
  if (!whole) return true;
  b_.SetInsertPoint(whole);
  at_.node = loop.head;
  at_.active = mask;
  return false;
}

}  // namespace warpbeam::jit
