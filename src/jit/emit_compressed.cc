// Idea: lanes that were picked out of a warp store one behind the other, as in a compaction: the first and the last place speak for all.
// AVX-512 compresses a register of lanes; with AVX2, tables say for each set of eight how many are before each, and which. Precondition:
// elements of 4 bytes, with AVX-512 of 8, with its VBMI2 of 1 and 2. Postcondition: nothing is written but what the lanes store. Fallback: lanes are looked at one by one.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <bit>
#include <cstdlib>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
using llvm::FixedVectorType;
namespace In = llvm::Intrinsic;

namespace {

constexpr unsigned kGroup = 8, kGroups = kLanes / kGroup, kSets = 1u << kGroup;

bool permutes_by_tables() {
  static const bool does = __builtin_cpu_supports("avx2") && !__builtin_cpu_supports("avx512f") && !std::getenv("WARPBEAM_JIT_CPU");
  return does;
}

}  // namespace

bool Emitter::may_be_compressed(const Access& a, const Value& address, V mask) const {
  static const bool without = left_out("compressed_stores");
  return !without && (permutes_by_tables() || ranks_lanes()) && !watch_ && !as_.alone && !as_.few && !unrolled_.now && !a.load &&
         a.count == 1 && (a.memory == 4 || compresses(a.memory)) && !a.shared && address.runs == 0 && !llvm::isa<llvm::ConstantInt>(mask) &&
         looks_for_stretches();
}

// The table's row for a set of eight lanes: `ranks`, how many bytes of elements are before each; else which lane is the n-th.
V Emitter::picks(const char* name, V set, bool ranks) {
  auto* row = FixedVectorType::get(b_.getInt8Ty(), kGroup);
  auto* table = w_.module.getNamedGlobal(name);
  if (!table) {
    std::vector<uint8_t> bytes(kSets * kGroup);
    for (unsigned s = 0; s < kSets; ++s)
      for (unsigned l = 0; l < kGroup; ++l) {
        const unsigned before = static_cast<unsigned>(std::popcount(s & ((1u << l) - 1)));
        if (ranks) bytes[s * kGroup + l] = static_cast<uint8_t>(4 * before);
        else if (s >> l & 1) bytes[s * kGroup + before] = static_cast<uint8_t>(l);
      }
    auto* data = llvm::ConstantDataArray::get(c_, bytes);
    table = new llvm::GlobalVariable(w_.module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, name);
    table->setAlignment(llvm::Align(64));
  }
  return b_.CreateAlignedLoad(row, b_.CreateInBoundsGEP(row, table, set), llvm::Align(kGroup));
}

// Of `array[index]`: what is the same in all lanes, and the index. Two registers tell more about it than addresses in four.
std::optional<Indexed> Emitter::indexed(const Access& a) {
  const Node& node = flow_.nodes[at_.node];
  const uint32_t here = number_of(*a.insn);
  const auto unchanged = [&](int32_t at, const vm::Insn& since) {
    const vm::Insn* made = made_before(node, at, here);
    return !made || made <= &since;
  };
  const vm::Insn* sum = made_before(node, a.insn->op[1], here);
  if (!sum || a.insn->base_width != 8 || sum->source->form.row->op != isa::Opcode::Add || isa::bits_of(sum->type()) != 64)
    return std::nullopt;
  for (const int k : {1, 2}) {
    const int32_t base = sum->op[3 - k];
    const vm::Insn* product = made_before(node, sum->op[k], number_of(*sum));  // of bytes the index itself, widened
    if (!product) continue;
    const bool convert = product->source->form.row->kind == isa::Kind::Convert;
    const isa::Type type = convert ? product->source->form.atype : product->type();
    if (isa::bits_of(type) != 32 || isa::is_float(type)) continue;
    if (convert ? a.memory != 1 || isa::bits_of(product->type()) != 64
                : !product->is(isa::Opcode::Mul) || half_of(*product) != isa::Half::Wide)
      continue;
    const Source factor = convert ? Source{} : flow_.source(product->op[2], 8);
    const bool fits = convert || (factor.kind == SourceKind::Constant && static_cast<uint32_t>(factor.bits) == a.memory);
    if (!fits || !shapes_.source(base, 8).uniform() || !unchanged(base, *sum) || !unchanged(product->op[1], *product)) continue;
    const V from = b_.CreateAdd(read(base, 8).run[0], llvm::ConstantInt::getSigned(b_.getInt64Ty(), a.insn->imm));
    return Indexed{from, lanes_of(read(product->op[1], 4), 4), isa::is_signed(type)};
  }
  return std::nullopt;
}

