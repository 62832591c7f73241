// Loops that may wait for another thread: whether they end depends on what another thread writes. Warps give way to others in
// them (turns.h), and where that is not enough, the interpreter lets lanes of one warp and blocks take turns.
#include <fmt/format.h>

#include <algorithm>

#include "jit/flow.h"

namespace warpbeam::jit {
namespace {

using isa::Kind;

bool loads(const isa::Row& row) { return row.kind == Kind::Memory && row.cls == isa::Class::Load; }

bool loads_for_itself(const vm::Insn& i) { return i.mods().sem == isa::Sem::None || i.mods().sem == isa::Sem::Weak; }

bool of_many_threads(isa::Space s) { return s == isa::Space::Global || s == isa::Space::Shared || s == isa::Space::Generic; }

bool waits_in_itself(const vm::Insn& i) {  // nanosleep and fences: what the loop reads may change under it
  return i.is(isa::Opcode::Nanosleep) || (i.row() && i.row()->cls == isa::Class::Fence);
}

// do { old = seen; seen = atomicCAS(p, old, f(old)); } while (seen != old): whoever fails has seen another's success and
// tries again with that, so some lane always goes on. (Where `old` is not what the last attempt saw, as with a lock, the
// loop waits.) Leaving it earlier does no harm.
class Update {
 public:
  Update(const Flow& flow, uint32_t head, uint32_t latch) : flow_(flow), head_(head), latch_(latch) {}

  bool found() const {
    const Node& end = flow_.nodes[latch_];
    if (end.ends != End::Branch || end.last->guard < 0) return false;
    const vm::Insn *swap = nullptr, *test = nullptr;
    size_t swap_at = 0, test_at = 0;
    for (uint32_t b = head_; b <= latch_; ++b)
      for (uint32_t k = flow_.nodes[b].begin; k < flow_.nodes[b].end; ++k) {
        const vm::Insn& i = flow_.code->insns[k];
        const isa::Row* row = i.row();
        if (i.call || i.effects().varies || waits_in_itself(i)) return false;
        if (!row) continue;
        if (loads(*row) && !loads_for_itself(i)) return false;
        if (row->kind != Kind::Atomic) continue;
        if (swap || b != latch_ || i.guard >= 0 || i.mods().op != isa::Op::Cas || i.op[0] < 0) return false;
        swap = &i;
        swap_at = k;
      }
    if (!swap) return false;
    for (uint32_t k = end.begin; k < end.end; ++k)
      if (writes(k, end.last->guard)) test = &flow_.code->insns[k], test_at = k;
    const isa::Row* row = test ? test->row() : nullptr;
    if (!row || test_at < swap_at || test->guard >= 0 || row->kind != Kind::Compare || row->op != isa::Opcode::Setp ||
        test->op[0] != end.last->guard)
      return false;
    if (isa::is_float(test->type()) || test->mods().boolop != isa::BoolOp::None || test->type() == isa::Type::F16) return false;
    const int32_t seen = swap->op[0], old = swap->op[2];
    if (isa::bytes_of(test->type()) != isa::bytes_of(swap->type())) return false;
    if (!((test->op[1] == seen && test->op[2] == old) || (test->op[1] == old && test->op[2] == seen))) return false;
    const bool unequal = test->mods().cmp == isa::Cmp::Ne;
    if (!unequal && test->mods().cmp != isa::Cmp::Eq) return false;
    // Back to the head only where they differ.
    const bool back_if_taken = end.next[0] == head_;
    if (end.next[0] == end.next[1] || (end.last->guard_negated ? !unequal : unequal) != back_if_taken) return false;
    bool renewed = false;
    for (uint32_t b = head_; b <= latch_; ++b)
      for (uint32_t k = flow_.nodes[b].begin; k < flow_.nodes[b].end; ++k) {
        const vm::Insn& i = flow_.code->insns[k];
        if (writes(k, seen) && &i != swap) return false;
        if (!writes(k, old)) continue;
        const isa::Row* move = i.row();
        if (!move || move->kind != Kind::Move || i.list || i.guard >= 0 || b != latch_ || k < test_at || i.op[0] != old || i.op[1] != seen)
          return false;
        renewed = true;
      }
    return renewed;
  }

 private:
  bool writes(size_t k, int32_t at) const {
    return std::any_of(flow_.slots[k].begin(), flow_.slots[k].end(), [&](const Slot& s) { return s.written && s.at == at; });
  }

