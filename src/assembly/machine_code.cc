#include "assembly/machine_code.h"

#include <algorithm>

#include "assembly/draft.h"

namespace warpbeam::assembly {

std::string_view name_of(Operation operation) {
  static constexpr std::string_view kNames[] = {
#define WB_OPERATION(id, name, unit, about) name,
#include "assembly/operations.inc"
#undef WB_OPERATION
  };
  return kNames[static_cast<size_t>(operation)];
}

uint32_t MachineCode::instructions() const {
  size_t n = 0;
  for (const MachineBlock& b : blocks) n += b.text.size() + b.unrolled.size();
  return static_cast<uint32_t>(n);
}

Target target_of(const ptx::Function& kernel, int cc, uint32_t most_per_thread, uint32_t per_block) {
  constexpr uint32_t kUnit = 8, kLeast = 16;
  uint32_t most = most_per_thread;
  if (kernel.max_regs) most = std::min(most, std::max(kernel.max_regs, kLeast));
  const uint64_t threads = uint64_t(std::max(1u, kernel.max_ntid[0])) * std::max(1u, kernel.max_ntid[1]) * std::max(1u, kernel.max_ntid[2]);
  if (kernel.max_ntid[0] && threads <= 1024) {
    const uint64_t warps = (threads + 31) / 32;
    const uint64_t fits = per_block / (warps * 32 * std::clamp(kernel.min_ctas, 1u, 32u)) / kUnit * kUnit;
    most = static_cast<uint32_t>(std::min<uint64_t>(most, std::max<uint64_t>(fits, kLeast)));
  }
  return {cc, most};
}

MachineCode assemble(const ptx::Module& module, const ptx::Function& function, const Target& target) {
  DraftCode code = select(module, function, target);
  join_blocks(code);
  remove_unread(code);
  join_copies(code);
  fold_short_branches(code);
  mark_meetings(code, target);
  const size_t blocks = code.blocks.size();
  unroll(code, function);
  schedule(code, target);
  MachineCode out;
  out.blocks.resize(blocks);
  out.block_of.resize(function.body.size());
  for (uint32_t b = 0; b < blocks; ++b) {
    out.blocks[b].begin = code.blocks[b].begin;
    out.blocks[b].end = code.blocks[b].end;
    for (uint32_t k = code.blocks[b].begin; k < code.blocks[b].end; ++k) out.block_of[k] = b;
  }
  allocate(code, target, out);
  return out;
}

}  // namespace warpbeam::assembly
