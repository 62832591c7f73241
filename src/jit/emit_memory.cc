// Loads and stores. The fast path is a vector access wherever the address has a known shape, else a gather or scatter; it
// is taken when all lanes lie within the allocation that the instruction touched last. Whatever else happens, a fault
// above all, is what the interpreter's handler of the same instruction makes of it.
#include <llvm/IR/Intrinsics.h>

#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Space;
using llvm::FixedVectorType;
namespace In = llvm::Intrinsic;

struct Emitter::Access {
  bool load = true;
  Width memory = 0;      // bytes of an element in memory
  Width reg = 0;         // of its register
  bool sign = false;
  int count = 1;
  std::vector<int32_t> slots;
  bool shared = false;
  V base = nullptr;      // host address that offsets count from; null: addresses are host addresses
};

void Emitter::emit_memory(const vm::Insn& i) {
  const isa::Row& row = *i.source->form.row;
  const isa::Mods& m = i.mods();
  if (row.cls == isa::Class::Misc) return;
  Access a;
  a.load = row.cls == isa::Class::Load;
  a.memory = static_cast<Width>(isa::bytes_of(i.type()));
  a.reg = i.width;
  a.sign = isa::is_signed(i.type()) && a.load;
  a.count = i.list ? i.count : 1;
  for (int k = 0; k < a.count; ++k) a.slots.push_back(i.list ? i.list[k] : i.op[0]);
  if (const int32_t key = flow_.parameter_key(i); key >= 0) {
    a.load ? write(a.slots[0], a.reg, read(key, a.reg)) : write(key, a.reg, read(a.slots[0], a.reg));
    return;
  }
  const bool param_space = m.space == Space::Param || m.space == Space::ParamEntry || m.space == Space::ParamFunc;
  const auto widen = [&](V v) {
    llvm::Type* t = v->getType()->isVectorTy() ? static_cast<llvm::Type*>(FixedVectorType::get(lane_type(a.reg), llvm::cast<FixedVectorType>(v->getType())->getNumElements())) : lane_type(a.reg);
    return a.sign ? b_.CreateSExtOrTrunc(v, t) : b_.CreateZExtOrTrunc(v, t);
  };
  if (param_space && i.op[1] < 0 && a.load && a.memory <= 8) {
    const V params = context_field(offsetof(Context, params), b_.getPtrTy(), true);
    for (int k = 0; k < a.count; ++k) {
      V at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), params, static_cast<uint64_t>(i.imm + k * a.memory));
      auto* load = b_.CreateAlignedLoad(lane_type(a.memory), at, llvm::Align(1));
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(c_, {}));
      Value v;
      v.runs = 1;
      v.run[0] = widen(load);
      write(a.slots[static_cast<size_t>(k)], a.reg, v);
    }
    return;
  }
  const int total = a.memory * a.count;
  const bool global = m.space == Space::Global || m.space == Space::Const || m.space == Space::Generic;
  a.shared = m.space == Space::Shared || m.space == Space::SharedCluster;
  if ((!global && !a.shared) || a.memory > 8 || total > 16 || (total & (total - 1))) return call_handler(i, active_);
  // The address of each run, or of each lane.
  Value address;
  address.runs = 1;
  address.run[0] = b_.getInt64(static_cast<uint64_t>(i.imm));
  if (i.op[1] >= 0) {
    const Value base = read(i.op[1], i.base_width);
    address = base;
    const auto whole = [&](V v, bool vector) {
      if (i.base_width == 8) return b_.CreateAdd(v, llvm::ConstantInt::get(v->getType(), static_cast<uint64_t>(i.imm)));
      v = b_.CreateAdd(v, llvm::ConstantInt::get(v->getType(), static_cast<uint32_t>(i.imm)));
      return b_.CreateZExt(v, type_of(8, vector));
    };
    if (base.runs == 0) address.lanes = whole(base.lanes, true);
    for (size_t r = 0; r < base.runs; ++r) address.run[r] = whole(base.run[r], false);
  }
  if (a.shared) a.base = context_field(offsetof(Context, shared), b_.getPtrTy(), true);
  fast_access(i, address, active_, a);
}

