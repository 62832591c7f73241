// What lanes of a warp do together: votes, shuffles, reductions, meeting places.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "isa/arith/shuffle.h"
#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Op;
using isa::Opcode;
using isa::Shuffle;
using isa::Vote;
namespace In = llvm::Intrinsic;

V Emitter::live_lanes() { return b_.CreateGEP(b_.getInt32Ty(), context_field(offsetof(Context, live), b_.getPtrTy(), true), at_.warp); }

V Emitter::lanes_elsewhere(const vm::Insn& i) {
  V elsewhere = b_.getInt32(0);
  if (control_.full[at_.node]) return elsewhere;
  flow_.nodes[at_.node].waits.each([&](size_t w) {
    if (inside(static_cast<uint32_t>(w))) elsewhere = b_.CreateOr(elsewhere, b_.CreateLoad(b_.getInt32Ty(), control_.masks[w]));
  });
  elsewhere = b_.CreateOr(elsewhere, b_.CreateLoad(b_.getInt32Ty(), control_.exit_mask));
  if (i.guard >= 0) elsewhere = b_.CreateOr(elsewhere, b_.CreateLoad(b_.getInt32Ty(), control_.masks[at_.node]));
  return elsewhere;
}

void Emitter::emit_warp(const vm::Insn& i) {
  const isa::Row& row = *i.source->form.row;
  const isa::Mods& m = i.mods();
  const Opcode op = row.op;
  const bool barrier = row.kind == isa::Kind::Barrier;
  if (op == Opcode::Activemask) {
    Value v;
    v.runs = 1;
    v.run[0] = at_.active;
    return write(i.op[0], 4, v);
  }
  // The lanes that the instruction names must be here. Others that wait elsewhere have to come first: that is for the
  // interpreter.
  V members = nullptr;
  if (m.sync || barrier) {
    const int at = op == Opcode::Shfl ? 4 : op == Opcode::Elect ? 1 : barrier ? 0 : 2;
    const Value named = read(i.op[at], 4);
    const V elsewhere = lanes_elsewhere(i);
    V wrong = b_.getFalse();
    const bool all_count = op == Opcode::Elect;  // lanes that their mask leaves out, too
    if (named.uniform()) {
      members = named.run[0];
      if (!all_count) wrong = b_.CreateICmpNE(b_.CreateAnd(at_.active, b_.CreateNot(members)), b_.getInt32(0));
    } else {
      const V all = lanes_of(named, 4);
      const V used = b_.CreateSelect(bool_lanes(at_.active), all, llvm::Constant::getNullValue(all->getType()));
      members = b_.CreateOrReduce(used);
      if (op != Opcode::Shfl && !barrier) {
        const V first = b_.CreateExtractElement(all, b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {at_.active, b_.getTrue()}));
        const V differ = b_.CreateAnd(at_.active, mask_bits(b_.CreateICmpNE(all, splat(first))));
        wrong = b_.CreateICmpNE(differ, b_.getInt32(0));
      }
      if (!all_count) {
        std::vector<llvm::Constant*> own;
        for (uint32_t l = 0; l < kLanes; ++l) own.push_back(b_.getInt32(1u << l));
        const V strangers =
            mask_bits(b_.CreateICmpEQ(b_.CreateAnd(all, llvm::ConstantVector::get(own)), llvm::Constant::getNullValue(all->getType())));
        wrong = b_.CreateOr(wrong, b_.CreateICmpNE(b_.CreateAnd(at_.active, strangers), b_.getInt32(0)));
      }
    }
    if (i.guard >= 0 && at_.forced) wrong = b_.getTrue();  // some of the lanes that are here stay away
    if (!control_.full[at_.node]) wrong = b_.CreateOr(wrong, b_.CreateICmpNE(b_.CreateAnd(members, elsewhere), b_.getInt32(0)));
    hand_over(i, wrong, Why::Meeting);
  }
  const bool by_handler = op == Opcode::Elect || (op == Opcode::Match && m.vote != Vote::Any);
  if ((m.sync || barrier) && !by_handler) watch_meeting(i);
  if (barrier) return;
  if (op == Opcode::Vote) {
    const Value p = read(i.op[1], 0);
    const V bits = b_.CreateAnd(at_.active, p.uniform() ? b_.CreateSExt(p.run[0], b_.getInt32Ty()) : mask_bits(p.lanes));
    Value v;
    v.runs = 1;
    const V all = b_.CreateICmpEQ(bits, at_.active), any = b_.CreateICmpNE(bits, b_.getInt32(0));
    switch (m.vote) {
      case Vote::All: v.run[0] = all; break;
      case Vote::Any: v.run[0] = any; break;
      case Vote::Uni: v.run[0] = b_.CreateOr(all, b_.CreateNot(any)); break;
      default: v.run[0] = bits; return write(i.op[0], 4, v);
    }
    return write(i.op[0], 0, v);
  }
  if (op == Opcode::Redux) {
    const V a = lanes_of(read(i.op[1], 4), 4);
    const bool sg = i.type() == isa::Type::S32;
    uint64_t neutral = 0;
    if (m.op == Op::And || (m.op == Op::Min && !sg)) neutral = ~0u;
    if (m.op == Op::Min && sg) neutral = 0x7fffffff;
    if (m.op == Op::Max && sg) neutral = 0x80000000;
    const V x = b_.CreateSelect(bool_lanes(at_.active), a, llvm::ConstantInt::get(a->getType(), neutral));
    Value v;
    v.runs = 1;
    switch (m.op) {
      case Op::Add: v.run[0] = b_.CreateAddReduce(x); break;
      case Op::Min: v.run[0] = b_.CreateIntMinReduce(x, sg); break;
      case Op::Max: v.run[0] = b_.CreateIntMaxReduce(x, sg); break;
      case Op::And: v.run[0] = b_.CreateAndReduce(x); break;
      case Op::Or: v.run[0] = b_.CreateOrReduce(x); break;
      default: v.run[0] = b_.CreateXorReduce(x); break;
    }
    return write(i.op[0], 4, v);
  }
  if (op == Opcode::Shfl) {
    const Value value = read(i.op[1], 4), b = read(i.op[2], 4), c = read(i.op[3], 4);
    const V a = lanes_of(value, 4);
    Value out, in;
    const Value named = m.sync ? read(i.op[4], 4) : Value{};
    const V masks = !m.sync || named.uniform() ? nullptr : lanes_of(named, 4);
    V others_masks = nullptr, others_here = nullptr;  // of the lanes that are read
    auto* cb = b.uniform() ? llvm::dyn_cast<llvm::ConstantInt>(b.run[0]) : nullptr;
    auto* cc = c.uniform() ? llvm::dyn_cast<llvm::ConstantInt>(c.run[0]) : nullptr;
    if (cb && cc) {
      std::vector<int> picked;
      std::vector<llvm::Constant*> flags;
      for (int l = 0; l < kLanes; ++l) {
        const isa::ShuffledFrom from =
            isa::shuffled_from(m.shuffle, l, static_cast<uint32_t>(cb->getZExtValue()), static_cast<uint32_t>(cc->getZExtValue()));
        picked.push_back(from.lane);
        flags.push_back(b_.getInt1(from.in_range));
      }
      out.lanes = b_.CreateShuffleVector(a, picked);
      if (masks) others_masks = b_.CreateShuffleVector(masks, picked), others_here = b_.CreateShuffleVector(bool_lanes(at_.active), picked);
      in.lanes = llvm::ConstantVector::get(flags);
    } else {
      std::vector<llvm::Constant*> numbers;
      for (uint32_t l = 0; l < kLanes; ++l) numbers.push_back(b_.getInt32(l));
      const V lane = llvm::ConstantVector::get(numbers);
      const auto k = [&](uint32_t v) { return splat(b_.getInt32(v)); };
      const V by = b_.CreateAnd(lanes_of(b, 4), k(31)), cv = lanes_of(c, 4);
      const V seg = b_.CreateAnd(b_.CreateLShr(cv, k(8)), k(31)), clamp = b_.CreateAnd(cv, k(31));
      const V min_lane = b_.CreateAnd(lane, seg), max_lane = b_.CreateOr(min_lane, b_.CreateAnd(clamp, b_.CreateNot(seg)));
      V j;
      switch (m.shuffle) {
        case Shuffle::Up: j = b_.CreateSub(lane, by); break;
        case Shuffle::Down: j = b_.CreateAdd(lane, by); break;
        case Shuffle::Bfly: j = b_.CreateXor(lane, by); break;
        default: j = b_.CreateOr(min_lane, b_.CreateAnd(by, b_.CreateNot(seg))); break;
      }
      in.lanes = m.shuffle == Shuffle::Up ? b_.CreateICmpSGE(j, max_lane) : b_.CreateICmpSLE(j, max_lane);
      j = b_.CreateAnd(b_.CreateSelect(in.lanes, j, lane), k(31));
      out.lanes = pick_lanes(a, j);
      if (masks) others_masks = pick_lanes(masks, j), others_here = b_.CreateTrunc(b_.CreateLShr(splat(at_.active), j), type_of(0, true));
    }
    if (masks) {  // a lane whose mask is another one that overlaps gives nothing
      const V none = llvm::Constant::getNullValue(masks->getType());
      const V overlap = b_.CreateAnd(b_.CreateICmpNE(others_masks, masks), b_.CreateICmpNE(b_.CreateAnd(others_masks, masks), none));
      out.lanes = b_.CreateSelect(b_.CreateAnd(overlap, others_here), none, out.lanes);
    }
    write(i.op[0], 4, out);
    if (i.op[5] >= 0) write(i.op[5], 0, in);
    return;
  }
  if (op == Opcode::Match && m.vote == Vote::Any) return emit_match_any(i);
  // match.all and elect are rare.
  Emitter::by_handler(i);
}

