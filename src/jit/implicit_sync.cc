#include "jit/implicit_sync.h"

#include <algorithm>
#include <optional>
#include <set>

#include "jit/shapes.h"

namespace warpbeam::jit {
namespace {

using isa::Kind;

constexpr size_t kMostNodes = 2000;  // that are worth looking at

// The row of an access to memory that other threads see, or null.
const isa::Row* row_of(const Flow& flow, const vm::Insn& i, bool shared) {
  const isa::Row* row = i.row();
  if (!row) return nullptr;
  const isa::Space space = i.mods().space;
  const bool wanted =
      shared ? space == isa::Space::Shared : space == isa::Space::Global || (space == isa::Space::Generic && !flow.local_escapes);
  if (!wanted || flow.cell_access(i) || flow.fixed_local.contains(&i)) return nullptr;
  return row->kind == Kind::Memory || row->kind == Kind::Atomic ? row : nullptr;
}

struct Access {
  uint32_t node;
  const vm::Insn* insn;
  bool atomic;
};

class Accesses {
 public:
  Accesses(const Flow& flow, bool shared) : flow_(flow) {
    for (uint32_t n = 0; n < flow.nodes.size(); ++n)
      for (uint32_t k = flow.nodes[n].begin; k < flow.nodes[n].end; ++k) {
        const vm::Insn& i = flow.code->insns[k];
        const isa::Row* row = row_of(flow, i, shared);
        if (!row) continue;
        const bool atomic = row->kind == Kind::Atomic;
        if (atomic || row->cls == isa::Class::Store) changes.push_back({n, &i, atomic});
        else if (row->cls == isa::Class::Load && !says(*row, ".nc")) reads.push_back({n, &i, false});
      }
  }

  // Nodes that come after `n` with no barrier in between; `n` itself where it is in a loop.
  const std::vector<char>& after(uint32_t n) {
    auto& seen = after_[n];
    if (!seen.empty()) return seen;
    seen.assign(flow_.nodes.size(), 0);
    std::vector<uint32_t> work{n};
    while (!work.empty()) {
      const Node& at = flow_.nodes[work.back()];
      work.pop_back();
      if (at.ends == End::Barrier || waits_for_some(flow_.code->insns[at.end - 1])) continue;
      for (uint32_t s : at.next)
        if (!seen[s]) {
          seen[s] = 1;
          work.push_back(s);
        }
    }
    return seen;
  }

  std::vector<Access> changes, reads;

 private:
  const Flow& flow_;
  std::map<uint32_t, std::vector<char>> after_;
};

// Values and nodes that are not the same for all warps of a block.
class Differing {
 public:
  Differing(const Flow& flow, const std::array<uint32_t, 3>& block)
      : flow_(flow), block_(block), variables_(flow.variables.size()), nodes_(flow.nodes.size()) {
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t n = 0; n < flow.nodes.size(); ++n) changed = look_at(n) || changed;
    }
  }

  bool node(uint32_t n) const { return nodes_[n]; }
  bool value(int32_t slot, Width bytes) const {
    if (slot >= kParamKeys && !flow_.variable_at.contains(slot)) return true;  // a part of a call's parameters in memory
    const Source s = flow_.source(slot, bytes);
    if (s.kind == SourceKind::Variable) return variables_[s.variable];
    return s.kind == SourceKind::Special && s.special->kind == vm::SlotKind::Special && special(s.special->special, s.special->component);
  }

 private:
  // Threads of one warp after another have the same threadIdx.x where rows are no longer than a warp.
  bool special(isa::Special s, int component) const {
    switch (s) {
      case isa::Special::Tid: return block_[static_cast<size_t>(component)] > 1 && (component > 0 || 32 % block_[0] != 0);
      case isa::Special::Ctaid:
      case isa::Special::Nctaid:
      case isa::Special::Laneid: return false;
      default: return true;
    }
  }

  // What no other warp may have: the result of an atomic operation, local memory.
  bool reads_own(const vm::Insn& i) const {
    if (!i.row() || flow_.cell_access(i)) return false;
    if (i.source->form.row->kind != Kind::Memory) return i.source->form.row->kind == Kind::Atomic;
    return i.mods().space == isa::Space::Local || (i.mods().space == isa::Space::Generic && flow_.local_escapes);
  }

  bool mark(char& what) {
    const bool changed = !what;
    what = 1;
    return changed;
  }

  bool look_at(uint32_t n) {
    const Node& node = flow_.nodes[n];
    bool changed = false;
    for (uint32_t k = node.begin; k < node.end; ++k) {
      const vm::Insn& i = flow_.code->insns[k];
      bool differs = nodes_[n] || i.effects().varies || reads_own(i);
      for (const Slot& s : flow_.slots[k]) differs = differs || (s.read && value(s.at, s.bytes));
      const auto write = [&](int32_t slot) {
        if (const auto v = flow_.variable(slot); differs && v) changed = mark(variables_[*v]) || changed;
      };
      if (const CellAccess* cells = flow_.cell_access(i)) {
        for (const auto& element : cells->elements)
          for (int32_t key : element) {
            if (i.source->form.row->cls != isa::Class::Load) write(key);
            else differs = differs || value(key, 4);
          }
      }
      for (const Slot& s : flow_.slots[k])
        if (s.written) write(s.at);
    }
    if (!node.last || !differs_at_end(node)) return changed;
    if (node.ends == End::Branch || node.ends == End::Table) {
      influence(flow_, n).each([&](size_t b) { changed = mark(nodes_[b]) || changed; });
    } else if (node.ends == End::Leave) {  // those that stay are some of the warps from here on
      std::vector<uint32_t> work = node.next;
      while (!work.empty()) {
        const uint32_t b = work.back();
        work.pop_back();
        if (!mark(nodes_[b])) continue;
        changed = true;
        work.insert(work.end(), flow_.nodes[b].next.begin(), flow_.nodes[b].next.end());
      }
    }
    return changed;
  }

