// Idea: accesses of straight code whose addresses are known before the first of them are checked together. Precondition: all lanes that
// are threads are there. Postcondition: a version without checks and masks has run. Fallback: the careful version, access by access.
#include <algorithm>

#include "jit/emitter.h"
#include "jit/rows.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

namespace {

constexpr uint32_t kMostInstructions = 600;  // of which there are two versions

}  // namespace

// Do some of the instructions write what other lanes, which wait elsewhere, will read?
bool Emitter::keeps_old(const std::vector<uint32_t>& instructions) const {
  for (uint32_t k : instructions)
    for (const Slot& s : flow_.slots[k])
      if (const auto v = flow_.variable(s.at); s.written && v && shapes_.needs_blend(at_.node, *v)) return true;
  return false;
}

V Emitter::run_ahead(const Straight& s) {
  std::vector<V> wraps;
  as_.wraps = &wraps;
  const V mask = at_.active;
  // As for all lanes, which spares looking for the first and the last of them: it only counts where all or the first few are there.
  if (!as_.alone && !as_.slice && !keeps_old(s.ahead)) at_.active = b_.getInt32(~0u);
  for (uint32_t k : s.ahead) emit_instruction(flow_.code->insns[k]);
  at_.active = mask;
  as_.wraps = nullptr;
  V none_wraps = b_.getTrue();
  for (V w : wraps) none_wraps = b_.CreateAnd(none_wraps, b_.CreateNot(w));
  return none_wraps;
}

// Accesses from one register differ by constants: the first and the last place speak for all.
V Emitter::all_fit(const Straight& s, int warps) {
  const std::vector<Access>& accesses = s.accesses;
  V good = b_.getTrue();
  std::vector<char> done(accesses.size());
  for (size_t k = 0; k < accesses.size(); ++k) {
    if (done[k]) continue;
    const Access& a = accesses[k];
    Value address = address_of(a);
    int64_t low = a.insn->imm, high = low;
    const int64_t near = a.insn->op[1] < 0 ? 4096 : 1 << 20;  // known places may be parts of different variables
    for (size_t o = k + 1; o < accesses.size() && a.insn->base_width == 8; ++o) {
      const Access& b = accesses[o];
      if (b.insn->op[1] != a.insn->op[1] || b.total() != a.total() || b.shared != a.shared || b.insn->base_width != a.insn->base_width)
        continue;
      const int64_t far = std::max(high, b.insn->imm) - std::min(low, b.insn->imm);
      if (far > near || (b.insn->imm - a.insn->imm) % static_cast<int64_t>(a.total())) continue;
      low = std::min(low, b.insn->imm);
      high = std::max(high, b.insn->imm);
      done[o] = 1;
    }
    const int64_t further = address.stride * kLanes * (warps - 1);
    good = b_.CreateAnd(good, fits_whole(a, address, low - a.insn->imm, high - low + further));
  }
  return good;
}

void Emitter::emit_straight(uint32_t begin, uint32_t end) {
  if (as_.slice) return emit_straight_in_subwarp(begin, end);
  const auto& insns = flow_.code->insns;
  const Straight s = straight(begin, end);
  const std::vector<Access>& accesses = s.accesses;
  const uint32_t first = s.first;
  const bool full = control_.full[at_.node] || as_.alone;
  const bool ever_full = full || plan_.lanes() >= kLanes;
  const uint32_t whole = full ? ~0u : whole_warp(plan_);
  static const bool without = left_out("straight");
  const bool suits = !full && suits_prefix_lanes(first, end, s.few);
  const bool together = !without && ever_full && !accesses.empty() && !(full && accesses.size() == 1) && end - first <= kMostInstructions;
  find_pieces(begin, end, together || suits ? s.ahead : std::vector<uint32_t>());
  if (!together && !suits) {
    for (uint32_t k = begin; k < end; ++k) emit_instruction(insns[k]);
    return;
  }
  for (uint32_t k = begin; k < first; ++k) emit_instruction(insns[k]);
  const V mask = at_.active;
  const V none_wraps = run_ahead(s);
  auto* join = new_block("both");
  if (!together) {
    emit_prefix_lanes(first, end, s.few, s.ahead, none_wraps, join);
    for (uint32_t k = first; k < end; ++k) emit_instruction(insns[k]);
    go_on(join);
    return;
  }
  uses(Technique::Straight);
  V good = full ? none_wraps : b_.CreateAnd(b_.CreateICmpEQ(mask, b_.getInt32(whole)), none_wraps);
  good = b_.CreateAnd(good, all_fit(s));
  auto [fast, careful] = new_blocks("all_well", "careful");
  if (full) b_.CreateCondBr(good, fast, careful, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
  else b_.CreateCondBr(good, fast, careful);
  b_.SetInsertPoint(careful);
  if (full)
    for (const Access& a : accesses) as_.handled.insert(a.insn);
  else if (suits) emit_prefix_lanes(first, end, s.few, s.ahead, none_wraps, join);
  as_.sparing = control_.many_functions;
  for (uint32_t k = first; k < end; ++k) emit_instruction(insns[k]);
  as_.sparing = false;
  as_.handled.clear();
  b_.CreateBr(join);
  b_.SetInsertPoint(fast);
  if (!as_.alone) at_.active = b_.getInt32(whole);
  for (const Access& a : accesses) as_.checked.insert(a.insn);
  if (!as_.alone && whole == ~0u) find_windows(accesses);
  find_batches(first, end);
  for (uint32_t k = first; k < end; ++k)
    if (std::find(s.ahead.begin(), s.ahead.end(), k) == s.ahead.end()) emit_instruction(insns[k]);
  as_.checked.clear();
  named_.windows.clear();
  watching_.batch_of.clear();
  at_.active = mask;
  go_on(join);
}

}  // namespace warpbeam::jit