// Loads of `array[index]` whose places are near each other: a register of lanes is read from its first lane's place on and permuted, be
// they a stretch, clamped at a border or some of them the same. False: it is no such load; else goes on where they are not.
bool Emitter::load_near(const Access& a, V mask, BasicBlock* join) {
  static const bool without = left_out("near");
  const bool apart = watch_ || as_.alone || as_.few || as_.slice || as_.apart || unrolled_.now;
  const bool permutes = processor_.wide && wide_host() && (a.memory > 1 || processor_.byte_tables);
  if (without || apart || !permutes || !a.load || a.shared || a.count != 1 || !looks_for_stretches()) return false;
  const std::optional<Indexed> at = indexed(a);
  if (!at) return false;
  uses(Technique::Stretches);
  constexpr unsigned kRegisterBytes = 64;
  const unsigned elements = kRegisterBytes / a.memory, lanes = std::min<unsigned>(elements, kLanes);
  llvm::Type *wide = b_.getInt64Ty(), *element = lane_type(a.memory);
  auto* type = FixedVectorType::get(element, elements);
  auto [near, far] = new_blocks("near", "far");
  std::vector<V> from, which;
  V good = b_.getTrue();
  for (unsigned g = 0; g < kLanes; g += lanes) {
    const V first = b_.CreateExtractElement(at->index, uint64_t{g});
    const V own = b_.CreateShuffleVector(at->index, llvm::createSequentialMask(g, lanes, 0));
    which.push_back(b_.CreateSub(own, b_.CreateVectorSplat(lanes, first)));
    V there = b_.CreateBitCast(b_.CreateICmpULT(which.back(), b_.CreateVectorSplat(lanes, b_.getInt32(elements))), b_.getIntNTy(lanes));
    if (!llvm::isa<llvm::ConstantInt>(mask))
      there = b_.CreateOr(there, b_.CreateNot(b_.CreateTrunc(b_.CreateLShr(mask, g), b_.getIntNTy(lanes))));
    good = b_.CreateAnd(good, b_.CreateICmpEQ(there, llvm::Constant::getAllOnesValue(there->getType())));
    const V last = b_.getInt32((at->is_signed ? ~0u >> 1 : ~0u) - (elements - 1));  // beyond which an index would wrap around
    good = b_.CreateAnd(good, at->is_signed ? b_.CreateICmpSLE(first, last) : b_.CreateICmpULE(first, last));
    const V widened = at->is_signed ? b_.CreateSExt(first, wide) : b_.CreateZExt(first, wide);
    from.push_back(b_.CreateAdd(at->base, b_.CreateMul(widened, b_.getInt64(a.memory))));
    good = b_.CreateAnd(good, fits(a, from.back(), kRegisterBytes));
  }
  go_on_if(good, near, far);
  std::vector<V> parts;
  for (size_t k = 0; k < from.size(); ++k) {
    const V all = user(b_.CreateAlignedLoad(type, pointer_to(a, from[k]), llvm::Align(a.memory)));
    const V places = b_.CreateZExtOrTrunc(b_.CreateShuffleVector(which[k], llvm::createSequentialMask(0, lanes, elements - lanes)), type);
    const In::ID permute = a.memory == 1   ? In::x86_avx512_permvar_qi_512
                           : a.memory == 2 ? In::x86_avx512_permvar_hi_512
                           : a.memory == 4 ? In::x86_avx512_permvar_si_512
                                           : In::x86_avx512_permvar_di_512;
    parts.push_back(b_.CreateShuffleVector(b_.CreateIntrinsic(permute, {}, {all, places}), llvm::createSequentialMask(0, lanes, 0)));
  }
  put_loaded(a, 0, llvm::concatenateVectors(b_, parts));
  b_.CreateBr(join);
  b_.SetInsertPoint(far);
  return true;
}

// The lanes of the mask, one behind the other. What comes behind them is for the next warps, but hosts do not see that where
// each stores as much as it happens to have: it is named.
void Emitter::store_in_a_row(const Access& a, V to, V mask) {
  constexpr uint64_t kLine = 64, kFurther = 1024;
  for (uint64_t k = 0; !a.shared && k < kLanes * a.memory; k += kLine) name_line(b_.CreateAdd(to, b_.getInt64(kFurther + k)), true);
  lane_memory_.compress(stored_lanes(a, 0), b_.CreateIntToPtr(to, b_.getPtrTy()), mask);
}

