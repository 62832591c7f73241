// What variables are known to hold where a kernel is cut, before it runs: results of nothing but thread numbers, the
// block's shape and constants. Instructions are run on constants, for each warp of the block, which LLVM folds.
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/IR/Constants.h>

#include <algorithm>

#include "jit/emitter.h"
#include "jit/unrolled_block.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

namespace {

constexpr size_t kMostKnown = 150000;  // values at the ends of all nodes

bool is_known(llvm::Value* v) {
  return llvm::isa<llvm::Constant>(v) && !llvm::cast<llvm::Constant>(v)->containsUndefOrPoisonElement() && !llvm::isa<llvm::UndefValue>(v);
}

// Of two ways that lead to one place; true: something is known no more.
bool forget_differences(WarpsValues& known, const WarpsValues& other) {
  bool less = false;
  for (size_t w = 0; w < known.size(); ++w)
    for (size_t v = 0; v < known[w].size(); ++v)
      if (known[w][v] != other[w][v] && known[w][v][0]) {
        known[w][v] = {};
        less = true;
      }
  return less;
}

}  // namespace

// As simple as it can be made; what it was made from is made simple with it.
V Emitter::folded(V v) {
  if (auto* constant = llvm::dyn_cast<llvm::ConstantExpr>(v)) return llvm::ConstantFoldConstant(constant, w_.module.getDataLayout());
  auto* i = llvm::dyn_cast<llvm::Instruction>(v);
  if (!i || llvm::isa<llvm::PHINode>(i) || llvm::isa<llvm::AllocaInst>(i) || unrolled_.now->folded.contains(i)) return v;
  for (llvm::Use& operand : i->operands()) operand.set(folded(operand.get()));
  if (V simple = llvm::simplifyInstruction(i, llvm::SimplifyQuery(w_.module.getDataLayout()))) return simple;
  unrolled_.now->folded.insert(i);
  return v;
}

// Does it depend on nothing but thread numbers?
bool Emitter::knows_source(const Source& s) const {
  using isa::Special;
  if (s.kind == SourceKind::Variable) return unrolled_.now->now.values[unrolled_.now->warp][s.variable][0];
  if (s.kind != SourceKind::Special) return s.kind == SourceKind::Constant;
  if (unrolled_.now->samples) return true;
  if (s.special->kind == vm::SlotKind::SharedAddress) return true;
  if (s.special->kind == vm::SlotKind::LocalAddress || s.special->kind == vm::SlotKind::ParamAddress) return false;
  switch (s.special->special) {
    case Special::Tid:
    case Special::Laneid:
    case Special::Warpid:
    case Special::LanemaskEq:
    case Special::LanemaskLt:
    case Special::LanemaskLe:
    case Special::LanemaskGe:
    case Special::LanemaskGt: return true;
    default: return false;
  }
}

// Runs an instruction for the warp, for all of its lanes.
void Emitter::find_known_of(const vm::Insn& i) {
  const auto& slots = flow_.slots[number_of(i)];
  bool knows = only_computes(i) && i.guard < 0 && (unrolled_.now->samples || !i.source || i.source->form.row->kind != isa::Kind::Memory);
  for (const Slot& s : slots) knows = knows && (!s.read || knows_source(flow_.source(s.at, s.bytes)));
  std::vector<V> wraps;
  if (knows) {
    as_.wraps = &wraps;
    emit_instruction(i);
    as_.wraps = nullptr;
    for (V& w : wraps) knows = knows && folded(w) == b_.getFalse();
  }
  std::vector<Cells>& values = unrolled_.now->now.values[unrolled_.now->warp];
  for (const Slot& s : slots) {
    const Source to = flow_.source(s.at, s.bytes);
    if (!s.written || to.kind != SourceKind::Variable) continue;
    Cells& cells = values[to.variable];
    if (!knows || std::ranges::any_of(cells, [](V v) { return v && !is_known(v); })) cells = {};
  }
}

// Kernels of which something may be worth it.
bool Emitter::may_unroll() const {
  static const bool without = left_out("unrolled");
  if (without || !control_.many_regions || control_.lanes_leave || !processor_.avx || !plan_.only_whole_warps()) return false;
  if (flow_.nodes.size() * flow_.variables.size() * plan_.warps() > kMostKnown) return false;
  return std::ranges::any_of(plan_.regions, [&](const Region& r) { return can_unroll(r, true) && touches_shared(r); });
}

