// Idea: each form of access (access_plan.h) has a small emitter, a vector access wherever the address has a known shape. Precondition:
// all places are good. Postcondition: lanes that take no part touch nothing. Fallback: a gather or scatter.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
using llvm::FixedVectorType;
namespace In = llvm::Intrinsic;

// Stores into allocations larger than this go past the caches, which would not keep them. A virtual machine of a few cores is
// told of the whole last cache, which it shares with others: more than this for a core is not its own.
uint64_t streaming_bytes() {
  static const uint64_t bytes = [] {
    constexpr uint64_t kLeast = uint64_t(16) << 20, kMostForACore = uint64_t(32) << 20;
    const uint64_t last_level = static_cast<uint64_t>(std::max(0l, sysconf(_SC_LEVEL3_CACHE_SIZE)));
    return std::max(kLeast, std::min(last_level, kMostForACore * std::max(1u, std::thread::hardware_concurrency())));
  }();
  return bytes;
}

// A whole run of a full warp. Where it fills lines of memory that the kernel does not read, the caches need not hold them; where a loop
// stores to one place again and again, they had better.
void Emitter::store_dense(const Access& a, V data, V address, V pointer) {
  constexpr uint64_t kLine = 64;
  const uint64_t bytes = data->getType()->getPrimitiveSizeInBits() / 8;
  const llvm::Align align(a.total());
  static const bool without = left_out("streaming");
  const auto base = a.insn->op[1] < 0 ? std::nullopt : flow_.variable(a.insn->op[1]);
  const bool again = base && in_loop(at_.node) && !changes_in_loop(*base);
  if (again || a.shared || a.root < 0 || plan_.roots.publishes || plan_.roots.loaded.contains(a.root) || bytes % kLine || without) {
    user(b_.CreateAlignedStore(data, pointer, align));
    return;
  }
  tables_.streams = true;
  uses(Technique::Streaming);
  auto [past, plain, join] = new_blocks("past_caches", "plain", "stored");
  const V large = is_large(range_of(a));
  const V lines = b_.CreateICmpEQ(b_.CreateAnd(address, b_.getInt64(kLine - 1)), b_.getInt64(0));
  go_on_if(b_.CreateAnd(large, lines), past, plain);
  auto* store = b_.CreateAlignedStore(data, pointer, llvm::Align(kLine));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(c_, llvm::ConstantAsMetadata::get(b_.getInt32(1))));
  user(store);
  b_.CreateBr(join);
  b_.SetInsertPoint(plain);
  user(b_.CreateAlignedStore(data, pointer, align));
  go_on(join);
}

// What the store's element k is, in the register's width.
Value Emitter::data_of(const Access& a, int k) {
  const int32_t at = a.slots[static_cast<size_t>(k)];
  Value v = read(at, a.reg);
  const Source s = flow_.source(at, a.reg);
  if (s.kind == SourceKind::Variable && shapes_.loose[s.variable]) {
    if (v.runs) v.run[0] = bits_of(canonical(float_of(v.run[0], 4)));
    else v.lanes = bits_of(canonical(float_of(v.lanes, 4)));
  }
  return v;
}

AccessFacts Emitter::facts_of(const Access& a, const Value& address, V mask) const {
  static const bool no_steps = left_out("steps");
  AccessFacts f;
  f.load = a.load;
  f.count = a.count;
  f.element = a.memory;
  f.runs = address.runs;
  f.stride = address.stride;
  f.full = mask && is_all(mask);
  f.few = as_.few != 0;
  f.line = address.line.base != nullptr;
  f.window = named_.windows.contains(a.insn);
  f.may_wait = a.insn == late_.store;
  f.probes = looks_for_stretches();
  f.permutes_wide = wide_host() && !no_steps;
  return f;
}

bool Emitter::in_steps(const Access& a, const Value& address) const { return facts_of(a, address, nullptr).in_steps(); }

// Where addresses say: one, or a vector of them.
V Emitter::pointer_to(const Access& a, V at, uint64_t offset) {
  if (offset) at = b_.CreateAdd(at, llvm::ConstantInt::get(at->getType(), offset));
  if (a.shared) return b_.CreateGEP(b_.getInt8Ty(), context_field(offsetof(Context, shared), b_.getPtrTy(), true), at);
  return b_.CreateIntToPtr(
      at, at->getType()->isVectorTy() ? static_cast<llvm::Type*>(FixedVectorType::get(b_.getPtrTy(), kLanes)) : b_.getPtrTy());
}

// Lane addresses of what has no better form.
V Emitter::lane_addresses(const Access& a, const Value& address) {
  const V all = lanes_of(address, 8);
  return a.shared ? b_.CreateTrunc(all, FixedVectorType::get(b_.getInt32Ty(), kLanes)) : all;
}

