// Accesses of whole warps under an observer of events: what is remembered of their words is looked at here, as
// vm/watched_words.h says, and the observer is asked about what is left.
#include <bit>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
using llvm::FixedVectorType;
using namespace vm::words;

namespace {

constexpr uint32_t kMostWords = 64;  // of an access: more would be very long code
constexpr uint32_t kOfVector = 4;    // words that are looked at together

// The same four numbers for each of `words` words.
llvm::Constant* repeat(llvm::IRBuilder<>& b, uint32_t words, std::array<uint32_t, kNumbers> numbers) {
  std::vector<uint32_t> all;
  for (uint32_t k = 0; k < words; ++k) all.insert(all.end(), numbers.begin(), numbers.end());
  return llvm::ConstantDataVector::get(b.getContext(), all);
}

}  // namespace

// How an access falls into stretches of words, each of which belongs to lanes from `lane` on; empty: it is not looked at.
std::vector<WordRun> Emitter::words_of(const vm::Insn& i, const Value& address, uint64_t bytes) const {
  const isa::Row& row = *i.source->form.row;
  const bool load = row.cls == isa::Class::Load;
  const bool dense = address.stride == static_cast<int64_t>(bytes), one_place = address.stride == 0 && load;
  if (address.runs == 0 || !vm::loads_or_stores(i) || (!dense && !one_place) || isa::bytes_of(i.type()) < 4 || bytes > 16) return {};
  if (i.mods().sem != isa::Sem::None && i.mods().sem != isa::Sem::Weak) return {};
  const uint32_t length = kLanes / address.runs, each = static_cast<uint32_t>(bytes / 4);
  const bool fixed = address.runs > 1 && address.even;
  std::vector<WordRun> all;
  if (dense && fixed && address.gap == static_cast<int64_t>(bytes * length)) {
    all.push_back({address.run[0], 0, kLanes * each, each, false});
  } else if (dense && fixed && address.gap == 0) {
    if (load) all.push_back({address.run[0], 0, length * each, each, true});
  } else {
    for (uint32_t r = 0; r < address.runs; ++r)
      all.push_back({address.run[r], r * length, dense ? length * each : each, each, !dense && length > 1});
  }
  uint32_t words = 0;
  for (const WordRun& w : all) words += w.count;
  return words > kMostWords ? std::vector<WordRun>{} : all;
}

// The group's next events, of all lanes of this warp.
void Emitter::begin_burst(V block, V group, V key, uint32_t place) {
  const auto part = [&](V base, uint64_t offset) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset); };
  const auto of_block = [&](llvm::Type* t, size_t offset) { return machine_load(t, part(block, offset)); };
  auto* const i32 = b_.getInt32Ty();
  const V next = of_block(b_.getPtrTy(), offsetof(vm::WatchedBlock, next));
  const V first = b_.CreateAnd(b_.CreateAdd(machine_load(i32, next), b_.getInt32(vm::kTogether - 1)), b_.getInt32(~(vm::kTogether - 1)));
  machine_store(b_.CreateAdd(first, b_.getInt32(vm::kTogether)), next);
  // Its place in the ring is that many bursts on.
  const V offset = b_.CreateMul(b_.CreateZExt(b_.CreateAnd(first, b_.getInt32(vm::kTogether * (vm::kBursts - 1))), b_.getInt64Ty()),
                                b_.getInt64(sizeof(vm::WatchedBurst) / vm::kTogether));
  const V burst = b_.CreateInBoundsGEP(b_.getInt8Ty(), of_block(b_.getPtrTy(), offsetof(vm::WatchedBlock, ring)), offset);
  machine_store(first, part(burst, offsetof(vm::WatchedBurst, first)));
  machine_store(of_block(i32, offsetof(vm::WatchedBlock, op)), part(burst, offsetof(vm::WatchedBurst, op)));
  machine_store(of_block(i32, offsetof(vm::WatchedBlock, block)), part(burst, offsetof(vm::WatchedBurst, block)));
  machine_store(b_.getInt32(~0u), part(burst, offsetof(vm::WatchedBurst, mask)));
  machine_store(at_.warp, part(burst, offsetof(vm::WatchedBurst, warp)));
  const V who = of_block(b_.getPtrTy(), offsetof(vm::WatchedBlock, who));
  auto* const line = FixedVectorType::get(i32, vm::kTogether);
  auto* all = llvm::cast<llvm::LoadInst>(machine_load(line, part(who, place / vm::kTogether * vm::kTogether * sizeof(uint32_t))));
  all->setAlignment(llvm::Align(4));
  machine_store(all, part(burst, offsetof(vm::WatchedBurst, who)));
  machine_store(key, part(group, offsetof(vm::WatchedGroup, key)));
  machine_store(first, part(group, offsetof(vm::WatchedGroup, first)));
}