  const Flow& flow_;
  const uint32_t head_, latch_;
};

// while (*flag == 0) atomicAdd(&polls, 1); The compiler has to read the flag each time, as another thread may have set it. That is
// so where a plain load decides about leaving, and nothing that changes from round to round by itself takes part.
bool polls_plainly(const Flow& flow, uint32_t head, uint32_t latch) {
  Bits read(flow.variables.size()), changes(flow.variables.size());
  const auto each = [&](uint32_t k, bool written, auto&& visit) {
    for (const Slot& slot : flow.slots[k])
      if (const auto v = flow.variable(slot.at); v && (written ? slot.written : slot.read)) visit(*v);
  };
  for (uint32_t b = head; b <= latch; ++b)
    for (uint32_t k = flow.nodes[b].begin; k < flow.nodes[b].end; ++k)
      each(k, true, [&](uint32_t v) {
        if (flow.nodes[head].live_in.has(v)) changes.add(v);
      });
  for (bool more = true; more;) {
    more = false;
    for (uint32_t b = head; b <= latch; ++b)
      for (uint32_t k = flow.nodes[b].begin; k < flow.nodes[b].end; ++k) {
        const vm::Insn& i = flow.code->insns[k];
        const isa::Row* row = i.row();
        bool reads = row && loads(*row) && of_many_threads(i.mods().space), varies = false;
        each(k, false, [&](uint32_t v) { reads = reads || read.has(v), varies = varies || changes.has(v); });
        each(k, true, [&](uint32_t v) {
          if (reads && !read.has(v)) read.add(v), more = true;
          if (varies && !changes.has(v)) changes.add(v), more = true;
        });
      }
  }
  for (uint32_t b = head; b <= latch; ++b) {
    const Node& node = flow.nodes[b];
    if (!node.last || node.last->guard < 0) continue;
    const auto guard = flow.variable(node.last->guard);
    if (!guard || !read.has(*guard) || changes.has(*guard)) continue;
    if (node.ends == End::Leave || std::any_of(node.next.begin(), node.next.end(), [&](uint32_t t) { return t < head || t > latch; }))
      return true;
  }
  return false;
}

}  // namespace

std::string WaitingLoop::why(const Flow& flow) const {
  return fmt::format("the loop at PTX line {} may wait for other threads", flow.code->insns[flow.nodes[head].begin].source->at.line);
}

std::vector<WaitingLoop> find_waiting_loops(const Flow& flow, bool watched) {
  std::vector<WaitingLoop> found;
  const uint32_t n = static_cast<uint32_t>(flow.nodes.size());
  for (uint32_t latch = 0; latch < n; ++latch)
    for (uint32_t head : flow.nodes[latch].next) {
      if (head > latch || (!watched && Update(flow, head, latch).found())) continue;
      // Lanes that want other functions than the first one take their turns.
      const auto chooses = [&](uint32_t b) {
        return std::any_of(flow.code->insns.begin() + flow.nodes[b].begin, flow.code->insns.begin() + flow.nodes[b].end,
                           [&](const vm::Insn& i) { return i.step == vm::Step::PickTarget; });
      };
      if (chooses(head)) continue;
      // The loop's blocks stand together, from its head to the furthest block that leads back to it.
      bool sleeps = false, any = false, meets = false, stirs = false, changes = false, shared = false;
      for (uint32_t b = head; b <= latch; ++b) {
        meets = meets || flow.nodes[b].ends == End::Barrier;
        for (uint32_t k = flow.nodes[b].begin; k < flow.nodes[b].end; ++k) {
          const vm::Insn& i = flow.code->insns[k];
          const isa::Row* row = i.row();
          sleeps = sleeps || (row && waits_in_itself(i));
          const bool atomic = row && row->kind == Kind::Atomic;
          stirs = stirs || atomic;
          changes = changes || (atomic && i.mods().op != isa::Op::Cas && i.mods().op != isa::Op::Exch) ||
                    (row && row->kind == Kind::Memory && row->cls == isa::Class::Store && of_many_threads(i.mods().space));
        }
      }
      if (stirs && !meets && polls_plainly(flow, head, latch)) {
        found.push_back({head, latch, changes, false});
        continue;
      }
      Bits tainted(flow.variables.size());
      const auto source = [&](const vm::Insn& i) {
        const isa::Row* row = i.row();
        if (!row || i.call) return false;
        return row->kind == Kind::Atomic || (loads(*row) && (!loads_for_itself(i) || (sleeps && of_many_threads(i.mods().space))));
      };
      const auto variable = [&](int32_t at) -> int64_t {
        const auto v = flow.variable(at);
        return v ? static_cast<int64_t>(*v) : -1;
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
            shared = shared || (taints && i.mods().space == isa::Space::Shared);
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
      if (waits && any) found.push_back({head, latch, changes, shared});
    }
  return found;
}

}  // namespace warpbeam::jit
