#include "assembly/uniform.h"

#include <algorithm>

namespace warpbeam::assembly {
namespace {

using isa::Class;
using isa::Space;
using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

bool varies_by_itself(const Instruction& i, bool entry) {
  const isa::Row& row = *i.form.row;
  switch (row.cls) {
    case Class::Load: {
      const Space s = i.form.mods.space;
      return !(entry && (s == Space::Param || s == Space::ParamEntry || s == Space::Const));
    }
    case Class::Atomic:
    case Class::Warp:
    case Class::Call:
    case Class::Tensor:
    case Class::Copy: return true;
    default: return row.kind == isa::Kind::Image || row.kind == isa::Kind::Async || row.opcode == "call";
  }
}

bool is_uniform(const isa::SpecialRow& s) {
  using isa::Special;
  switch (s.id) {
    case Special::Tid:
    case Special::Laneid:
    case Special::LanemaskEq:
    case Special::LanemaskLe:
    case Special::LanemaskLt:
    case Special::LanemaskGe:
    case Special::LanemaskGt: return false;
    default: return !s.varies;
  }
}

}  // namespace

std::vector<char> uniform_registers(const ptx::Function& f, const std::vector<ptx::Block>& blocks, const Flow& flow) {
  std::vector<char> uniform(f.registers.size(), 1);
  std::vector<uint8_t> definitions(f.registers.size());
  const auto each = [](const Operand& o, const auto& visit, const auto& self) -> void {
    if (o.reg >= 0) visit(o.reg);
    for (const Operand& e : o.list) self(e, visit, self);
  };
  const auto writes = [](const Instruction& i) {
    return !i.operands.empty() && (i.form.row->operands.list[0].written || i.form.row->opcode == "bfi" || i.form.row->opcode == "call");
  };
  const auto each_written = [&](const Instruction& i, const auto& visit) {
    if (writes(i)) each(i.operands[0], visit, each);
    for (const Operand& o : i.operands)
      if (o.pair >= 0) visit(o.pair);
  };
  for (const Instruction& i : f.body)
    each_written(i, [&](int r) {
      definitions[static_cast<size_t>(r)] = static_cast<uint8_t>(std::min(2, definitions[static_cast<size_t>(r)] + 1));
    });
  for (const auto& [name, r] : f.register_params) uniform[static_cast<size_t>(r)] = 0;

  // Blocks that only some lanes may come to: behind a branch that lanes take differently, up to where they meet.
  std::vector<char> partial(blocks.size());
  const auto mark = [&](uint32_t b) {
    bool changed = false;
    const uint32_t meeting = flow.post_dominator(b);
    for (uint32_t s : blocks[b].successors)
      for (uint32_t at = s; at != kNoBlock && at != meeting; at = flow.post_dominator(at)) {
        changed = changed || !partial[at];
        partial[at] = 1;
      }
    return changed;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      for (uint32_t k = blocks[b].begin; k < blocks[b].end; ++k) {
        const Instruction& i = f.body[k];
        bool differs = varies_by_itself(i, f.entry) || (i.guard >= 0 && !uniform[static_cast<size_t>(i.guard)]);
        for (size_t o = writes(i) ? 1 : 0; o < i.operands.size() && !differs; ++o) {
          const Operand& operand = i.operands[o];
          if (operand.kind == OperandKind::Special) differs = !is_uniform(*operand.special);
          each(operand, [&](int r) { differs = differs || !uniform[static_cast<size_t>(r)]; }, each);
        }
        each_written(i, [&](int r) {
          char& u = uniform[static_cast<size_t>(r)];
          if (u && (differs || (partial[b] && definitions[static_cast<size_t>(r)] > 1))) {
            u = 0;
            changed = true;
          }
        });
      }
      if (blocks[b].successors.size() < 2 || blocks[b].end == blocks[b].begin || !flow.reached(b)) continue;
      const Instruction& last = f.body[blocks[b].end - 1];
      const int decides = last.guard >= 0 ? last.guard : last.form.row->opcode == "brx" ? last.operands[0].reg : -1;
      if (decides >= 0 && !uniform[static_cast<size_t>(decides)]) changed = mark(b) || changed;
    }
  }
  return uniform;
}

}  // namespace warpbeam::assembly
