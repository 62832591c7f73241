// The versions of regions that rest on guesses at masks (guesses.h).
#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

void Emitter::change_shapes(OtherShapes& other, Storage& storage) {
  std::swap(changed_plan_.shapes, other.shapes);
  std::swap(changed_plan_.slopes, other.slopes);
  std::swap(changed_plan_.spreads, other.spreads);
  std::swap(registers_.storage, storage);
  for (size_t n = 0; n < plan_.flow.nodes.size(); ++n) std::swap(changed_plan_.flow.nodes[n].waits, other.waits[n]);
}

void Emitter::emit_guessed(const Region& region, V todo, BasicBlock* after) {
  const GuessedMasks guessed = guessed_masks(flow_, region, plan_.guessed->shapes);
  if (guessed.masks.empty()) return;
  for (uint32_t k : guessed.makes) {
    const vm::Insn& i = flow_.code->insns[k];
    if (i.guard >= 0 || !only_computes(i)) return;
    for (const Slot& s : flow_.slots[k])
      if (const Source v = flow_.source(s.at, s.bytes); v.kind == SourceKind::Variable && !shapes_.variables[v.variable].uniform()) return;
  }
  at_.warp = b_.getInt32(0);
  at_.active = b_.getInt32(~0u);
  at_.node = region.entry;
  if (control_.many_regions) load_spills(region);
  for (uint32_t k : guessed.makes) emit_instruction(flow_.code->insns[k]);
  V holds = b_.getTrue();
  for (const Mask& m : guessed.masks) {
    const V low = b_.CreateAnd(read(m.at, 4).run[0], b_.getInt32(kLanes - 1));
    holds = b_.CreateAnd(holds, b_.CreateICmpEQ(low, b_.getInt32(m.ones ? kLanes - 1 : 0)));
  }
  auto [as_guessed, otherwise] = new_blocks("as_guessed", "otherwise");
  go_on_if(holds, as_guessed, otherwise);
  uses(Technique::GuessedMasks);
  change_shapes(*plan_.guessed, registers_.guessed);
  emit_warps(region, todo, false, after);
  change_shapes(*plan_.guessed, registers_.guessed);
  b_.SetInsertPoint(otherwise);
}

}  // namespace warpbeam::jit
