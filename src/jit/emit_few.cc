// The end of a tree in shared memory: 16 lanes, then 8, 4, 2 and 1, each time reading what has just been written. Hosts
// hand a store's bytes on to a load that lies within them, and wait for the cache where it sticks out, so these numbers
// of lanes have versions of the code with accesses of exactly their size.
#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Kind;
using llvm::BasicBlock;

namespace {

constexpr uint32_t kMostInstructions = 24;  // of which there is a version for each number of lanes
constexpr int kFew[] = {16, 8, 4, 2, 1};

}  // namespace

// Is the predicate, as it is before instruction `end` of the node, made by comparing numbers that grow in even steps, as
// `tid < s`?
bool Emitter::compares_steps(const Node& node, int32_t predicate, uint32_t end) const {
  const vm::Insn* i = made_before(node, predicate, end);
  if (!i) return false;
  if (i->step == vm::Step::NotPred) return compares_steps(node, i->op[1], number_of(*i));
  const isa::Kind kind = i->source->form.row->kind;
  if (kind == Kind::Lane) return compares_steps(node, i->op[1], number_of(*i)) || compares_steps(node, i->op[2], number_of(*i));
  if (kind != Kind::Compare || isa::is_float(i->type())) return false;
  const Width bytes = static_cast<Width>(isa::bytes_of(i->type()));
  return shapes_.source(i->op[1], bytes).runs > 0 && shapes_.source(i->op[2], bytes).runs > 0;
}

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
bool Emitter::suits_few(uint32_t first, uint32_t end, const std::vector<Access>& accesses) const {
  static const bool without = left_out("few");
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
void Emitter::emit_few(uint32_t first, uint32_t end, const std::vector<Access>& accesses,
                       const std::vector<uint32_t>& ahead, V none_wraps, BasicBlock* join) {
  uses(Technique::FewLanes);
  const V mask = at_.active;
  auto* other = new_block("other");
  auto* sort = new_block("few");
  b_.CreateCondBr(none_wraps, sort, other);
  b_.SetInsertPoint(sort);
  auto* versions = b_.CreateSwitch(mask, other, static_cast<unsigned>(std::size(kFew)));
  for (const int lanes : kFew) {
    auto* check = new_block("few_lanes");
    auto* body = new_block("few_well");
    const uint32_t these = (1u << lanes) - 1;
    versions->addCase(b_.getInt32(these), check);
    b_.SetInsertPoint(check);
    V good = b_.getTrue();
    for (const Access& a : accesses) {
      const Value address = address_of(a);
      good = b_.CreateAnd(good, address.runs ? fits(a, address.run[0], a.total() * static_cast<uint64_t>(lanes))
                                             : line_fits(a, address.line, b_.getInt32(these)));
    }
    b_.CreateCondBr(good, body, other);
    b_.SetInsertPoint(body);
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

V Emitter::load_few(const Value& address, V shared, Width bytes) {
  auto* type = llvm::FixedVectorType::get(lane_type(bytes), static_cast<unsigned>(as_.few));
  V some = llvm::Constant::getNullValue(type);
  if (address.runs)
    some = user(b_.CreateAlignedLoad(type, b_.CreateGEP(b_.getInt8Ty(), shared, address.run[0]), llvm::Align(bytes)));
  for (int l = 0; l < as_.few && !address.runs; ++l)
    some = b_.CreateInsertElement(
        some, user(b_.CreateAlignedLoad(type->getElementType(), on_line(address.line, shared, l), llvm::Align(bytes))),
        static_cast<uint64_t>(l));
  std::vector<int> pick;
  for (int l = 0; l < kLanes; ++l) pick.push_back(l < as_.few ? l : as_.few);
  return b_.CreateShuffleVector(some, llvm::Constant::getNullValue(type), pick);
}

void Emitter::store_few(V lanes, const Value& address, V shared, Width bytes) {
  std::vector<int> pick;
  for (int l = 0; l < as_.few; ++l) pick.push_back(l);
  if (address.runs)
    user(b_.CreateAlignedStore(b_.CreateShuffleVector(lanes, pick),
                               b_.CreateGEP(b_.getInt8Ty(), shared, address.run[0]), llvm::Align(bytes)));
  for (int l = 0; l < as_.few && !address.runs; ++l)
    user(b_.CreateAlignedStore(b_.CreateExtractElement(lanes, static_cast<uint64_t>(l)),
                               on_line(address.line, shared, l), llvm::Align(bytes)));
}

// The place of a lane.
V Emitter::on_line(const Line& line, V shared, int lane) {
  return b_.CreateGEP(b_.getInt8Ty(), shared,
                      b_.CreateAdd(line.base, b_.CreateMul(line.slope, b_.getInt64(static_cast<uint64_t>(lane)))));
}

}  // namespace warpbeam::jit
