#include "assembly/machine_code.h"

#include <algorithm>

#include "assembly/draft.h"
#include "assembly/liveness.h"

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

namespace {

// More registers than these cost warps: what is gained by an order that needs more is not worth them.
constexpr int kWithAllWarps = 32;

MachineCode in_order(DraftCode code, const Liveness& live, const Target& target, uint32_t most_held, bool roomy) {
  schedule(code, live, std::min(most_held, target.max_registers > 8 ? target.max_registers - 6 : 2));
  join_copies(code);  // in their order more of them can
  const auto with = [&](bool wide_first) {
    MachineCode out;
    for (uint32_t b = 0; b < code.blocks.size() && code.blocks[b].repeats < 0; ++b) {
      out.blocks.emplace_back();
      out.blocks[b].begin = code.blocks[b].begin;
      out.blocks[b].end = code.blocks[b].end;
      for (uint32_t k = code.blocks[b].begin; k < code.blocks[b].end; ++k) out.block_of.push_back(b);
    }
    allocate(code, target, roomy, wide_first, out);
    return out;
  };
  MachineCode out = with(false);
  if (out.registers > kWithAllWarps)
    if (MachineCode other = with(true); std::pair{other.spill_bytes, other.registers} < std::pair{out.spill_bytes, out.registers}) out = std::move(other);
  // The block that has the text, not one that became part of another itself. (Always an earlier one: there is an end.)
  for (MachineBlock& b : out.blocks)
    while (b.folded_into >= 0 && out.blocks[static_cast<size_t>(b.folded_into)].folded_into >= 0) b.folded_into = out.blocks[static_cast<size_t>(b.folded_into)].folded_into;
  return out;
}

DraftCode drafted(const ptx::Module& module, const ptx::Function& function, const Target& target, bool near) {
  DraftCode code = select(module, function, target, near);
  join_blocks(code);
  straighten(code);
  remove_unread(code);
  widen_loads(code);
  sink_copies(code);
  join_copies(code);
  fold_short_branches(code);
  join_blocks(code);  // what comes behind a short branch follows always
  mark_meetings(code, target);
  unroll(code, function);
  return code;
}

// What it calls, with what that calls.
void add_callees(const ptx::Module& module, const ptx::Function& function, std::vector<const ptx::Function*>& all) {
  for (const ptx::Instruction& i : function.body) {
    if (i.form.row->opcode != "call") continue;
    for (const ptx::Operand& o : i.operands)
      for (const ptx::Function& f : module.functions)
        if ((o.kind == ptx::OperandKind::Symbol || o.kind == ptx::OperandKind::Label) && f.name == o.name && f.has_body && !f.entry && std::ranges::find(all, &f) == all.end()) {
          all.push_back(&f);
          add_callees(module, f, all);
        }
  }
}

MachineCode assemble_alone(const ptx::Module& module, const ptx::Function& function, const Target& target) {
  const DraftCode code = drafted(module, function, target, false);
  const Liveness live(code);
  // The order has loads together even where that takes some registers more than a real assembler would give out: how it does
  // both is not known. (The order matters for time, and so does the number of registers.)
  constexpr uint32_t kOfOrder = 40, kComfortable = 28, kRoom = 12;
  MachineCode out = in_order(code, live, target, kOfOrder, true);
  if (out.registers <= static_cast<int>(kComfortable) && !out.spill_bytes) return out;
  MachineCode fewer = in_order(code, live, target, kComfortable, true);
  const auto good = [&] { return fewer.registers <= kWithAllWarps && !fewer.spill_bytes; };
  const auto look = [&](const DraftCode& draft, const Liveness& alive) {
    for (uint32_t held : {28u, 24u, 20u, 12u}) {
      if (good()) return;
      MachineCode other = in_order(draft, alive, target, held, false);
      // A multiprocessor has registers by eights.
      const auto cost = [](const MachineCode& m) { return std::pair{m.spill_bytes, (m.registers + 7) / 8}; };
      if (cost(other) < cost(fewer)) fewer = std::move(other);
    }
  };
  look(code, live);
  if (!good()) {
    DraftCode sunk = code;
    sink(sunk, live);
    look(sunk, live);
  }
  if (!good()) {
    DraftCode near = drafted(module, function, target, true);
    const Liveness alive(near);
    look(near, alive);
    if (!good()) {
      sink(near, alive);
      look(near, alive);
    }
  }
  // Where more must be held anyway, there is room for loads together beside that.
  if (const auto needed = static_cast<uint32_t>(fewer.registers) + kRoom; needed > kOfOrder && !fewer.spill_bytes) out = in_order(code, live, target, needed, true);
  // Spills are part of the code.
  if (fewer.spill_bytes < out.spill_bytes) return fewer;
  out.registers = fewer.registers;
  return out;
}

}  // namespace

MachineCode assemble(const ptx::Module& module, const ptx::Function& function, const Target& target) {
  MachineCode out = assemble_alone(module, function, target);
  // A kernel's threads have as many registers as the functions need that it calls.
  if (function.entry) {
    std::vector<const ptx::Function*> callees;
    add_callees(module, function, callees);
    for (const ptx::Function* f : callees) out.registers = std::max(out.registers, assemble_alone(module, *f, target).registers);
  }
  return out;
}

}  // namespace warpbeam::assembly
