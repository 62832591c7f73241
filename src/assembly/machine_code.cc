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

// More registers than these cost warps: what is gained by an order that needs more is not worth them. Loads go together as far as that leaves registers
// for what they bring: sixteen words in a kernel that needs little else (found with kernels of one warp that load 1 to 32 values of 4, 8 and 16 bytes and
// keep 1 to 96 sums, on an H200: which loads wait for each other shows in the time of a turn).
constexpr int kWithAllWarps = 32;
constexpr int kNotHeld = 10;  // registers beside those that hold what a block has to do with
constexpr uint32_t held_for(int registers) { return static_cast<uint32_t>(registers - kNotHeld); }

// A scheduler has 512 registers a lane, and warps get theirs by eights.
constexpr int kOfScheduler = 512, kUnit = 8;
int warps_with(int registers) { return kOfScheduler / ((registers + kUnit - 1) / kUnit * kUnit); }
int most_for_as_many_warps(int registers) {
  constexpr int kMost = 255;
  return std::min(kMost, kOfScheduler / std::max(1, warps_with(registers)) / kUnit * kUnit);
}

constexpr uint32_t kLoadsTogether = 4;  // where registers are short

MachineCode in_order(DraftCode code, const Liveness& live, const Target& target, uint32_t most_held, bool roomy, uint32_t for_loads = ~0u,
                     uint32_t loads_together = kLoadsTogether) {
  const uint32_t most = std::min(most_held, target.max_registers > 8 ? target.max_registers - 6 : 2);
  schedule(code, live, {most, std::min(most, for_loads), loads_together, target.cc >= 70});
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
    if (MachineCode other = with(true); std::pair{other.spill_bytes, other.registers} < std::pair{out.spill_bytes, out.registers})
      out = std::move(other);
  // The block that has the text, not one that became part of another itself.
  for (MachineBlock& b : out.blocks)
    while (b.folded_into >= 0 && out.blocks[static_cast<size_t>(b.folded_into)].folded_into >= 0)
      b.folded_into = out.blocks[static_cast<size_t>(b.folded_into)].folded_into;
  return out;
}

DraftCode drafted(const ptx::Module& module, const ptx::Function& function, const Target& target, bool near) {
  DraftCode code = select(module, function, target, near);
  join_blocks(code);
  straighten(code);
  remove_unread(code);
  if (is_first_generation(target)) compare_before_change(code), read_shared_operands(code);
  else widen_loads(code);
  if (target.cc >= 50) predicate_choices(code);
  sink_copies(code);
  join_copies(code);
  fold_short_branches(code, target);
  join_blocks(code);  // what comes behind a short branch follows always
  if (is_first_generation(target)) place_behind(code);
  hoist(code, function);
  mark_meetings(code, target);
  unroll(code, function);
  if (target.cc >= 70) move_pointers_later(code);
  return code;
}

// What it calls, with what that calls.
void add_callees(const ptx::Module& module, const ptx::Function& function, std::vector<const ptx::Function*>& all) {
  for (const ptx::Instruction& i : function.body) {
    if (i.form.row->opcode != "call") continue;
    for (const ptx::Operand& o : i.operands)
      for (const ptx::Function& f : module.functions)
        if ((o.kind == ptx::OperandKind::Symbol || o.kind == ptx::OperandKind::Label) && f.name == o.name && f.has_body && !f.entry &&
            std::ranges::find(all, &f) == all.end()) {
          all.push_back(&f);
          add_callees(module, f, all);
        }
  }
}

// A multiprocessor of compute capability 1.x has some ten registers for each thread that it holds: the order that needs fewest.
MachineCode with_fewest_registers(const DraftCode& code, const Liveness& live, const Target& target) {
  const auto cost = [](const MachineCode& m) { return std::pair{m.spill_bytes, m.registers}; };
  MachineCode fewest = in_order(code, live, target, 6, true);
  for (uint32_t held : {4u, 2u})
    if (MachineCode other = in_order(code, live, target, held, false, ~0u, 0); cost(other) < cost(fewest)) fewest = std::move(other);
  return fewest;
}

MachineCode assemble_alone(const ptx::Module& module, const ptx::Function& function, const Target& target) {
  const DraftCode code = drafted(module, function, target, false);
  const Liveness live(code);
  if (is_first_generation(target)) return with_fewest_registers(code, live, target);
  // What is computed may take registers that loads leave, as long as all warps fit.
  constexpr uint32_t kForLoads = held_for(kWithAllWarps), kMore = 6;
  MachineCode out;
  for (uint32_t held = kForLoads + kMore;; held -= 2) {
    out = in_order(code, live, target, held, true, kForLoads);
    if (held == kForLoads || (out.registers <= kWithAllWarps && !out.spill_bytes)) break;
  }
  if (out.registers <= kWithAllWarps && !out.spill_bytes) return out;
  MachineCode fewer = out;
  const auto good = [&] { return fewer.registers <= kWithAllWarps && !fewer.spill_bytes; };
  const auto look = [&](const DraftCode& draft, const Liveness& alive) {
    for (uint32_t held : {22u, 18u, 14u, 10u})
      for (uint32_t together : {kLoadsTogether, kLoadsTogether / 2, 0u}) {
        if (good()) return;
        MachineCode other = in_order(draft, alive, target, held, false, ~0u, together);
        // Of those that leave a scheduler as many warps, the first one: its loads wait least for each other.
        const auto cost = [](const MachineCode& m) { return std::pair{m.spill_bytes, -warps_with(m.registers)}; };
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
  // With few registers in any order: that of the first, which has loads together. Where more must be held anyway, loads may take what is left of the
  // registers that cost no further warp.
  const int most = good() ? kWithAllWarps : most_for_as_many_warps(fewer.registers);
  // Spills are part of the code; a few of them are better than loads that wait for each other.
  constexpr int kWorth = 4;
  constexpr uint32_t kRoom = 12, kLess = 16, kTries = 4;
  const auto spills = [&] { return out.spill_bytes > kWorth * fewer.spill_bytes; };
  if (most > kWithAllWarps) {
    uint32_t held = std::min(held_for(most), static_cast<uint32_t>(fewer.registers) + kRoom);
    for (uint32_t k = 0; k < kTries && (!k || spills()); ++k, held -= kLess) out = in_order(code, live, target, held, true);
  }
  if (spills() && !fewer.spill_bytes) return fewer;
  out.registers = std::clamp(out.registers, fewer.registers, most);
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
