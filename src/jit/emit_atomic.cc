// Idea: shared memory belongs to the block's own host thread: an atomic operation there is a load, the operation and a store. In global
// memory it is the host's, one for the warp where all lanes mean one place and their order cannot be told from the result.
// Precondition: scalars at good places. Postcondition: memory as after some order of the lanes. Fallback: the interpreter's handler.
#include <llvm/IR/Intrinsics.h>

#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Op;
using isa::Space;
using isa::Type;
using llvm::BasicBlock;
namespace In = llvm::Intrinsic;

namespace {

bool known(Op op, Type t) {
  switch (t) {
    case Type::B32:
    case Type::B64:
    case Type::U32:
    case Type::S32:
    case Type::U64:
    case Type::S64: break;
    case Type::F32:
    case Type::F64: return op == Op::Add;
    default: return false;
  }
  switch (op) {
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Exch:
    case Op::Add:
    case Op::Cas:
    case Op::Inc:
    case Op::Dec:
    case Op::Min:
    case Op::Max: return true;
    default: return false;
  }
}

// Lanes may be taken together: the order of the operations does not show.
bool gathers(Op op, Type t) {
  return !isa::is_float(t) && (op == Op::Add || op == Op::And || op == Op::Or || op == Op::Xor || op == Op::Min || op == Op::Max);
}

// What often changes nothing in global memory: it is read first, since an operation of the host's takes the line from all others. Nothing
// is ordered by it.
bool may_change_nothing(const vm::Insn& i) {
  const isa::Mods& m = i.mods();
  const bool relaxed = m.sem == isa::Sem::None || m.sem == isa::Sem::Weak || m.sem == isa::Sem::Relaxed;
  return relaxed && (m.op == Op::Cas || m.op == Op::Min || m.op == Op::Max);
}

}  // namespace

// What the operation leaves where `old` was.
V Emitter::combine(const vm::Insn& i, V old, V b, V c, bool in_shared) {
  const bool sg = isa::is_signed(i.type());
  llvm::Type* type = old->getType();
  V zero = llvm::Constant::getNullValue(type);
  if (i.type() == Type::F32) {
    // The L2 cache flushes subnormal numbers.
    const auto flush = [&](V bits) {
      if (in_shared) return bits;
      const V tiny = b_.CreateICmpEQ(b_.CreateAnd(bits, 0x7f800000), zero);
      return b_.CreateSelect(tiny, b_.CreateAnd(bits, 0x80000000), bits);
    };
    return flush(bits_of(canonical(b_.CreateFAdd(float_of(flush(old), 4), float_of(flush(b), 4)))));
  }
  if (i.type() == Type::F64) {
    const V x = float_of(old, 8), y = float_of(b, 8), sum = b_.CreateFAdd(y, x);
    const auto nan = [&](V v) { return b_.CreateFCmpUNO(v, v); };
    const auto quiet = [&](V v) { return b_.CreateOr(v, 0x8000000000000ull); };
    V bad = llvm::ConstantInt::get(type, 0xfff8000000000000ull);
    // Shared memory quiets a NaN, what was there first; the L2 cache passes it on, the addend's first.
    if (in_shared) bad = b_.CreateSelect(nan(x), quiet(old), b_.CreateSelect(nan(y), quiet(b), bad));
    else bad = b_.CreateSelect(nan(y), b, b_.CreateSelect(nan(x), old, bad));
    return b_.CreateSelect(nan(sum), bad, bits_of(sum));
  }
  switch (i.mods().op) {
    case Op::And: return b_.CreateAnd(old, b);
    case Op::Or: return b_.CreateOr(old, b);
    case Op::Xor: return b_.CreateXor(old, b);
    case Op::Add: return b_.CreateAdd(old, b);
    case Op::Min: return intrinsic(sg ? In::smin : In::umin, old, b);
    case Op::Max: return intrinsic(sg ? In::smax : In::umax, old, b);
    case Op::Cas: return b_.CreateSelect(b_.CreateICmpEQ(old, b), c, old);
    case Op::Inc: return b_.CreateSelect(b_.CreateICmpUGE(old, b), zero, b_.CreateAdd(old, llvm::ConstantInt::get(type, 1)));
    case Op::Dec:
      return b_.CreateSelect(b_.CreateOr(b_.CreateICmpEQ(old, zero), b_.CreateICmpUGT(old, b)), b,
                             b_.CreateSub(old, llvm::ConstantInt::get(type, 1)));
    default: return b;  // exch
  }
}