  bool differs_at_end(const Node& node) const {
    const size_t k = static_cast<size_t>(node.last - flow_.code->insns.data());
    return std::ranges::any_of(flow_.slots[k], [&](const Slot& s) { return s.read && value(s.at, s.bytes); });
  }

  const Flow& flow_;
  const std::array<uint32_t, 3>& block_;
  std::vector<char> variables_, nodes_;
};

}  // namespace

namespace {

void find_global_syncs(const Flow& flow, const Roots& roots, std::vector<ImplicitSync>& out) {
  Accesses accesses(flow, false);
  const auto in_loop = [&](uint32_t n) { return accesses.after(n)[n] != 0; };
  for (const Access& w : accesses.changes)
    for (const Access& r : accesses.reads) {
      if (w.node == r.node || !accesses.after(w.node)[r.node] || accesses.after(r.node)[w.node]) continue;
      const int64_t to = roots.access(flow, *w.insn), from = roots.access(flow, *r.insn);
      if (to != from) continue;
      // What a thread reads where it has just stored is its own. Pointers of unknown origin are often to different things: only
      // two passes over data, or sums of all warps, are worth a meeting.
      const bool own = w.insn->op[1] == r.insn->op[1];
      if (w.atomic || (!own && (to >= 0 || (in_loop(w.node) && in_loop(r.node))))) out.push_back({w.node, r.node});
    }
}

// A flag or a counter that all warps look at before one thread changes it: Eigen's sums assert so that a semaphore is still
// set, which thread 0 of the last block then clears.
void find_flag_syncs(const Flow& flow, const Roots& roots, const std::array<uint32_t, 3>& block, std::vector<ImplicitSync>& out) {
  Accesses accesses(flow, false);
  std::optional<Differing> differing;
  const auto one_place = [&](const Access& a) {
    if (!differing) differing.emplace(flow, block);
    return a.insn->op[1] >= 0 && !differing->value(a.insn->op[1], a.insn->base_width);
  };
  for (const Access& w : accesses.changes)
    for (const Access& r : accesses.reads) {
      if (w.node == r.node || !accesses.after(r.node)[w.node] || accesses.after(w.node)[r.node]) continue;
      const int64_t root = roots.access(flow, *w.insn);
      if (root < 0 || root != roots.access(flow, *r.insn)) continue;
      if (one_place(r) && one_place(w) && differing->node(w.node) && !differing->node(r.node)) out.push_back({r.node, w.node});
    }
}

// In shared memory it is the reads that come first: what a barrier made known is read around a thread's own place, and then
// stored is what the thread kept of an earlier place. A thread that stores where it has just read exchanges values with one
// other, which is its own affair; and where many stores follow many reads they have parts of the memory for themselves.
void find_shared_syncs(const Flow& flow, std::vector<ImplicitSync>& out) {
  constexpr size_t kMostPairs = 8;
  Accesses accesses(flow, true);
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (const Access& w : accesses.changes) {
    if (w.atomic) continue;
    const auto before = [&](const Access& r) {
      return r.node != w.node && accesses.after(r.node)[w.node] && !accesses.after(w.node)[r.node];
    };
    if (std::ranges::any_of(accesses.reads, [&](const Access& r) { return r.insn->op[1] == w.insn->op[1] && r.insn->imm == w.insn->imm; }))
      continue;
    for (const Access& r : accesses.reads)
      if (before(r)) pairs.emplace(r.node, w.node);
    if (pairs.size() > kMostPairs) return;
  }
  for (const auto& [read, change] : pairs) out.push_back({read, change});
}

}  // namespace

std::vector<ImplicitSync> find_implicit_syncs(const Flow& flow, const Roots& roots, const std::array<uint32_t, 3>& block) {
  std::vector<ImplicitSync> out;
  if (flow.nodes.size() > kMostNodes) return out;
  find_global_syncs(flow, roots, out);
  find_flag_syncs(flow, roots, block, out);
  find_shared_syncs(flow, out);
  return out;
}

std::string find_same_work(const Flow& flow, const Roots& roots, const std::array<uint32_t, 3>& block) {
  if (flow.nodes.size() > kMostNodes) return "";
  Accesses accesses(flow, false);
  if (accesses.changes.empty() || accesses.reads.empty()) return "";
  const Differing differing(flow, block);
  const auto same = [&](const Access& a) {
    return a.insn->op[1] >= 0 && !differing.node(a.node) && !differing.value(a.insn->op[1], a.insn->base_width) &&
           (a.insn->guard < 0 || !differing.value(a.insn->guard, 0));
  };
  for (const Access& w : accesses.changes) {
    if (w.atomic || !same(w)) continue;
    const int64_t root = roots.access(flow, *w.insn);
    for (const Access& r : accesses.reads)
      if (same(r) && (root >= 0 ? root == roots.access(flow, *r.insn) : w.insn->op[1] == r.insn->op[1]) &&
          (r.node == w.node ? r.insn < w.insn : accesses.after(r.node)[w.node] != 0))
        return "all warps of a block read and store the same places";
  }
  return "";
}

}  // namespace warpbeam::jit
