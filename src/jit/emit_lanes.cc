// A loop that lanes run one by one: its nodes once more, in which every variable is one lane's.
#include <llvm/IR/Intrinsics.h>

#include <map>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
namespace In = llvm::Intrinsic;

// The lanes of at_.active are about to run the loop's head. Where there are few, they run the loop here.
void Emitter::emit_lane_loop(const LaneLoop& loop) {
  uses(Technique::LonelyLanes);
  const V mask = at_.active;
  const uint32_t node = at_.node;
  auto [lanes, vector] = new_blocks("lanes", "vector");
  const V few = loop.most_lanes >= kLanes
                    ? static_cast<V>(b_.getTrue())
                    : b_.CreateICmpULE(intrinsic(In::ctpop, mask), b_.getInt32(static_cast<uint32_t>(loop.most_lanes)));
  go_on_if(few, lanes, vector);
  llvm::IRBuilder<> top(w_.entry, w_.entry->begin());
  // Values of all lanes, in memory; what is the same in all of them stays where it is.
  std::map<uint32_t, llvm::AllocaInst*> homes;
  for (uint32_t v : loop.variables) {
    const Shape& s = shapes_.variables[v];
    const Width bytes = flow_.variables[v].bytes;
    if (s.uniform()) continue;
    homes[v] = top.CreateAlloca(bytes ? type_of(bytes, true) : b_.getInt32Ty());
    const V all = lanes_of(read_variable(v), bytes);
    b_.CreateStore(bytes ? all : mask_bits(all), homes[v]);
  }
  Shapes alone = shapes_;
  for (Shape& s : alone.variables) s = uniform_shape(Reach::Warp);
  alone.divergent.assign(alone.divergent.size(), 0);
  auto storage = registers_.storage;
  for (uint32_t v : loop.variables) storage[v][0] = top.CreateAlloca(lane_type(flow_.variables[v].bytes));
  auto* rest = top.CreateAlloca(b_.getInt32Ty());
  b_.CreateStore(mask, rest);
  auto [pick, next] = new_blocks("pick", "next_lane");
  LaneCells cells;
  cells.begin = b_.CreateBr(pick);

  b_.SetInsertPoint(pick);
  const V left = b_.CreateLoad(b_.getInt32Ty(), rest);
  const V lane = b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {left, b_.getTrue()});
  const V bit = b_.CreateAnd(left, b_.CreateNeg(left));
  b_.CreateStore(b_.CreateXor(left, bit), rest);
  const V index = b_.CreateZExt(lane, b_.getInt64Ty());
  const auto place = [&](uint32_t v) { return b_.CreateGEP(lane_type(flow_.variables[v].bytes), homes[v], index); };
  for (uint32_t v : loop.variables) {
    const Width bytes = flow_.variables[v].bytes;
    V value;
    if (!homes.contains(v)) value = b_.CreateLoad(lane_type(bytes), registers_.storage[v][0]);
    else if (bytes) value = b_.CreateLoad(lane_type(bytes), place(v));
    else value = b_.CreateICmpNE(b_.CreateAnd(b_.CreateLoad(b_.getInt32Ty(), homes[v]), bit), b_.getInt32(0));
    b_.CreateStore(value, storage[v][0]);
  }
  std::swap(changed_plan_.shapes, alone);
  std::swap(registers_.storage, storage);
  at_.active = bit;
  as_.alone = true;
  if (!watch_) as_.lane_cells = &cells;
  std::map<uint32_t, BasicBlock*> blocks, exits;
  const auto way = [&](uint32_t to) {
    auto& map = to >= loop.head && to <= loop.latch ? blocks : exits;
    auto [it, fresh] = map.try_emplace(to);
    if (fresh) it->second = new_block("lane");
    return it->second;
  };
  b_.CreateBr(way(loop.head));
  for (uint32_t n = loop.head; n <= loop.latch; ++n) {
    const Node& here = flow_.nodes[n];
    at_.node = n;
    b_.SetInsertPoint(way(n));
    emit_straight(here.begin, here.last ? here.end - 1 : here.end);
    if (here.ends == End::Fall) {
      b_.CreateBr(way(here.next[0]));
      continue;
    }
    V taken = read(here.last->guard, 0).run[0];
    if (here.last->guard_negated) taken = b_.CreateNot(taken);
    b_.CreateCondBr(taken, way(here.next[0]), way(here.next[1]));
  }
  std::vector<uint32_t> targets;
  for (const auto& [to, block] : exits) {
    b_.SetInsertPoint(block);
    for (uint32_t v : loop.results) {
      const Width bytes = flow_.variables[v].bytes;
      const V value = b_.CreateLoad(lane_type(bytes), registers_.storage[v][0]);
      if (bytes) {
        b_.CreateStore(value, place(v));
      } else {
        const V others = b_.CreateAnd(b_.CreateLoad(b_.getInt32Ty(), homes[v]), b_.CreateNot(bit));
        b_.CreateStore(b_.CreateOr(others, b_.CreateSelect(value, bit, b_.getInt32(0))), homes[v]);
      }
    }
    add_lanes(to, bit);
    b_.CreateBr(next);
    targets.push_back(to);
  }
  std::swap(changed_plan_.shapes, alone);
  std::swap(registers_.storage, storage);
  as_.alone = false;
  as_.lane_cells = nullptr;
  fill_lane_cells(cells);

  b_.SetInsertPoint(next);
  auto* done = new_block("lanes_done");
  b_.CreateCondBr(b_.CreateICmpNE(b_.CreateLoad(b_.getInt32Ty(), rest), b_.getInt32(0)), pick, done);
  b_.SetInsertPoint(done);
  for (uint32_t v : loop.results) {
    const Width bytes = flow_.variables[v].bytes;
    b_.CreateStore(
        bytes ? static_cast<V>(b_.CreateLoad(type_of(bytes, true), homes[v])) : bool_lanes(b_.CreateLoad(b_.getInt32Ty(), homes[v])),
        registers_.storage[v][0]);
  }
  Bits waits(flow_.nodes.size());
  for (uint32_t n = loop.head; n <= loop.latch; ++n) waits.add(flow_.nodes[n].waits);
  leave_to(targets, false, waits);

  b_.SetInsertPoint(vector);
  at_.node = node;
  at_.active = mask;
}

}  // namespace warpbeam::jit
