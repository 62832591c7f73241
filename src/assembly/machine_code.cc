#include "assembly/machine_code.h"

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

MachineCode assemble(const ptx::Module& module, const ptx::Function& function, const Target& target) {
  DraftCode code = select(module, function, target);
  remove_unread(code);
  join_copies(code);
  fold_short_branches(code);
  mark_meetings(code, target);
  schedule(code, target);
  MachineCode out;
  out.blocks.resize(code.blocks.size());
  out.block_of.resize(function.body.size());
  for (uint32_t b = 0; b < code.blocks.size(); ++b) {
    out.blocks[b].begin = code.blocks[b].begin;
    out.blocks[b].end = code.blocks[b].end;
    for (uint32_t k = code.blocks[b].begin; k < code.blocks[b].end; ++k) out.block_of[k] = b;
  }
  allocate(code, target, out);
  return out;
}

}  // namespace warpbeam::assembly