void Emitter::find_known() {
  if (std::ranges::none_of(plan_.regions, [&](const Region& r) { return can_unroll(r, false) && touches_shared(r); })) return;
  unrolled_.known = known_from(0, WarpsValues(plan_.warps(), std::vector<Cells>(flow_.variables.size())), nullptr);
}

// What is known at the ends of nodes, those of one region or all of them, when the kernel goes on from `start`.
std::vector<std::optional<WarpsValues>> Emitter::known_from(uint32_t start, const WarpsValues& values, const Region* only, bool samples) {
  const auto at = b_.saveIP();
  UnrolledBlock* const outer = unrolled_.now;
  UnrolledBlock unrolled;
  unrolled.knows_all = true;
  unrolled.samples = samples;
  unrolled.block = new_block("known");
  unrolled.now.written.assign(values.size(), Bits(flow_.variables.size()));
  unrolled_.now = &unrolled;
  w_.samples = samples;
  b_.SetInsertPoint(unrolled.block);
  at_.active = b_.getInt32(~0u);
  std::vector<std::optional<WarpsValues>> before(flow_.nodes.size()), after(flow_.nodes.size());
  before[start] = values;
  for (std::vector<Cells>& of_warp : *before[start])
    for (Cells& cells : of_warp)
      if (std::ranges::any_of(cells, [](V v) { return v && !is_known(v); })) cells = {};
  std::set<uint32_t> work{start};
  while (!work.empty()) {
    const uint32_t n = *work.begin();
    work.erase(work.begin());
    const Node& node = flow_.nodes[n];
    at_.node = n;
    unrolled.now.values = *before[n];
    for (uint32_t k = node.begin; k < (node.last ? node.end - 1 : node.end); ++k) {
      const vm::Insn& i = flow_.code->insns[k];
      if (i.silent()) continue;
      for (unrolled.warp = 0; unrolled.warp < values.size(); ++unrolled.warp) {
        at_.warp = b_.getInt32(unrolled.warp);
        find_known_of(i);
      }
    }
    after[n] = unrolled.now.values;
    for (uint32_t s : node.next) {
      if (only && std::ranges::find(only->nodes, s) == only->nodes.end()) continue;
      if (!before[s]) before[s] = after[n];
      else if (!forget_differences(*before[s], *after[n])) continue;
      work.insert(s);
    }
  }
  unrolled_.now = outer;
  w_.samples = outer && outer->samples;
  unrolled.block->dropAllReferences();
  unrolled.block->eraseFromParent();
  b_.restoreIP(at);
  return after;
}

// By how much a value that is found in the node grows from warp to warp, as far as some numbers tell.
std::optional<int64_t> Emitter::sampled_pace(int32_t at, Width bytes) const {
  const Source s = flow_.source(at, bytes);
  if (s.kind != SourceKind::Variable || at_.node >= unrolled_.now->sampled.size() || !unrolled_.now->sampled[at_.node]) return std::nullopt;
  std::vector<int64_t> values;
  for (const std::vector<Cells>& of_warp : *unrolled_.now->sampled[at_.node]) {
    auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(of_warp[s.variable][0]);
    if (!known) return std::nullopt;
    values.push_back(known->getSExtValue());
  }
  const int64_t pace = values.size() > 1 ? values[1] - values[0] : 0;
  for (size_t w = 1; w < values.size(); ++w)
    if (values[w] - values[w - 1] != pace) return std::nullopt;
  return pace;
}

// Where the region's warps go on at the node.
std::optional<WarpsValues> Emitter::known_between(const Region& region, uint32_t to) const {
  if (unrolled_.known.empty()) return std::nullopt;
  if (region.exit_node >= 0) return unrolled_.known[static_cast<size_t>(region.exit_node)];
  std::optional<WarpsValues> out;
  for (uint32_t n : region.nodes) {
    if (!unrolled_.known[n] || std::ranges::find(flow_.nodes[n].next, to) == flow_.nodes[n].next.end()) continue;
    if (!out) out = unrolled_.known[n];
    else forget_differences(*out, *unrolled_.known[n]);
  }
  return out;
}

}  // namespace warpbeam::jit