// Goes to `seen` where nothing is left to do; the code goes on where the observer is to be asked.
void Emitter::look_at_words(const vm::Insn& i, const std::vector<WordRun>& all, V mask, BasicBlock* seen) {
  auto* const word_type = b_.getInt32Ty();
  if (watching_.places.of.empty()) watching_.places = vm::access_places(*flow_.code);
  const uint32_t place = watching_.places.of[number_of(i)];
  const bool load = i.source->form.row->cls == isa::Class::Load;
  const bool shared = i.mods().space == isa::Space::Shared || i.mods().space == isa::Space::SharedCluster;
  auto* ask = new_block("ask");
  auto* likely = llvm::MDBuilder(c_).createBranchWeights(1000, 1);
  const auto else_ask = [&](V good, const char* name) { go_on_if(good, new_block(name), ask, likely); };
  const auto part = [&](V base, uint64_t offset) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset); };
  if (!is_all(mask)) else_ask(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), "whole_warp");  // then at_.active is whole too

  // The site, the warp, the event.
  const V block = context_field(offsetof(Context, watched.words), b_.getPtrTy(), true);
  const V warp = b_.CreateZExt(at_.warp, b_.getInt64Ty());
  const auto element = [&](size_t table, uint64_t stride, uint32_t index, uint64_t size) {
    const V first = machine_load(b_.getPtrTy(), part(block, table), true);
    return b_.CreateInBoundsGEP(b_.getInt8Ty(), first,
                                b_.CreateAdd(b_.CreateMul(warp, b_.getInt64(stride * size)), b_.getInt64(index * size)));
  };
  const V site =
      part(machine_load(b_.getPtrTy(), part(block, offsetof(vm::WatchedBlock, sites)), true), 2 * place * sizeof(vm::WatchedSite));
  const V group = element(offsetof(vm::WatchedBlock, groups), watching_.places.groups(), place / vm::kTogether, sizeof(vm::WatchedGroup));
  const V state = element(offsetof(vm::WatchedBlock, warps), 1, 0, sizeof(vm::WatchedWarp));
  const auto load64 = [&](V base, size_t offset) { return machine_load(b_.getInt64Ty(), part(base, offset)); };
  V good = b_.CreateICmpEQ(load64(site, offsetof(vm::WatchedSite, era)), load64(block, offsetof(vm::WatchedBlock, era)));
  const V low = load64(site, offsetof(vm::WatchedSite, low)), span = load64(site, offsetof(vm::WatchedSite, span));
  for (const WordRun& w : all) good = b_.CreateAnd(good, b_.CreateICmpULE(b_.CreateSub(w.first, low), span));
  else_ask(good, "known_site");
  const V key = load64(state, offsetof(vm::WatchedWarp, key));
  auto [renew, known] = new_blocks("new_burst", "known_burst");
  b_.CreateCondBr(b_.CreateICmpEQ(load64(group, offsetof(vm::WatchedGroup, key)), key), known, renew);
  b_.SetInsertPoint(renew);
  begin_burst(block, group, key, place);
  go_on(known);
  machine_store(outside(&i), part(state, offsetof(vm::WatchedWarp, last_access)));
  machine_store(b_.getInt32(~0u), part(state, offsetof(vm::WatchedWarp, last_mask)));
  const V id = b_.CreateAdd(machine_load(word_type, part(group, offsetof(vm::WatchedGroup, first))), b_.getInt32(place % vm::kTogether));
  const V bound =
      machine_load(word_type, part(block, shared ? offsetof(vm::WatchedBlock, shared_bound) : offsetof(vm::WatchedBlock, global_bound)));
  const V required = machine_load(word_type, part(site, offsetof(vm::WatchedSite, required)));
  const V words = shared ? load64(block, offsetof(vm::WatchedBlock, shared_words)) : load64(site, offsetof(vm::WatchedSite, words));
  const V reach = shared ? static_cast<V>(b_.getInt64(~uint64_t{0})) : load64(site, offsetof(vm::WatchedSite, reach));

  struct Chunk {
    V at, numbers;
    const WordRun* of;
    uint32_t from, count;
  };
  std::vector<Chunk> chunks;
  for (const WordRun& w : all) {
    const V first = b_.CreateAdd(words, b_.CreateShl(b_.CreateAnd(w.first, reach), b_.getInt64(2)));
    for (uint32_t from = 0; from < w.count; from += kOfVector) {
      const uint32_t count = std::min(kOfVector, w.count - from);
      const V at = b_.CreateIntToPtr(b_.CreateAdd(first, b_.getInt64(16 * from)), b_.getPtrTy());
      auto* numbers = llvm::cast<llvm::LoadInst>(machine_load(FixedVectorType::get(word_type, count * kNumbers), at));
      numbers->setAlignment(llvm::Align(16));
      chunks.push_back({at, numbers, &w, from, count});
    }
  }
  const uint32_t width = std::min(kOfVector, all[0].count);
  const auto numbers = [&](std::array<uint32_t, kNumbers> n) { return static_cast<V>(repeat(b_, width, n)); };
  const auto in_each = [&](V scalar) { return b_.CreateVectorSplat(width * kNumbers, scalar); };
  const auto only = [&](V vector, std::array<uint32_t, kNumbers> n) { return b_.CreateAnd(vector, numbers(n)); };
  constexpr uint32_t kAll = ~0u;
  const V needs = only(in_each(required), {0, 0, 0, kAll}), bounds = in_each(bound), below = in_each(b_.CreateSub(bound, b_.getInt32(1)));
  // Whether all words are, number by number and of the bits in `bits`, at most `range` above `least`.
  const auto all_in = [&](V bits, V least, V range, V not_event) {
    V bad = nullptr;
    for (const Chunk& c : chunks) {
      V outside_range = b_.CreateICmpUGT(b_.CreateSub(b_.CreateAnd(c.numbers, bits), least), range);
      if (not_event)
        outside_range = b_.CreateOr(outside_range, b_.CreateAnd(b_.CreateICmpEQ(c.numbers, not_event),
                                                                b_.CreateICmpNE(numbers({0, 1, 0, 0}), numbers({0, 0, 0, 0}))));
      bad = bad ? b_.CreateOr(bad, outside_range) : outside_range;
    }
    const uint32_t flags = width * kNumbers;
    return b_.CreateICmpEQ(b_.CreateBitCast(bad, b_.getIntNTy(flags)), b_.getIntN(flags, 0));
  };
  const auto change = [&](V keep, V fresh, int lane_at, bool flags_many, bool reader_moves) {
    for (const Chunk& c : chunks) {
      std::vector<uint32_t> who;
      for (uint32_t k = 0; k < c.count; ++k) {
        const uint32_t lane = c.of->lane + (c.from + k) / c.of->each;
        for (uint32_t n : {0u, 0u, 0u, lane << lane_at | (flags_many && c.of->many ? kAMany : 0)}) who.push_back(n);
      }
      V v = b_.CreateOr(fresh, llvm::ConstantDataVector::get(c_, who));
      if (keep) v = b_.CreateOr(v, b_.CreateAnd(c.numbers, keep));
      if (reader_moves) {
        v = b_.CreateOr(v, b_.CreateShl(only(c.numbers, {0, 0, 0, kALane}), numbers({8, 8, 8, 8})));
        v = b_.CreateOr(v, b_.CreateShl(only(c.numbers, {0, 0, 0, kAMany}), numbers({1, 1, 1, 1})));
      }
      auto* store = b_.CreateAlignedStore(v, c.at, llvm::Align(16));
      store->setMetadata(llvm::LLVMContext::MD_alias_scope, w_.machine_scope);
      store->setMetadata(llvm::LLVMContext::MD_noalias, w_.user_scope);
    }
    b_.CreateBr(seen);
  };
  const V event = only(in_each(id), {0, kAll, 0, 0});
  if (!load) {
    const V range = b_.CreateAnd(below, numbers({kAll, kAll, kAll, 0}));
    else_ask(all_in(numbers({kAll, kAll, kAll, kSplit}), numbers({0, 0, 0, 0}), range, nullptr), "write");
    change(nullptr, b_.CreateOr(only(in_each(id), {kAll, 0, 0, 0}), numbers({0, 0, 0, kWholeValue})), 0, false, false);
    b_.SetInsertPoint(ask);
    return;
  }
  auto* read = new_block("not_quiet");
  const V quiet_least = b_.CreateOr(b_.CreateOr(only(bounds, {0, kAll, kAll, 0}), numbers({0, 0, 0, kTwoWarps})), needs);
  const V quiet_range = b_.CreateOr(only(below, {kAll, 0, 0, 0}), only(b_.CreateNot(bounds), {0, kAll, kAll, 0}));
  const V quiet = all_in(b_.CreateOr(numbers({kAll, kAll, kAll, kSplit | kTwoWarps}), needs), quiet_least, quiet_range, in_each(id));
  b_.CreateCondBr(quiet, seen, read);
  b_.SetInsertPoint(read);
  const V first_range = b_.CreateOr(only(below, {kAll, kAll, 0, 0}), numbers({0, 0, kAll, 0}));
  auto [first, not_first] = new_blocks("first", "not_first");
  const V bits = b_.CreateOr(numbers({kAll, kAll, kAll, kSplit}), needs);
  go_on_if(all_in(bits, needs, first_range, nullptr), first, not_first);
  change(numbers({kAll, 0, kAll, ~(kALane | kAMany | kTwoWarps)}), event, kLaneOfA, true, false);
  // Another warp's reader stays.
  b_.SetInsertPoint(not_first);
  const V other = b_.CreateExtractElement(chunks[0].numbers, uint64_t{kReadA});
  const V burst = b_.CreateInBoundsGEP(
      b_.getInt8Ty(), machine_load(b_.getPtrTy(), part(block, offsetof(vm::WatchedBlock, ring)), true),
      b_.CreateMul(
          b_.CreateZExt(b_.CreateAnd(b_.CreateLShr(other, b_.getInt32(std::countr_zero(vm::kTogether))), b_.getInt32(vm::kBursts - 1)),
                        b_.getInt64Ty()),
          b_.getInt64(sizeof(vm::WatchedBurst))));
  const auto of_burst = [&](size_t offset) { return machine_load(word_type, part(burst, offset)); };
  const auto of_block = [&](size_t offset) { return machine_load(word_type, part(block, offset)); };
  const V same_warp =
      b_.CreateAnd(b_.CreateICmpEQ(of_burst(offsetof(vm::WatchedBurst, warp)), at_.warp),
                   b_.CreateAnd(b_.CreateICmpEQ(of_burst(offsetof(vm::WatchedBurst, block)), of_block(offsetof(vm::WatchedBlock, block))),
                                b_.CreateICmpEQ(of_burst(offsetof(vm::WatchedBurst, op)), of_block(offsetof(vm::WatchedBlock, op)))));
  V second =
      b_.CreateAnd(b_.CreateICmpEQ(of_burst(offsetof(vm::WatchedBurst, first)), b_.CreateAnd(other, b_.getInt32(~(vm::kTogether - 1)))),
                   b_.CreateNot(same_warp));
  second = b_.CreateAnd(second, b_.CreateICmpUGE(other, bound));
  else_ask(second, "another_warp");
  const V others = only(in_each(other), {0, kAll, 0, 0});
  const V second_range = b_.CreateOr(only(below, {kAll, 0, 0, 0}), numbers({0, 0, kAll, 0}));
  else_ask(all_in(bits, b_.CreateOr(others, needs), second_range, nullptr), "second");
  change(numbers({kAll, 0, 0, ~(kALane | kAMany | kBLane | kBMany)}),
         b_.CreateOr(event, b_.CreateOr(only(in_each(other), {0, 0, kAll, 0}), numbers({0, 0, 0, kTwoWarps}))), kLaneOfA, true, true);
  b_.SetInsertPoint(ask);
}