// One lane's operation; gives what was there.
V Emitter::update_one(const vm::Insn& i, V place, V b, V c, bool in_shared) {
  llvm::Type* type = b->getType();
  const llvm::Align align(type->getScalarSizeInBits() / 8);
  if (in_shared) {
    const V old = user(b_.CreateAlignedLoad(type, place, align));
    user(b_.CreateAlignedStore(combine(i, old, b, c, true), place, align));
    return old;
  }
  constexpr auto order = llvm::AtomicOrdering::SequentiallyConsistent;
  using Rmw = llvm::AtomicRMWInst;
  const bool sg = isa::is_signed(i.type());
  const bool looks = may_change_nothing(i), swaps = i.mods().op == Op::Cas;
  if (swaps && !looks) return b_.CreateExtractValue(b_.CreateAtomicCmpXchg(place, b, c, align, order, order), 0);
  if (looks || isa::is_float(i.type())) {
    auto* start = b_.GetInsertBlock();
    auto [again, done] = new_blocks("again", "done");
    auto* first = b_.CreateAlignedLoad(type, place, align);
    first->setAtomic(llvm::AtomicOrdering::Monotonic);
    go_on(again);
    auto* old = b_.CreatePHI(type, 2);
    old->addIncoming(first, start);
    const V then = swaps ? c : combine(i, old, b, c, false);
    if (looks) {
      go_on_if(swaps ? b_.CreateICmpEQ(old, b) : b_.CreateICmpNE(old, then), new_block("change"), done);
    }
    const V pair = b_.CreateAtomicCmpXchg(place, old, then, align, order, llvm::AtomicOrdering::Monotonic);
    old->addIncoming(b_.CreateExtractValue(pair, 0), b_.GetInsertBlock());
    go_on_if(b_.CreateExtractValue(pair, 1), done, again);
    return old;
  }
  Rmw::BinOp op = Rmw::Xchg;
  switch (i.mods().op) {
    case Op::And: op = Rmw::And; break;
    case Op::Or: op = Rmw::Or; break;
    case Op::Xor: op = Rmw::Xor; break;
    case Op::Add: op = Rmw::Add; break;
    case Op::Min: op = sg ? Rmw::Min : Rmw::UMin; break;
    case Op::Max: op = sg ? Rmw::Max : Rmw::UMax; break;
    case Op::Inc: op = Rmw::UIncWrap; break;
    case Op::Dec: op = Rmw::UDecWrap; break;
    default: break;
  }
  return b_.CreateAtomicRMW(op, place, b, align, order);
}

// All lanes of the mask in one value, as the operation would take them one after the other.
V Emitter::gathered(const vm::Insn& i, const Value& v, V mask) {
  const Width bytes = static_cast<Width>(isa::bytes_of(i.type()));
  const bool sg = isa::is_signed(i.type());
  const Op op = i.mods().op;
  if (v.uniform()) {
    const V count = b_.CreateZExtOrTrunc(intrinsic(In::ctpop, mask), lane_type(bytes));
    if (op == Op::Add) return b_.CreateMul(v.run[0], count);
    if (op == Op::Xor) return b_.CreateMul(v.run[0], b_.CreateAnd(count, 1));
    return v.run[0];
  }
  llvm::Type* type = type_of(bytes, true);
  uint64_t neutral = 0;
  if (op == Op::And || (op == Op::Min && !sg)) neutral = ~0ull;
  if (op == Op::Min && sg) neutral = ~0ull >> 1 >> (64 - bytes * 8);
  if (op == Op::Max && sg) neutral = 1ull << (bytes * 8 - 1);
  const V x = b_.CreateSelect(bool_lanes(mask), lanes_of(v, bytes), llvm::ConstantInt::get(type, neutral));
  switch (op) {
    case Op::Add: return b_.CreateAddReduce(x);
    case Op::And: return b_.CreateAndReduce(x);
    case Op::Or: return b_.CreateOrReduce(x);
    case Op::Xor: return b_.CreateXorReduce(x);
    case Op::Min: return b_.CreateIntMinReduce(x, sg);
    default: return b_.CreateIntMaxReduce(x, sg);
  }
}