// Goes on where the lanes of the mask do not store one behind the other.
void Emitter::store_compressed(const Access& a, V places, V mask, BasicBlock* join) {
  uses(Technique::CompressedStores);
  // An index of 32 bits tells as much as an address, in half as many registers.
  const std::optional<Indexed> by = ranks_lanes() ? indexed(a) : std::nullopt;
  const V where = by ? by->index : places;
  llvm::Type *wide = b_.getInt64Ty(), *type = where->getType()->getScalarType();
  auto* maybe = by ? nullptr : new_block("maybe_picked");
  auto [picked, apart] = new_blocks("picked", "not_picked");
  const V array = scratch(where->getType());
  b_.CreateStore(where, array);
  const auto [head, tail] = ends_of(mask);
  const auto lane = [&](V l) { return b_.CreateLoad(type, b_.CreateInBoundsGEP(type, array, b_.CreateAnd(l, kLanes - 1))); };
  const auto whole = [&](V x) { return by && by->is_signed ? b_.CreateSExt(x, wide) : b_.CreateZExt(x, wide); };
  const auto place = [&](V x) { return by ? b_.CreateAdd(by->base, b_.CreateMul(x, b_.getInt64(a.memory))) : x; };
  const uint64_t step = by ? 1 : a.memory;
  const V begin = lane(head), first = whole(begin), last = whole(lane(tail)), count = b_.CreateZExt(intrinsic(In::ctpop, mask), wide);
  // None of them wraps around.
  V good = b_.CreateICmpEQ(b_.CreateSub(last, first), b_.CreateMul(b_.CreateSub(count, b_.getInt64(1)), b_.getInt64(step)));
  if (!ranks_lanes()) good = b_.CreateAnd(good, b_.CreateICmpUGE(count, b_.getInt64(kGroup)));
  good = b_.CreateAnd(good, b_.CreateAnd(fits(a, place(first), a.memory), fits(a, place(last), a.memory)));
  if (maybe) go_on_if(good, maybe, apart);
  if (ranks_lanes()) {
    // With an index all at once, so that only one way leads to where lanes' addresses are wanted.
    const V ranked = lane_memory_.is_ranked(where, begin, step, mask);
    go_on_if(by ? b_.CreateAnd(good, ranked) : ranked, picked, apart);
    store_in_a_row(a, place(first), mask);
    b_.CreateBr(join);
    b_.SetInsertPoint(apart);
    return;
  }
  std::array<V, kGroups> set, before;
  std::array<std::vector<int>, kGroups> lanes;
  V wrong = b_.getInt8(0);
  for (unsigned g = 0; g < kGroups; ++g) {
    for (unsigned l = 0; l < kGroup; ++l) lanes[g].push_back(static_cast<int>(g * kGroup + l));
    const V own = b_.CreateTrunc(b_.CreateLShr(mask, g * kGroup), b_.getInt8Ty());
    set[g] = whole(own);
    before[g] = whole(intrinsic(In::ctpop, b_.CreateAnd(mask, (1u << g * kGroup) - 1)));
    const V from = b_.CreateVectorSplat(kGroup, b_.CreateAdd(first, b_.CreateShl(before[g], 2)));
    const V wanted = b_.CreateAdd(from, b_.CreateZExt(picks("wb.ranks", set[g], true), from->getType()));
    const V right = b_.CreateBitCast(b_.CreateICmpEQ(b_.CreateShuffleVector(places, lanes[g]), wanted), b_.getInt8Ty());
    wrong = b_.CreateOr(wrong, b_.CreateAnd(own, b_.CreateNot(right)));
  }
  b_.CreateCondBr(b_.CreateICmpEQ(wrong, b_.getInt8(0)), picked, apart);

  // Put together in a place of their own, so that nothing is written but what the lanes store: the last eight lie where
  // they end, over some of those before them.
  b_.SetInsertPoint(picked);
  const V data = b_.CreateTrunc(lanes_of(data_of(a, 0), a.reg), type_of(4, true));
  llvm::Type* element = b_.getInt32Ty();
  auto* eight = FixedVectorType::get(element, kGroup);
  const V room = scratch(llvm::ArrayType::get(element, kLanes + kGroup));
  for (unsigned g = 0; g < kGroups; ++g) {
    const V which = b_.CreateZExt(picks("wb.picks", set[g], false), eight);
    const V own = b_.CreateIntrinsic(In::x86_avx2_permd, {}, {b_.CreateShuffleVector(data, lanes[g]), which});
    b_.CreateAlignedStore(own, b_.CreateInBoundsGEP(element, room, before[g]), llvm::Align(4));
  }
  const V end = b_.CreateSub(count, b_.getInt64(kGroup)), to = b_.CreateIntToPtr(first, b_.getPtrTy());
  std::array<V, kGroups> at, part;
  for (unsigned g = 0; g < kGroups; ++g) {
    at[g] = intrinsic(In::umin, b_.getInt64(g * kGroup), end);
    part[g] = b_.CreateAlignedLoad(eight, b_.CreateInBoundsGEP(element, room, at[g]), llvm::Align(4));
  }
  for (unsigned g = 0; g < kGroups; ++g) user(b_.CreateAlignedStore(part[g], b_.CreateInBoundsGEP(element, to, at[g]), llvm::Align(4)));
  b_.CreateBr(join);
  b_.SetInsertPoint(apart);
}

}  // namespace warpbeam::jit