// Lane l gets the value of lane from[l].
V Emitter::pick_lanes(V values, V from) {
  if (processor_.wide) {
    const auto half = [&](V of, unsigned h) {
      return b_.CreateShuffleVector(of, llvm::createSequentialMask(h * kLanes / 2, kLanes / 2, 0));
    };
    const V first = half(values, 0), second = half(values, 1);
    const auto picked = [&](unsigned h) { return b_.CreateIntrinsic(In::x86_avx512_vpermi2var_d_512, {}, {first, half(from, h), second}); };
    const V low = picked(0);
    return llvm::concatenateVectors(b_, {low, picked(1)});
  }
  const V array = scratch(values->getType());
  b_.CreateStore(values, array);
  return b_.CreateMaskedGather(values->getType(), b_.CreateGEP(b_.getInt32Ty(), array, from), llvm::Align(4));
}

// Value after value: the lanes that have what the first of those that are left has.
void Emitter::emit_match_any(const vm::Insn& i) {
  const Width bytes = static_cast<Width>(isa::bytes_of(i.type()));
  const V all = lanes_of(read(i.op[1], bytes), bytes), array = scratch(all->getType());
  b_.CreateStore(all, array);
  auto* before = b_.GetInsertBlock();
  auto [loop, done] = new_blocks("value", "matched");
  go_on(loop);
  auto* left = b_.CreatePHI(b_.getInt32Ty(), 2);
  auto* sets = b_.CreatePHI(type_of(4, true), 2);
  left->addIncoming(at_.active, before);
  sets->addIncoming(llvm::Constant::getNullValue(sets->getType()), before);
  const V lane = b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {left, b_.getTrue()});
  const V value = b_.CreateLoad(lane_type(bytes), b_.CreateInBoundsGEP(lane_type(bytes), array, lane));
  const V same = b_.CreateAnd(mask_bits(b_.CreateICmpEQ(all, splat(value))), at_.active);
  const V more = b_.CreateSelect(bool_lanes(same), splat(same), sets), rest = b_.CreateAnd(left, b_.CreateNot(same));
  left->addIncoming(rest, loop);
  sets->addIncoming(more, loop);
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt32(0)), loop, done);
  b_.SetInsertPoint(done);
  Value v;
  v.lanes = more;
  write(i.op[0], 4, v);
}

}  // namespace warpbeam::jit