void Emitter::emit_atomic(const vm::Insn& i) {
  const isa::Mods& m = i.mods();
  const Type t = i.type();
  const bool shared = m.space == Space::Shared, global = m.space == Space::Global || m.space == Space::Generic;
  if (i.list || i.op[1] < 0 || (!shared && !global) || !known(m.op, t) || left_out("atomics")) return by_handler(i);
  const Width bytes = static_cast<Width>(isa::bytes_of(t));
  const V mask = at_.active;
  const bool wants_old = i.op[0] >= 0 && !i.drops_result;
  Value address = read(i.op[1], i.base_width);
  const Value b = read(i.op[2], bytes), c = i.op[3] >= 0 ? read(i.op[3], bytes) : b;
  const auto whole = [&](V v) {
    v = b_.CreateAdd(v, llvm::ConstantInt::get(v->getType(), static_cast<uint64_t>(i.imm)));
    return i.base_width == 8 ? v : b_.CreateZExt(v, type_of(8, v->getType()->isVectorTy()));
  };
  const bool one_place = address.uniform();
  V at = whole(one_place ? address.run[0] : lanes_of(address, i.base_width));

  // Within the block's shared memory, or within the allocation that was touched last; aligned.
  V lo = b_.getInt64(0), room = context_field(offsetof(Context, shared_bytes), b_.getInt64Ty(), true);
  if (!shared) {
    const V ranges = context_field(offsetof(Context, ranges), b_.getPtrTy(), true);
    const auto field = [&](size_t offset) {
      return machine_load(b_.getInt64Ty(),
                          b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ranges, i.cache * sizeof(vm::AccessRange) + offset));
    };
    lo = field(offsetof(vm::AccessRange, lo));
    room = intrinsic(In::usub_sat, field(offsetof(vm::AccessRange, hi)), lo);
  }
  const V limit = intrinsic(In::usub_sat, room, b_.getInt64(bytes - 1u));
  V good;
  if (one_place) {
    good = b_.CreateAnd(b_.CreateICmpULT(b_.CreateSub(at, lo), limit), b_.CreateICmpEQ(b_.CreateAnd(at, bytes - 1u), b_.getInt64(0)));
  } else {
    const Width width = shared ? 4 : 8;
    const V offset = shared ? b_.CreateTrunc(at, type_of(width, true)) : b_.CreateSub(at, splat(lo));
    const V inside = b_.CreateICmpULT(offset, splat(b_.CreateTrunc(limit, lane_type(width))));
    const V aligned = b_.CreateICmpEQ(b_.CreateAnd(shared ? offset : at, splat(constant(width, bytes - 1u))),
                                      llvm::Constant::getNullValue(offset->getType()));
    V bad = b_.CreateNot(mask_bits(b_.CreateAnd(inside, aligned)));
    if (shared) bad = b_.CreateOr(bad, above_32_bits(at));
    good = b_.CreateICmpEQ(b_.CreateAnd(bad, mask), b_.getInt32(0));
  }
  uses(Technique::Atomics);
  auto [fast, slow, join] = new_blocks("fast", "slow", "join");
  b_.CreateCondBr(good, fast, slow, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
  b_.SetInsertPoint(slow);
  if (!as_.apart) call_handler(i, mask);
  b_.CreateBr(as_.apart ? as_.apart : join);
  b_.SetInsertPoint(fast);
  if (watch_) {
    Value places = address;
    if (!places.runs) places.lanes = at;
    for (size_t r = 0; r < places.runs; ++r) places.run[r] = whole(address.run[r]);
    watch_access(i, places, mask, bytes);
  }
  const bool aside = as_.team && as_.team->counts;
  const V base = aside ? as_.team->own_counts.tables : shared ? context_field(offsetof(Context, shared), b_.getPtrTy(), true) : nullptr;
  const auto place = [&](V where, uint32_t table = 0) {
    if (!shared) return b_.CreateIntToPtr(where, b_.getPtrTy());
    const V first = table ? b_.CreateGEP(b_.getInt8Ty(), base, b_.CreateMul(as_.team->own_counts.apart_by, b_.getInt64(table))) : base;
    return b_.CreateGEP(b_.getInt8Ty(), first, where);
  };
  const auto finish = [&](V old) {
    if (wants_old) {
      Value v;
      v.lanes = old;
      write(i.op[0], bytes, v);
    }
    b_.CreateBr(join);
  };
  llvm::Type* type = type_of(bytes, true);

  if (one_place && gathers(m.op, t) && (!wants_old || (m.op == Op::Add && b.uniform()))) {
    const V old = update_one(i, place(at), gathered(i, b, mask), nullptr, shared);
    V lanes = nullptr;
    if (wants_old) {  // each lane finds what the lanes before it have added
      std::vector<llvm::Constant*> below;
      for (uint32_t l = 0; l < kLanes; ++l) below.push_back(b_.getInt32((1u << l) - 1));
      const V before = intrinsic(In::ctpop, b_.CreateAnd(llvm::ConstantVector::get(below), splat(mask)));
      lanes = b_.CreateAdd(splat(old), b_.CreateMul(splat(b.run[0]), b_.CreateZExtOrTrunc(before, type)));
    }
    finish(lanes);
  } else if (shared && address.runs == 1 && address.stride == bytes && m.op != Op::Cas) {
    const V where = place(whole(address.run[0]));
    const V lanes = bool_lanes(mask);
    const V old = user(b_.CreateMaskedLoad(type, where, llvm::Align(bytes), lanes, llvm::Constant::getNullValue(type)));
    user(b_.CreateMaskedStore(combine(i, old, lanes_of(b, bytes), nullptr, true), where, llvm::Align(bytes), lanes));
    finish(old);
  } else if (aside) {
    count_in_turn(at, b, flow_.source(i.op[2], bytes).kind == SourceKind::Constant, [&](V where, V value, uint32_t table) {
      update_one(i, place(b_.CreateZExt(where, b_.getInt64Ty()), table), value, value, true);
    });
    finish(nullptr);
  } else {
    // Lane by lane, in their order. What they need lies on the stack: an element of a vector register costs more than a
    // load.
    llvm::Type* offset = shared ? b_.getInt32Ty() : b_.getInt64Ty();
    const auto put_down = [&](V lanes) {
      const V array = scratch(lanes->getType());
      b_.CreateStore(lanes, array);
      return array;
    };
    const V all = one_place ? nullptr : put_down(shared ? b_.CreateTrunc(at, type_of(4, true)) : at);
    const V bs = b.uniform() ? nullptr : put_down(lanes_of(b, bytes)),
            cs = i.op[3] < 0 || c.uniform() ? nullptr : put_down(lanes_of(c, bytes));
    const V olds = wants_old ? put_down(llvm::Constant::getNullValue(type)) : nullptr;
    const auto pick = [&](V array, llvm::Type* element, V lane) {
      auto* load = b_.CreateLoad(element, b_.CreateInBoundsGEP(element, array, lane));
      load->setVolatile(true);  // not to be taken from the register after all
      return load;
    };
    const auto lane_does = [&](V lane, V where) {
      const V x = bs ? static_cast<V>(pick(bs, lane_type(bytes), lane)) : b.run[0];
      const V y = cs ? static_cast<V>(pick(cs, lane_type(bytes), lane)) : i.op[3] >= 0 ? c.run[0] : x;
      const V old = update_one(i, place(shared ? b_.CreateZExt(where, b_.getInt64Ty()) : where), x, y, shared);
      if (olds) b_.CreateStore(old, b_.CreateInBoundsGEP(lane_type(bytes), olds, lane));
    };
    auto [loop, done] = new_blocks("lane", "lanes_done");
    V doers = mask;
    if (all && !shared && !wants_old && m.op != Op::Cas && may_change_nothing(i) && wide_host()) {
      const V there = lane_memory_.gather(at, nullptr, bool_lanes(mask), bytes);
      doers = b_.CreateAnd(mask, mask_bits(b_.CreateICmpNE(there, combine(i, there, lanes_of(b, bytes), nullptr, false))));
      go_on_if(b_.CreateICmpNE(doers, b_.getInt32(0)), new_block("some_do"), done);
    }
    if (shared && m.op == Op::Add && !isa::is_float(t)) {  // counting: all lanes in a row
      auto [every, some] = new_blocks("every_lane", "some_lanes");
      go_on_if(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), every, some);
      // Eight to a round: all of them at once would be most of the code of kernels that count in many places.
      constexpr uint32_t kRound = 8;
      auto* round = new_block("round");
      go_on(round);
      auto* begin = b_.CreatePHI(b_.getInt64Ty(), 2);
      begin->addIncoming(b_.getInt64(0), every);
      V pair = nullptr;  // a load brings two lanes' offsets
      for (uint32_t l = 0; l < kRound; ++l) {
        if (all && l % 2 == 0) pair = pick(all, b_.getInt64Ty(), b_.CreateAdd(b_.CreateLShr(begin, 1), b_.getInt64(l / 2)));
        lane_does(b_.CreateAdd(begin, b_.getInt64(l)), all ? b_.CreateTrunc(l % 2 ? b_.CreateLShr(pair, 32) : pair, offset) : at);
      }
      const V next = b_.CreateAdd(begin, b_.getInt64(kRound));
      begin->addIncoming(next, b_.GetInsertBlock());
      b_.CreateCondBr(b_.CreateICmpNE(next, b_.getInt64(kLanes)), round, done);
      b_.SetInsertPoint(some);
    }
    auto* before = b_.GetInsertBlock();
    go_on(loop);
    auto* left = b_.CreatePHI(b_.getInt32Ty(), 2);
    left->addIncoming(doers, before);
    const V lane = b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {left, b_.getTrue()});
    lane_does(lane, all ? static_cast<V>(pick(all, offset, lane)) : at);
    const V rest = b_.CreateAnd(left, b_.CreateSub(left, b_.getInt32(1)));
    left->addIncoming(rest, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt32(0)), loop, done);
    b_.SetInsertPoint(done);
    finish(olds ? static_cast<V>(b_.CreateLoad(type, olds)) : nullptr);
  }
  b_.SetInsertPoint(join);
}

}  // namespace warpbeam::jit
