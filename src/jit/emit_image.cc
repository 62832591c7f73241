// Textures.
//
// Idea: one call for the lanes of a warp, whose coordinates go to a place on the stack and whose texels come back from there
// (vm/texture_lanes.h).
// Precondition: the same texture for all lanes, one or two dimensions, no offsets; nobody watches.
// Postcondition: what the interpreter's handler leaves.
// Fallback: that handler, where the call says that it read no channel.
#include "vm/texture_lanes.h"

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

extern "C" int wb_read_texture(Context* c, const vm::Insn* i, uint64_t handle, uint32_t mask, const uint32_t* coordinates,
                               uint32_t* results) {
  return c->services->read_lanes(*c->block, *i, handle, mask, coordinates, results);
}

bool Emitter::emit_image(const vm::Insn& i) {
  if (watch_ || as_.alone || as_.slice || as_.few || as_.apart || rehearsals_.now || !flow_.services->reads_lanes(i)) return false;
  const Value handle = read(i.op[1], 8);
  if (!handle.uniform()) return false;
  const auto n = std::bit_cast<vm::ImageOperands>(i.imm);
  const V results = lanes_place(0), coordinates = lanes_place(1);
  const auto lanes = [&](V at, int k) { return b_.CreateConstInBoundsGEP1_64(type_of(4, true), at, static_cast<uint64_t>(k)); };
  for (int k = 0; k < n.coordinates; ++k) b_.CreateStore(lanes_of(read(i.list[n.results + k], 4), 4), lanes(coordinates, k));
  write_rows();
  const V channels = call("wb_read_texture", b_.getInt32Ty(), {w_.context, outside(&i), handle.run[0], at_.active, coordinates, results});
  auto* quick = new_block("texels");
  auto* slow = new_block("slow");
  auto* join = new_block("join");
  b_.CreateCondBr(b_.CreateICmpNE(channels, b_.getInt32(0)), quick, slow, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
  b_.SetInsertPoint(slow);
  call_handler(i, at_.active);
  b_.CreateBr(join);
  b_.SetInsertPoint(quick);
  for (int k = 0; k < n.results; ++k) {
    Value v;
    const V there = b_.CreateLoad(type_of(4, true), lanes(results, k));
    v.lanes = k == 0 ? there
                     : b_.CreateSelect(b_.CreateICmpSGT(channels, b_.getInt32(static_cast<uint32_t>(k))), there,
                                       llvm::Constant::getNullValue(there->getType()));
    write(i.list[k], 4, v);
  }
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  uses(Technique::Textures);
  return true;
}

}  // namespace warpbeam::jit