void Emitter::fast_access(const vm::Insn& i, const Value& address, V mask, Access& a) {
  const uint64_t total = static_cast<uint64_t>(a.memory) * static_cast<uint64_t>(a.count);
  const bool full = llvm::isa<llvm::ConstantInt>(mask) && llvm::cast<llvm::ConstantInt>(mask)->isMinusOne();
  V lo = b_.getInt64(0), limit;  // offsets from lo must be below the limit
  if (a.shared) {
    const V bytes = context_field(offsetof(Context, shared_bytes), b_.getInt64Ty(), true);
    limit = intrinsic(In::smax, b_.CreateSub(bytes, b_.getInt64(total - 1)), b_.getInt64(0));
  } else {
    const V ranges = context_field(offsetof(Context, ranges), b_.getPtrTy(), true);
    const size_t at = i.cache * sizeof(vm::AccessRange);
    lo = machine_load(b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ranges, at + offsetof(vm::AccessRange, lo)));
    const V hi = machine_load(b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ranges, at + offsetof(vm::AccessRange, hi)));
    limit = intrinsic(In::smax, b_.CreateSub(b_.CreateSub(hi, lo), b_.getInt64(total - 1)), b_.getInt64(0));
  }
  const int runs = address.runs, length = runs ? kLanes / runs : 0;
  V ok;
  if (runs == 0) {
    const V offset = a.shared ? address.lanes : b_.CreateSub(address.lanes, splat(lo));
    V good = b_.CreateICmpULT(offset, splat(limit));
    if (total > 1) good = b_.CreateAnd(good, b_.CreateICmpEQ(b_.CreateAnd(address.lanes, splat(b_.getInt64(total - 1))), llvm::Constant::getNullValue(address.lanes->getType())));
    V bad = b_.CreateNot(mask_bits(good));
    if (!full) bad = b_.CreateAnd(bad, mask);
    ok = b_.CreateICmpEQ(bad, b_.getInt32(0));
  } else {
    ok = b_.getTrue();
    V low_bits = b_.getInt64(static_cast<uint64_t>(address.stride));
    for (size_t r = 0; r < static_cast<size_t>(runs); ++r) {
      V first = address.run[r], last = first;
      if (address.stride) {
        if (runs == 1 && !full) {
          const V head = b_.CreateZExt(b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {mask, b_.getTrue()}), b_.getInt64Ty());
          const V tail = b_.CreateZExt(b_.CreateSub(b_.getInt32(31), b_.CreateIntrinsic(In::ctlz, {b_.getInt32Ty()}, {mask, b_.getTrue()})), b_.getInt64Ty());
          last = b_.CreateAdd(address.run[r], b_.CreateMul(tail, b_.getInt64(static_cast<uint64_t>(address.stride))));
          first = b_.CreateAdd(address.run[r], b_.CreateMul(head, b_.getInt64(static_cast<uint64_t>(address.stride))));
        } else {
          last = b_.CreateAdd(first, b_.getInt64(static_cast<uint64_t>(address.stride * (length - 1))));
        }
      }
      for (V end : {first, last}) {
        ok = b_.CreateAnd(ok, b_.CreateICmpULT(a.shared ? end : b_.CreateSub(end, lo), limit));
        if (first == last) break;
      }
      low_bits = b_.CreateOr(low_bits, address.run[r]);
    }
    if (total > 1) ok = b_.CreateAnd(ok, b_.CreateICmpEQ(b_.CreateAnd(low_bits, b_.getInt64(total - 1)), b_.getInt64(0)));
  }
  auto* fast = llvm::BasicBlock::Create(c_, "fast", f_);
  auto* slow = llvm::BasicBlock::Create(c_, "slow", f_);
  auto* join = llvm::BasicBlock::Create(c_, "join", f_);
  b_.CreateCondBr(ok, fast, slow, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
  b_.SetInsertPoint(slow);
  call_handler(i, mask);
  b_.CreateBr(join);
  b_.SetInsertPoint(fast);

  llvm::Type* const element = lane_type(a.memory);
  const llvm::Align align(total), element_align(a.memory);
  const auto pointer = [&](V at, uint64_t offset = 0) -> V {
    if (offset) at = b_.CreateAdd(at, llvm::ConstantInt::get(at->getType(), offset));
    if (a.shared) return b_.CreateGEP(b_.getInt8Ty(), a.base, at);
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
  const auto narrow = [&](int k) {  // the data of a store
    const int32_t at = a.slots[static_cast<size_t>(k)];
    Value v = read(at, a.reg);
    const Source s = flow_.source(at, a.reg);
    if (s.kind == SourceKind::Variable && shapes_.loose[s.variable]) {
      if (v.runs) v.run[0] = bits_of(canonical(float_of(v.run[0], 4)));
      else v.lanes = bits_of(canonical(float_of(v.lanes, 4)));
    }
    return v;
  };
  const auto stored = [&](const Value& v) { return b_.CreateTrunc(lanes_of(v, a.reg), type_of(a.memory, true)); };
  const bool dense = runs && address.stride == static_cast<int64_t>(total);

  if (a.load && runs == 1 && address.stride == 0) {
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
  } else if (a.load) {
    const V at = addresses();
    const V bits = full ? static_cast<V>(llvm::Constant::getAllOnesValue(FixedVectorType::get(b_.getInt1Ty(), kLanes))) : bool_lanes(mask);
    std::vector<V> loaded;
    for (int k = 0; k < a.count; ++k) {
      auto* type = FixedVectorType::get(element, kLanes);
      loaded.push_back(user(b_.CreateMaskedGather(type, pointer(at, static_cast<uint64_t>(k) * a.memory), element_align, bits, llvm::Constant::getNullValue(type))));
    }
    for (int k = 0; k < a.count; ++k) put(k, loaded[static_cast<size_t>(k)], false);
  } else if (dense && (a.count == 1 || full)) {
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
        user(b_.CreateAlignedStore(v, pointer(address.run[r]), align));
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
  } else {
    const V at = addresses();
    const V bits = full ? static_cast<V>(llvm::Constant::getAllOnesValue(FixedVectorType::get(b_.getInt1Ty(), kLanes))) : bool_lanes(mask);
    for (int k = 0; k < a.count; ++k) user(b_.CreateMaskedScatter(stored(narrow(k)), pointer(at, static_cast<uint64_t>(k) * a.memory), element_align, bits));
  }
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
}

}  // namespace warpbeam::jit
