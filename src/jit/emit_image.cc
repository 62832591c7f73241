// Textures.
//
// Idea: one call for the lanes of a warp, whose coordinates go to a place on the stack and whose texels come back from there, or are read
// where they are (vm/texture_lanes.h).
// Precondition: the same texture for all lanes, one or two dimensions, no offsets; nobody watches.
// Postcondition: what the interpreter's handler leaves.
// Fallback: that handler, where the call says that it read no channel.
#include "vm/texture_lanes.h"

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

vm::LaneTexels wb_read_texture(Context* c, const vm::Insn* i, uint64_t handle, uint32_t mask, const uint32_t* coordinates,
                               uint32_t* results) {
  return c->services->read_lanes(*c->block, *i, handle, mask, coordinates, results);
}

bool Emitter::emit_image(const vm::Insn& i) {
  if (watch_ || as_.alone || as_.slice || as_.few || as_.apart || unrolled_.now || !flow_.services->reads_lanes(i)) return false;
  const Value handle = read(i.op[1], 8);
  if (!handle.uniform()) return false;
  const auto n = std::bit_cast<vm::ImageOperands>(i.imm);
  const V results = lanes_place(0), coordinates = lanes_place(1);
  const auto lanes = [&](V at, int k) { return b_.CreateConstInBoundsGEP1_64(type_of(4, true), at, static_cast<uint64_t>(k)); };
  for (int k = 0; k < n.coordinates; ++k) b_.CreateStore(lanes_of(read(i.list[n.results + k], 4), 4), lanes(coordinates, k));
  write_rows();
  const V texels = call("wb_read_texture", llvm::StructType::get(b_.getPtrTy(), b_.getInt64Ty()),
                        {w_.context, outside(&i), handle.run[0], at_.active, coordinates, results});
  const V first = b_.CreateExtractValue(texels, 0), channels = b_.CreateExtractValue(texels, 1);
  auto [quick, slow, join] = new_blocks("texels", "slow", "join");
  b_.CreateCondBr(b_.CreateIsNotNull(first), quick, slow, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
  b_.SetInsertPoint(slow);
  call_handler(i, at_.active);
  b_.CreateBr(join);
  b_.SetInsertPoint(quick);
  for (int k = 0; k < n.results; ++k) {
    const V there = b_.CreateICmpUGT(channels, b_.getInt64(static_cast<uint64_t>(k)));
    const V from = k == 0 ? first : b_.CreateSelect(there, lanes(first, k), results);
    Value v;
    v.lanes = b_.CreateAlignedLoad(type_of(4, true), from, llvm::Align(4));
    if (k > 0) v.lanes = b_.CreateSelect(there, v.lanes, llvm::Constant::getNullValue(v.lanes->getType()));
    write(i.list[k], 4, v);
  }
  go_on(join);
  uses(Technique::Textures);
  return true;
}

}  // namespace warpbeam::jit