// The loaded elements go to the k-th register, in its width.
void Emitter::put_loaded(const Access& a, int k, V v) {
  const auto* vector = llvm::dyn_cast<FixedVectorType>(v->getType());
  llvm::Type* t = vector ? static_cast<llvm::Type*>(FixedVectorType::get(lane_type(a.reg), vector->getNumElements())) : lane_type(a.reg);
  Value out;
  out.runs = vector ? 0 : 1;
  (vector ? out.lanes : out.run[0]) = a.sign ? b_.CreateSExtOrTrunc(v, t) : b_.CreateZExtOrTrunc(v, t);
  write(a.slots[static_cast<size_t>(k)], a.reg, out);
}

// Of the k-th register, as it is stored.
V Emitter::stored_lanes(const Access& a, int k) { return b_.CreateTrunc(lanes_of(data_of(a, k), a.reg), type_of(a.memory, true)); }

// The lanes of a run in a mask of all.
V Emitter::run_mask(V mask, int runs, int run) {
  const unsigned length = static_cast<unsigned>(kLanes / runs);
  const V here = runs == 1 ? mask : b_.CreateLShr(mask, static_cast<uint64_t>(run) * length);
  return b_.CreateBitCast(b_.CreateTrunc(here, b_.getIntNTy(length)), FixedVectorType::get(b_.getInt1Ty(), length));
}

// Lanes that take no part read as zero: a lane of undefined bits would make a mask of all lanes undefined.
void Emitter::load_dense(const Access& a, const Value& address, V mask) {
  uses(Technique::Dense);
  const llvm::Align align(a.total());
  auto* type = FixedVectorType::get(lane_type(a.memory), static_cast<unsigned>(kLanes / address.runs * a.count));
  std::vector<V> parts;
  for (int r = 0; r < address.runs; ++r) {
    const V from = pointer_to(a, address.run[static_cast<size_t>(r)]);
    parts.push_back(
        is_all(mask) ? user(b_.CreateAlignedLoad(type, from, align))
                     : user(b_.CreateMaskedLoad(type, from, align, run_mask(mask, address.runs, r), llvm::Constant::getNullValue(type))));
  }
  const V all = llvm::concatenateVectors(b_, parts);
  for (int k = 0; k < a.count; ++k) {
    const auto mine = llvm::createStrideMask(static_cast<unsigned>(k), static_cast<unsigned>(a.count), kLanes);
    put_loaded(a, k, a.count > 1 ? b_.CreateShuffleVector(all, mine) : all);
  }
}

void Emitter::store_runs(const Access& a, const Value& address, V mask) {
  uses(Technique::Dense);
  std::vector<V> data;
  for (int k = 0; k < a.count; ++k) data.push_back(stored_lanes(a, k));
  for (int r = 0; r < address.runs; ++r) {
    const V v = lane_memory_.interleaved(data, address.runs, r), at = address.run[static_cast<size_t>(r)], to = pointer_to(a, at);
    if (is_all(mask)) store_dense(a, v, at, to);
    else user(b_.CreateMaskedStore(v, to, llvm::Align(a.total()), run_mask(mask, address.runs, r)));
  }
}

// One element for all lanes of a run. A run without a lane that takes part may lie where nothing is: it reads what the first
// of the others reads.
void Emitter::load_places_of_runs(const Access& a, Value address, V mask) {
  if (address.runs > 1 && !is_all(mask)) {
    const uint32_t lanes = ~0u >> (kLanes - kLanes / address.runs);  // of the first run
    V first = address.run[address.runs - 1];
    decltype(address.run) takes_part{};
    for (size_t r = address.runs; r-- > 0;) {
      takes_part[r] = b_.CreateICmpNE(b_.CreateAnd(mask, lanes << (r * kLanes / address.runs)), b_.getInt32(0));
      first = b_.CreateSelect(takes_part[r], address.run[r], first);
    }
    for (size_t r = 0; r < address.runs; ++r) address.run[r] = b_.CreateSelect(takes_part[r], address.run[r], first);
  }
  for (int k = 0; k < a.count; ++k) {
    Value v;
    v.runs = address.runs;
    for (size_t r = 0; r < address.runs; ++r)
      v.run[r] = user(b_.CreateAlignedLoad(lane_type(a.memory), pointer_to(a, address.run[r], static_cast<uint64_t>(k) * a.memory),
                                           llvm::Align(a.memory)));
    put_loaded(a, k, address.runs == 1 ? v.run[0] : lanes_of(v, a.memory));
  }
}