// A load that compiled code makes, of shared memory that nobody writes between the barriers around it (settled.cc).
bool Emitter::loads_settled(const vm::Insn& i) const {
  return !plan_.settled.empty() && plan_.settled[at_.node] && vm::loads_or_stores(i) && i.source->form.row->cls == isa::Class::Load &&
         i.mods().space == isa::Space::Shared && (i.mods().sem == isa::Sem::None || i.mods().sem == isa::Sem::Weak);
}

// Goes to `seen` where each of the address's runs begins in the stretch that the site has, or the one of the batch that it leads.
void Emitter::skip_settled(const vm::Insn& i, bool batch, const Value& address, V mask, BasicBlock* seen) {
  if (!address.runs || address.stride < 0) return;
  if (watching_.places.of.empty()) watching_.places = vm::access_places(*flow_.code);
  const uint32_t place = watching_.places.of[number_of(i)];
  const auto part = [&](V base, uint64_t offset) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset); };
  const V block = context_field(offsetof(Context, watched.words), b_.getPtrTy(), true);
  const V sites = machine_load(b_.getPtrTy(), part(block, offsetof(vm::WatchedBlock, sites)), true);
  const auto of_site = [&](size_t offset) {
    return machine_load(b_.getInt64Ty(), part(sites, (2 * place + batch) * sizeof(vm::WatchedSite) + offset));
  };
  V good = b_.CreateICmpEQ(of_site(offsetof(vm::WatchedSite, era)),
                           machine_load(b_.getInt64Ty(), part(block, offsetof(vm::WatchedBlock, own_era))));
  good = b_.CreateAnd(good, b_.CreateICmpEQ(mask, b_.getInt32(~0u)));
  const V low = of_site(offsetof(vm::WatchedSite, low)), span = of_site(offsetof(vm::WatchedSite, span));
  for (uint32_t r = 0; r < address.runs; ++r) good = b_.CreateAnd(good, b_.CreateICmpULE(b_.CreateSub(address.run[r], low), span));
  auto [known, ask] = new_blocks("settled", "ask");
  go_on_if(good, known, ask, llvm::MDBuilder(c_).createBranchWeights(1000, 1));
  if (!batch) touched_last(i);
  b_.CreateBr(seen);
  b_.SetInsertPoint(ask);
}

}  // namespace warpbeam::jit
