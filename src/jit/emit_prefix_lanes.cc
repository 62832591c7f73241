// Idea: the end of a tree in shared memory, 16 lanes, then 8, 4, 2 and 1, has versions with accesses of exactly their size: hosts hand a
// store's bytes on to a load that lies within them, and wait for the cache where it sticks out. Precondition: a few instructions of plain
// arithmetic around rows of shared memory. Postcondition: other lanes' values are as before. Fallback: the code for any set of lanes.
#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Kind;
using llvm::BasicBlock;

namespace {

constexpr uint32_t kMostInstructions = 24;  // of which there is a version for each number of lanes
constexpr int kFew[] = {16, 8, 4, 2, 1};

}  // namespace

// Where data decide which lanes come here, few lanes are seldom the first ones.
bool Emitter::comes_in_order() const {
  return std::ranges::any_of(plan_.regions[at_.region].nodes, [&](uint32_t p) {
    const Node& from = flow_.nodes[p];
    return from.ends == End::Branch && shapes_.divergent[p] && std::ranges::find(from.next, at_.node) != from.next.end() &&
           compares_steps(from, from.last->guard, from.end);
  });
}

// Is the straight code [first, end) plain arithmetic around accesses to rows of shared memory, all of them in
// `accesses`?
bool Emitter::suits_prefix_lanes(uint32_t first, uint32_t end, const std::vector<Access>& accesses) const {
  static const bool without = left_out("prefix_lanes");
  if (without || watch_ || as_.alone || end - first > kMostInstructions) return false;
  bool stores = false;
  size_t known = 0;
  for (uint32_t k = first; k < end; ++k) {
    const vm::Insn& i = flow_.code->insns[k];
    if (i.silent()) continue;
    if (i.guard >= 0) return false;
    if (known < accesses.size() && accesses[known].insn == &i) {
      const Access& a = accesses[known++];
      if (!a.shared || a.count != 1 || i.op[1] < 0) return false;
      const Shape s = shapes_.source(i.op[1], i.base_width);
      const bool row = s.runs == 1 && s.stride == static_cast<int64_t>(a.total());
      const Source from = flow_.source(i.op[1], i.base_width);
      const bool sloped = from.kind == SourceKind::Variable && plan_.slopes[from.variable] && i.base_width == 8;
      if (!row && !sloped) return false;
      stores = stores || !a.load;
      continue;
    }
    if (!only_computes(i) || (i.source && i.source->form.row && i.source->form.row->kind == Kind::Atomic)) return false;
  }
  return stores && known == accesses.size() && comes_in_order();
}

// Goes to `join` from a version for as many lanes as there are, and is left where there is none.
void Emitter::emit_prefix_lanes(uint32_t first, uint32_t end, const std::vector<Access>& accesses, const std::vector<uint32_t>& ahead,
                                V none_wraps, BasicBlock* join) {
  uses(Technique::PrefixLanes);
  const V mask = at_.active;
  auto [other, sort] = new_blocks("other", "few");
  go_on_if(none_wraps, sort, other);
  auto* versions = b_.CreateSwitch(mask, other, static_cast<unsigned>(std::size(kFew)));
  for (const int lanes : kFew) {
    auto [check, body] = new_blocks("few_lanes", "few_well");
    const uint32_t these = (1u << lanes) - 1;
    versions->addCase(b_.getInt32(these), check);
    b_.SetInsertPoint(check);
    V good = b_.getTrue();
    for (const Access& a : accesses) {
      const Value address = address_of(a);
      good = b_.CreateAnd(good, address.runs ? fits(a, address.run[0], a.total() * static_cast<uint64_t>(lanes))
                                             : line_fits(a, address.line, b_.getInt32(these)));
    }
    go_on_if(good, body, other);
    at_.active = b_.getInt32(these);
    as_.few = lanes;
    for (const Access& a : accesses) as_.checked.insert(a.insn);
    for (uint32_t k = first; k < end; ++k)
      if (std::find(ahead.begin(), ahead.end(), k) == ahead.end()) emit_instruction(flow_.code->insns[k]);
    as_.checked.clear();
    as_.few = 0;
    at_.active = mask;
    b_.CreateBr(join);
  }
  b_.SetInsertPoint(other);
}

}  // namespace warpbeam::jit
