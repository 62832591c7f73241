// The loads and stores themselves, once all addresses are known to be good: a vector access wherever the address has a known
// shape, else a gather or scatter.
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

// A whole run of a full warp. Where it fills lines of memory that the kernel does not read, the caches need not hold them.
void Emitter::store_dense(const Access& a, V data, V address, V pointer) {
  constexpr uint64_t kLine = 64;
  const uint64_t bytes = data->getType()->getPrimitiveSizeInBits() / 8;
  const llvm::Align align(a.total());
  static const bool without = left_out("streaming");
  if (a.shared || a.root < 0 || plan_.roots.publishes || plan_.roots.loaded.contains(a.root) || bytes % kLine || without) {
    user(b_.CreateAlignedStore(data, pointer, align));
    return;
  }
  tables_.streams = true;
  uses(Technique::Streaming);
  auto* past = BasicBlock::Create(c_, "past_caches", f_);
  auto* plain = BasicBlock::Create(c_, "plain", f_);
  auto* join = BasicBlock::Create(c_, "stored", f_);
  const V large = is_large(range_of(a));
  const V lines = b_.CreateICmpEQ(b_.CreateAnd(address, b_.getInt64(kLine - 1)), b_.getInt64(0));
  b_.CreateCondBr(b_.CreateAnd(large, lines), past, plain);
  b_.SetInsertPoint(past);
  auto* store = b_.CreateAlignedStore(data, pointer, llvm::Align(kLine));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(c_, llvm::ConstantAsMetadata::get(b_.getInt32(1))));
  user(store);
  b_.CreateBr(join);
  b_.SetInsertPoint(plain);
  user(b_.CreateAlignedStore(data, pointer, align));
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
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