// All lanes write one place: the last one's value stays.
void Emitter::store_last(const Access& a, const Value& address, V mask) {
  for (int k = 0; k < a.count; ++k) {
    const Value v = data_of(a, k);
    const V last = v.uniform() ? v.run[0]
                               : b_.CreateExtractElement(
                                     lanes_of(v, a.reg),
                                     b_.CreateSub(b_.getInt32(31), b_.CreateIntrinsic(In::ctlz, {b_.getInt32Ty()}, {mask, b_.getTrue()})));
    user(b_.CreateAlignedStore(b_.CreateTrunc(last, lane_type(a.memory)),
                               pointer_to(a, address.run[0], static_cast<uint64_t>(k) * a.memory), llvm::Align(a.memory)));
  }
}

// Full warps are told apart here, unless that is known.
void Emitter::store_deferred(const Access& a, const Value& address, V mask) {
  const V data = stored_lanes(a, 0);
  if (is_all(mask)) return store_late(a, data, address.line);
  auto [every, some, join] = new_blocks("full_warp", "some_lanes", "stored");
  go_on_if(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), every, some);
  store_late(a, data, address.line);
  b_.CreateBr(join);
  b_.SetInsertPoint(some);
  lane_memory_.store_apart(data, address.line, nullptr, mask, a.memory);
  go_on(join);
}

void Emitter::touch_apart(const Access& a, const Value& address, V mask) {
  uses(Technique::Gathers);
  const V at = lane_addresses(a, address),
          bits = is_all(mask) ? static_cast<V>(llvm::Constant::getAllOnesValue(FixedVectorType::get(b_.getInt1Ty(), kLanes)))
                              : bool_lanes(mask);
  const V base = a.shared ? context_field(offsetof(Context, shared), b_.getPtrTy(), true) : nullptr;
  std::vector<V> loaded;  // all of them before one is written: the address may be among the registers
  for (int k = 0; k < a.count; ++k) {
    const uint64_t offset = static_cast<uint64_t>(k) * a.memory;
    if (a.load)
      loaded.push_back(lane_memory_.gather(b_.CreateAdd(at, llvm::ConstantInt::get(at->getType(), offset)), base, bits, a.memory));
    else user(b_.CreateMaskedScatter(stored_lanes(a, k), pointer_to(a, at, offset), llvm::Align(a.memory), bits));
  }
  for (size_t k = 0; k < loaded.size(); ++k) put_loaded(a, static_cast<int>(k), loaded[k]);
}

void Emitter::touch(const Access& a, const Value& address, V mask) {
  watch_access(*a.insn, address, mask, a.total());
  const AccessFacts facts = facts_of(a, address, mask);
  const AccessForm form = plan_access(facts);
  const int step = static_cast<int>(address.stride / static_cast<int64_t>(a.total()));
  const auto shared = [&]() -> V { return a.shared ? context_field(offsetof(Context, shared), b_.getPtrTy(), true) : nullptr; };
  if (a.load && facts.full && (facts.dense() || (address.runs == 1 && facts.in_steps()))) name_next_blocks(a, address);
  if (a.load && facts.dense() && address.runs == 1 && form != AccessForm::Window) name_next_turns(a, address.run[0]);
  switch (form) {
    case AccessForm::Window: return put_loaded(a, 0, from_windows(a, pointer_to(a, address.run[0])));
    case AccessForm::PrefixLanes:
      if (a.load) return put_loaded(a, 0, lane_memory_.load_prefix(address, shared(), a.memory, as_.few));
      return lane_memory_.store_prefix(stored_lanes(a, 0), address, shared(), a.memory, as_.few);
    case AccessForm::OnePlace: return a.load ? load_places_of_runs(a, address, mask) : store_last(a, address, mask);
    case AccessForm::PlaceARun: return load_places_of_runs(a, address, mask);
    case AccessForm::Dense: return a.load ? load_dense(a, address, mask) : store_runs(a, address, mask);
    case AccessForm::Steps:
      if (a.load) return put_loaded(a, 0, lane_memory_.load_steps(pointer_to(a, address.run[0]), mask, a.memory, step));
      return lane_memory_.store_steps(stored_lanes(a, 0), pointer_to(a, address.run[0]), mask, a.memory, step);
    case AccessForm::Probe:
      if (a.load) return put_loaded(a, 0, lane_memory_.load_lanes(lanes_of(address, 8), mask, a.memory, shared()));
      return lane_memory_.store_lanes(stored_lanes(a, 0), lanes_of(address, 8), mask, a.memory, shared(), watch_);
    case AccessForm::Deferred: return store_deferred(a, address, mask);
    case AccessForm::LaneByLane: return lane_memory_.store_apart(stored_lanes(a, 0), address.line, shared(), mask, a.memory);
    case AccessForm::Apart: return touch_apart(a, address, mask);
  }
}

}  // namespace warpbeam::jit
