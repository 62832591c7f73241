#include "assembly/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "assembly/latency.h"

namespace warpbeam::assembly {
namespace {

std::string name_of(RegisterRange r) {
  const char* bank = r.first >= kUniform ? "UR" : r.first >= kPredicates ? "P" : "R";
  const int number = r.first >= kUniform ? r.first - kUniform : r.first >= kPredicates ? r.first - kPredicates : r.first;
  std::string text = fmt::format("{}{}", bank, number);
  if (r.count > 1) text += fmt::format(".{}", 32 * r.count);
  return text;
}

}  // namespace

std::string text_of(const MachineInstruction& i) {
  std::string text, guard;
  size_t last = i.reads.size();
  while (last && i.reads[last - 1].first < 0) --last;
  if (i.guarded && last) guard = "@" + name_of(i.reads[--last]) + " ";
  text = guard + std::string(i.mnemonic);
  bool first = true;
  const auto add = [&](RegisterRange r) {
    if (r.first < 0) return;
    text += (first ? " " : ", ") + name_of(r);
    first = false;
  };
  for (const RegisterRange& r : i.writes) add(r);
  bool arrow = !first;
  for (size_t k = 0; k < last; ++k) {
    if (arrow && i.reads[k].first >= 0) {
      text += " <-";
      first = true;
      arrow = false;
    }
    add(i.reads[k]);
  }
  return text;
}

std::string text_of(const MachineCode& code) {
  std::string text;
  for (size_t b = 0; b < code.blocks.size(); ++b) {
    const MachineBlock& block = code.blocks[b];
    text += fmt::format("block {}", b);
    if (block.folded_into >= 0) text += fmt::format(" in block {}", block.folded_into);
    text += ":\n";
    for (const MachineInstruction& i : block.text) text += "  " + text_of(i) + "\n";
    if (block.turns > 1) {
      text += fmt::format("block {}, {} turns:\n", b, block.turns);
      for (const MachineInstruction& i : block.unrolled) text += "  " + text_of(i) + "\n";
    }
  }
  return text;
}

std::vector<Wait> waits_of(const MachineText& text) {
  struct Pending {
    uint32_t ready = 0;
    std::string_view on;
  };
  std::array<Pending, kMachineRegisters> pending{};
  std::vector<Wait> waits;
  uint32_t now = 0;
  for (const MachineInstruction& i : text) {
    uint32_t start = now + (waits.empty() ? 0 : 1);
    Wait wait;
    const auto visit = [&](const RegisterRange& r, const auto& act) {
      for (int k = std::max<int>(r.first, 0); k < r.first + r.count && k < kMachineRegisters; ++k) act(pending[static_cast<size_t>(k)]);
    };
    for (const RegisterRange& r : i.reads)
      visit(r, [&](const Pending& p) {
        if (p.ready > start) {
          start = p.ready;
          wait.on = p.on;
        }
      });
    wait.cycles = waits.empty() ? start : start - now;
    now = start;
    waits.push_back(wait);
    for (const RegisterRange& r : i.writes)
      visit(r, [&](Pending& p) { p = {now + latency_of(i.operation), is_queued(i.operation) ? i.mnemonic : std::string_view()}; });
  }
  return waits;
}

}  // namespace warpbeam::assembly