void Emitter::touch(const Access& a, const Value& address, V mask) {
  const uint64_t total = a.total();
  watch_access(*a.insn, address, mask, total);
  const bool full = llvm::isa<llvm::ConstantInt>(mask) && llvm::cast<llvm::ConstantInt>(mask)->isMinusOne();
  const int runs = address.runs, length = runs ? kLanes / runs : 0;
  llvm::Type* const element = lane_type(a.memory);
  const llvm::Align align(total), element_align(a.memory);
  const V shared = a.shared ? context_field(offsetof(Context, shared), b_.getPtrTy(), true) : nullptr;
  const auto pointer = [&](V at, uint64_t offset = 0) -> V {
    if (offset) at = b_.CreateAdd(at, llvm::ConstantInt::get(at->getType(), offset));
    if (a.shared) return b_.CreateGEP(b_.getInt8Ty(), shared, at);
    return b_.CreateIntToPtr(at, at->getType()->isVectorTy() ? static_cast<llvm::Type*>(FixedVectorType::get(b_.getPtrTy(), kLanes)) : b_.getPtrTy());
  };
  const auto widen = [&](V v) {
    llvm::Type* t = v->getType()->isVectorTy() ? static_cast<llvm::Type*>(FixedVectorType::get(lane_type(a.reg), llvm::cast<FixedVectorType>(v->getType())->getNumElements())) : lane_type(a.reg);
    return a.sign ? b_.CreateSExtOrTrunc(v, t) : b_.CreateZExtOrTrunc(v, t);
  };
  const auto put = [&](int k, V v, bool scalar) {
    Value out;
    out.runs = scalar ? 1 : 0;
    (scalar ? out.run[0] : out.lanes) = widen(v);
    write(a.slots[static_cast<size_t>(k)], a.reg, out);
  };
  // Lanes that take no part read as zero: a lane of undefined bits would make a mask of all lanes undefined.
  // Lane addresses of what has no better form.
  const auto addresses = [&]() -> V {
    V all = lanes_of(address, 8);
    if (a.shared) all = b_.CreateTrunc(all, FixedVectorType::get(b_.getInt32Ty(), kLanes));
    return all;
  };
  const auto narrow = [&](int k) { return data_of(a, k); };
  const auto stored = [&](const Value& v) { return b_.CreateTrunc(lanes_of(v, a.reg), type_of(a.memory, true)); };
  const bool dense = runs && address.stride == static_cast<int64_t>(total);

  if (a.load && full && ((dense && runs) || (runs == 1 && in_steps(a, address)))) name_next_blocks(a, address);
  const V ready = a.load && full && dense && runs == 1 ? from_windows(a, pointer(address.run[0])) : nullptr;
  if (a.load && dense && runs == 1 && !ready) name_next_turns(a, address.run[0]);
  if (ready) {
    put(0, ready, false);
  } else if (few_ && a.load) {
    put(0, load_few(address, shared, a.memory), false);
  } else if (few_) {
    store_few(stored(narrow(0)), address, shared, a.memory);
  } else if (a.load && runs == 1 && address.stride == 0) {
    for (int k = 0; k < a.count; ++k)
      put(k, user(b_.CreateAlignedLoad(element, pointer(address.run[0], static_cast<uint64_t>(k) * a.memory), element_align)), true);
  } else if (a.load && runs && address.stride == 0) {
    for (int k = 0; k < a.count; ++k) {
      Value v;
      v.runs = static_cast<uint8_t>(runs);
      for (size_t r = 0; r < static_cast<size_t>(runs); ++r)
        v.run[r] = user(b_.CreateAlignedLoad(element, pointer(address.run[r], static_cast<uint64_t>(k) * a.memory), element_align));
      put(k, lanes_of(v, a.memory), false);
    }
  } else if (a.load && dense && (full || a.count == 1)) {
    uses(Technique::Dense);
    std::vector<V> parts;
    auto* part_type = FixedVectorType::get(element, static_cast<unsigned>(length * a.count));
    for (size_t r = 0; r < static_cast<size_t>(runs); ++r) {
      if (full) {
        parts.push_back(user(b_.CreateAlignedLoad(part_type, pointer(address.run[r]), align)));
      } else {
        V here = runs == 1 ? mask : b_.CreateLShr(mask, r * static_cast<size_t>(length));
        V bits = b_.CreateBitCast(b_.CreateTrunc(here, b_.getIntNTy(static_cast<unsigned>(length))), FixedVectorType::get(b_.getInt1Ty(), static_cast<unsigned>(length)));
        parts.push_back(user(b_.CreateMaskedLoad(part_type, pointer(address.run[r]), align, bits, llvm::Constant::getNullValue(part_type))));
      }
    }
    const auto concat = [&](V x, V y) {
      const int n = static_cast<int>(llvm::cast<FixedVectorType>(x->getType())->getNumElements());
      std::vector<int> all;
      for (int k = 0; k < 2 * n; ++k) all.push_back(k);
      return b_.CreateShuffleVector(x, y, all);
    };
    while (parts.size() > 1) {
      std::vector<V> next;
      for (size_t k = 0; k + 1 < parts.size(); k += 2) next.push_back(concat(parts[k], parts[k + 1]));
      parts = next;
    }
    for (int k = 0; k < a.count; ++k) {
      V v = parts[0];
      if (a.count > 1) {
        std::vector<int> pick;
        for (int l = 0; l < kLanes; ++l) pick.push_back(l * a.count + k);
        v = b_.CreateShuffleVector(v, pick);
      }
      put(k, v, false);
    }
  } else if (a.load && in_steps(a, address)) {
    put(0, load_steps(pointer(address.run[0]), mask, a.memory, static_cast<int>(address.stride / static_cast<int64_t>(total))), false);
  } else if (a.load && a.count == 1 && looks_for_stretches() && !address.line.base) {
    put(0, load_lanes(lanes_of(address, 8), mask, a.memory, shared), false);
  } else if (a.load) {
    uses(Technique::Gathers);
    const V at = addresses();
    const V bits = full ? static_cast<V>(llvm::Constant::getAllOnesValue(FixedVectorType::get(b_.getInt1Ty(), kLanes))) : bool_lanes(mask);
    std::vector<V> loaded;
    for (int k = 0; k < a.count; ++k) {
      auto* type = FixedVectorType::get(element, kLanes);
      loaded.push_back(user(b_.CreateMaskedGather(type, pointer(at, static_cast<uint64_t>(k) * a.memory), element_align, bits, llvm::Constant::getNullValue(type))));
    }
    for (int k = 0; k < a.count; ++k) put(k, loaded[static_cast<size_t>(k)], false);
  } else if (dense && (a.count == 1 || full)) {
    uses(Technique::Dense);
    std::vector<V> data;
    for (int k = 0; k < a.count; ++k) data.push_back(stored(narrow(k)));
    for (size_t r = 0; r < static_cast<size_t>(runs); ++r) {
      V v;
      if (a.count == 1) {
        v = data[0];
        if (runs > 1) {
          std::vector<int> pick;
          for (int l = 0; l < length; ++l) pick.push_back(static_cast<int>(r) * length + l);
          v = b_.CreateShuffleVector(v, pick);
        }
      } else {  // interleave
        V both = data[0], rest = data[1];
        std::vector<int> pick;
        if (a.count == 2) {
          for (int l = 0; l < length; ++l)
            for (int k = 0; k < 2; ++k) pick.push_back(k * kLanes + static_cast<int>(r) * length + l);
          v = b_.CreateShuffleVector(both, rest, pick);
        } else {
          std::vector<int> all;
          for (int k = 0; k < 2 * kLanes; ++k) all.push_back(k);
          V ab = b_.CreateShuffleVector(data[0], data[1], all), cd = b_.CreateShuffleVector(data[2], data[3], all);
          for (int l = 0; l < length; ++l)
            for (int k = 0; k < 4; ++k) pick.push_back(k * kLanes + static_cast<int>(r) * length + l);
          v = b_.CreateShuffleVector(ab, cd, pick);
        }
      }
      if (full) {
        store_dense(a, v, address.run[r], pointer(address.run[r]));
      } else {
        V here = runs == 1 ? mask : b_.CreateLShr(mask, r * static_cast<size_t>(length));
        V bits = b_.CreateBitCast(b_.CreateTrunc(here, b_.getIntNTy(static_cast<unsigned>(length))), FixedVectorType::get(b_.getInt1Ty(), static_cast<unsigned>(length)));
        user(b_.CreateMaskedStore(v, pointer(address.run[r]), align, bits));
      }
    }
  } else if (runs == 1 && address.stride == 0) {
    // All lanes write one place: the last one's value stays.
    for (int k = 0; k < a.count; ++k) {
      const Value v = narrow(k);
      V last = v.uniform() ? v.run[0] : b_.CreateExtractElement(lanes_of(v, a.reg), b_.CreateSub(b_.getInt32(31), b_.CreateIntrinsic(In::ctlz, {b_.getInt32Ty()}, {mask, b_.getTrue()})));
      user(b_.CreateAlignedStore(b_.CreateTrunc(last, element), pointer(address.run[0], static_cast<uint64_t>(k) * a.memory), element_align));
    }
  } else if (in_steps(a, address)) {
    store_steps(stored(narrow(0)), pointer(address.run[0]), mask, a.memory, static_cast<int>(address.stride / static_cast<int64_t>(total)));
  } else if (full && a.insn == late_store_ && address.line.base) {
    store_late(a, stored(narrow(0)), address.line);
  } else if (a.count == 1 && address.line.base && a.insn == late_store_) {
    // Full warps are told apart here.
    auto* every = BasicBlock::Create(c_, "full_warp", f_);
    auto* some = BasicBlock::Create(c_, "some_lanes", f_);
    auto* join = BasicBlock::Create(c_, "stored", f_);
    const V data = stored(narrow(0));
    b_.CreateCondBr(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), every, some);
    b_.SetInsertPoint(every);
    store_late(a, data, address.line);
    b_.CreateBr(join);
    b_.SetInsertPoint(some);
    store_apart(data, address.line, shared, mask, a.memory);
    b_.CreateBr(join);
    b_.SetInsertPoint(join);
  } else if (a.count == 1 && address.line.base) {
    store_apart(stored(narrow(0)), address.line, shared, mask, a.memory);
  } else if (a.count == 1 && looks_for_stretches()) {
    store_lanes(stored(narrow(0)), lanes_of(address, 8), mask, a.memory, shared);
  } else {
    uses(Technique::Gathers);
    const V at = addresses();
    const V bits = full ? static_cast<V>(llvm::Constant::getAllOnesValue(FixedVectorType::get(b_.getInt1Ty(), kLanes))) : bool_lanes(mask);
    for (int k = 0; k < a.count; ++k) user(b_.CreateMaskedScatter(stored(narrow(k)), pointer(at, static_cast<uint64_t>(k) * a.memory), element_align, bits));
  }
}

}  // namespace warpbeam::jit
