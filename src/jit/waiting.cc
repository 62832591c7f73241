// Loops that may wait for another thread: whether they end depends on what another thread writes. Only the interpreter can
// let lanes of one warp, warps of one block and blocks take turns in the middle of such a loop.
#include <fmt/format.h>

#include <algorithm>

#include "jit/flow.h"

namespace warpbeam::jit {
namespace {

using isa::Kind;

bool waits_in_itself(const vm::Insn& i) {  // nanosleep and fences: what the loop reads may change under it
  return i.source && i.source->form.row && !i.call && (i.source->form.row->cls == isa::Class::Fence || i.source->form.row->opcode == "nanosleep");
}

}  // namespace

std::string find_waiting_loop(const Flow& flow) {
  const vm::EngineServices& s = *flow.services;
  const uint32_t n = static_cast<uint32_t>(flow.nodes.size());
  for (uint32_t latch = 0; latch < n; ++latch)
    for (uint32_t head : flow.nodes[latch].next) {
      if (head > latch) continue;
      // The loop's blocks stand together, from its head to the furthest block that leads back to it.
      const auto plain = [&](const vm::Insn& i) { return i.fn != s.label && i.fn != s.jump && i.fn != s.not_pred && i.fn != s.read_special && i.source && i.source->form.row; };
      bool sleeps = false, any = false;
      for (uint32_t b = head; b <= latch; ++b)
        for (uint32_t k = flow.nodes[b].begin; k < flow.nodes[b].end; ++k) sleeps = sleeps || (plain(flow.code->insns[k]) && waits_in_itself(flow.code->insns[k]));
      Bits tainted(flow.variables.size());
      const auto source = [&](const vm::Insn& i) {
        if (!plain(i) || i.call) return false;
        const isa::Row& row = *i.source->form.row;
        if (row.kind == Kind::Atomic) return true;
        if (row.kind != Kind::Memory || row.cls != isa::Class::Load) return false;
        const isa::Sem sem = i.mods().sem;
        return (sem != isa::Sem::None && sem != isa::Sem::Weak) || (sleeps && (i.mods().space == isa::Space::Global || i.mods().space == isa::Space::Shared || i.mods().space == isa::Space::Generic));
      };
      const auto variable = [&](int32_t at) -> int64_t {
        const auto v = flow.variable_at.find(at);
        return v == flow.variable_at.end() ? -1 : int64_t(v->second);
      };
      std::vector<char> swayed(n);  // blocks that a tainted decision reaches
      bool waits = false;
      for (bool changed = true; changed && !waits;) {
        changed = false;
        for (uint32_t b = head; b <= latch; ++b) {
          const Node& node = flow.nodes[b];
          for (uint32_t k = node.begin; k < node.end; ++k) {
            const vm::Insn& i = flow.code->insns[k];
            bool taints = source(i);
            any = any || taints;
            for (const Slot& slot : flow.slots[k])
              if (const int64_t v = variable(slot.at); slot.read && v >= 0 && tainted.has(static_cast<size_t>(v))) taints = true;
            for (const Slot& slot : flow.slots[k]) {
              const int64_t v = variable(slot.at);
              if (!slot.written || v < 0 || tainted.has(static_cast<size_t>(v))) continue;
              // Written where a tainted decision led, and seen outside of there.
              bool outside = false;
              if (swayed[b])
                for (uint32_t o = 0; o < n; ++o) outside = outside || (!swayed[o] && flow.nodes[o].live_in.has(static_cast<size_t>(v)));
              if (taints || outside) {
                tainted.add(static_cast<size_t>(v));
                changed = true;
              }
            }
          }
          bool decides = false;
          if (node.last && node.last->guard >= 0)
            if (const int64_t v = variable(node.last->guard); v >= 0) decides = tainted.has(static_cast<size_t>(v));
          if (node.ends == End::Table)
            if (const int64_t v = variable(node.last->op[0]); v >= 0) decides = tainted.has(static_cast<size_t>(v));
          bool leaves = node.ends == End::Leave;
          for (uint32_t t : node.next) leaves = leaves || t < head || t > latch;
          if (leaves && (decides || (swayed[b] && node.next.size() > 1))) waits = true;
          if (decides && node.next.size() > 1) {
            influence(flow, b).each([&](size_t t) {
              if (t < head || t > latch) return;
              if (!swayed[t]) changed = true;
              swayed[t] = 1;
            });
          }
        }
      }
      if (waits && any) return fmt::format("the loop at PTX line {} may wait for other threads", flow.code->insns[flow.nodes[head].begin].source->at.line);
    }
  return "";
}

}  // namespace warpbeam::jit
