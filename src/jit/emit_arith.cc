// Instructions whose result depends on their operands alone: in the shape that the result has, with a check where that counts on
// numbers that do not wrap around.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <bit>
#include <tuple>

#include "jit/emit_parts.h"
#include "jit/emitter.h"
#include "jit/shape_arithmetic.h"

namespace warpbeam::jit {

using isa::Half;
using isa::Kind;
using isa::Type;
namespace In = llvm::Intrinsic;

static V run_at(llvm::IRBuilder<>& b, const Value& v, int runs, V which) {
  V run = v.run[0];
  for (int r = 1; r < runs; ++r)
    run = b.CreateSelect(b.CreateICmpEQ(which, b.getInt32(static_cast<uint32_t>(r))), v.run[static_cast<size_t>(r)], run);
  return run;
}

// Widening a value of known stride is right as long as none of the lanes that take part wraps around: where one does, the
// interpreter goes on. So does an or that is taken for a sum, as long as no bits meet. Gives the first of those lanes where the widened run has to be reckoned from it; null where no lane
// can wrap or all have to be right.
V Emitter::check_wrap(const vm::Insn& i) {
  const isa::Row& row = *i.source->form.row;
  const bool convert = row.kind == Kind::Convert && !isa::is_float(i.type()) && !isa::is_float(i.source->form.atype) &&
                       isa::bytes_of(i.type()) == 8 && isa::bytes_of(i.source->form.atype) == 4;
  const bool wide = row.kind == Kind::Lane && half_of(i) == Half::Wide && isa::bytes_of(i.type()) == 4;
  const int runs = shapes_.result(i).runs;
  if (const int zeros = row.kind == Kind::Lane && runs ? or_for_sum(shapes_, i) : 0) {
    const auto bytes = static_cast<Width>(isa::bytes_of(i.type()));
    const Value x = read(i.op[3 - zeros], bytes);
    V all = nullptr;  // the bits of what runs begin and end with
    for (size_t r = 0; r < x.runs; ++r) {
      const auto span = static_cast<uint64_t>(x.stride * (kLanes / x.runs - 1));
      const V ends = b_.CreateOr(x.run[r], b_.CreateAdd(x.run[r], llvm::ConstantInt::get(lane_type(bytes), span)));
      all = all ? b_.CreateOr(all, ends) : ends;
    }
    const uint64_t align = shapes_.source(i.op[zeros], bytes).align;
    const V above = b_.CreateLShr(all, std::min<uint64_t>(align, 8u * bytes - 1u));
    const V meets =
        b_.CreateAnd(b_.CreateICmpNE(above, llvm::ConstantInt::get(lane_type(bytes), 0)), b_.CreateICmpNE(at_.active, b_.getInt32(0)));
    as_.wraps ? as_.wraps->push_back(meets) : hand_over(i, meets);
    return nullptr;
  }
  if ((!convert && !wide) || runs == 0) return nullptr;
  const bool sg = isa::is_signed(convert ? i.source->form.atype : i.type());
  V head_lane = nullptr;
  for (int k = 1; k <= (wide ? 2 : 1); ++k) {
    const Shape s = shapes_.source(i.op[k], 4);
    if (s.runs == 0 || (s.stride == 0 && (!s.even || s.gap == 0)) || s.bits <= 30) continue;
    const Value v = read(i.op[k], 4);
    V wraps = b_.getFalse();
    const V head = b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {at_.active, b_.getFalse()});
    if (runs > 1) {  // runs in which a lane takes part, from the first of them on
      const int length = kLanes / s.runs;
      const auto widened = [&](V x) { return sg ? b_.CreateSExt(x, b_.getInt64Ty()) : b_.CreateZExt(x, b_.getInt64Ty()); };
      const V head_run = b_.CreateLShr(head, static_cast<uint64_t>(std::countr_zero(static_cast<unsigned>(length))));
      const V start = widened(run_at(b_, v, s.runs, head_run));
      for (size_t r = 0; r < s.runs; ++r) {
        const V first = widened(v.run[r]), last = b_.CreateAdd(first, b_.getInt64(static_cast<uint64_t>(s.stride * (length - 1))));
        const V back = sg ? b_.CreateSExt(b_.CreateTrunc(last, b_.getInt32Ty()), b_.getInt64Ty()) : b_.CreateAnd(last, 0xffffffff);
        V bad = b_.CreateICmpNE(back, last);
        if (s.even) {
          const V runs_on = b_.CreateSExt(b_.CreateSub(b_.getInt32(static_cast<uint32_t>(r)), head_run), b_.getInt64Ty());
          const V there = b_.CreateAdd(start, b_.CreateMul(runs_on, b_.getInt64(static_cast<uint64_t>(s.gap))));
          bad = b_.CreateOr(bad, b_.CreateICmpNE(first, there));
        }
        const uint32_t lanes = static_cast<uint32_t>((uint64_t{1} << length) - 1) << (r * static_cast<size_t>(length));
        wraps = b_.CreateOr(wraps, b_.CreateAnd(bad, b_.CreateICmpNE(b_.CreateAnd(at_.active, lanes), b_.getInt32(0))));
      }
      head_lane = head;
    } else {
      const V tail = b_.CreateSub(b_.getInt32(31), b_.CreateIntrinsic(In::ctlz, {b_.getInt32Ty()}, {at_.active, b_.getFalse()}));
      const V base = b_.CreateAdd(v.run[0], b_.CreateMul(head, b_.getInt32(static_cast<uint32_t>(s.stride))));
      const V first = sg ? b_.CreateSExt(base, b_.getInt64Ty()) : b_.CreateZExt(base, b_.getInt64Ty());
      const V span = b_.CreateMul(b_.CreateSExt(b_.CreateSub(tail, head), b_.getInt64Ty()), b_.getInt64(static_cast<uint64_t>(s.stride)));
      const V last = b_.CreateAdd(first, span);
      const V back = sg ? b_.CreateSExt(b_.CreateTrunc(last, b_.getInt32Ty()), b_.getInt64Ty()) : b_.CreateAnd(last, 0xffffffff);
      wraps = b_.CreateAnd(b_.CreateICmpNE(back, last), b_.CreateICmpNE(at_.active, b_.getInt32(0)));
      head_lane = head;
    }
    as_.wraps ? as_.wraps->push_back(wraps) : hand_over(i, wraps);
  }
  return head_lane;
}

bool Emitter::emit_pure(const vm::Insn& i) {
  if (!shapes_.has_ir(i)) return false;
  const bool not_pred = i.step == vm::Step::NotPred;
  const isa::Row& row = *i.source->form.row;
  if (!not_pred && row.kind != Kind::Lane && row.kind != Kind::Move && row.kind != Kind::Address && row.kind != Kind::Convert &&
      row.kind != Kind::Select && row.kind != Kind::Compare && row.kind != Kind::Carry)
    return false;
  const Shape shape = shapes_.result(i);
  const V head = not_pred ? nullptr : check_wrap(i);
  // Operands in order, destinations aside.
  std::vector<std::pair<Value, Width>> in;
  const auto& slots = flow_.slots[number_of(i)];
  Width out_bytes = 0;
  std::vector<Slot> destinations;
  for (const Slot& s : slots) {
    if (s.at == i.guard && i.guard >= 0 && &s == &slots[0]) continue;
    if (s.written) destinations.push_back(s);
    if (s.read) in.emplace_back(read(s.at, s.bytes), s.bytes);
  }
  if (destinations.empty()) return true;
  out_bytes = destinations[0].bytes;
  // Vectors of a move: pieces of a whole.
  if (row.kind == Kind::Move && i.list && !not_pred) {
    const bool vector = shape.runs == 0;
    const auto get = [&](const Value& v, Width bytes) { return vector ? lanes_of(v, bytes) : v.run[0]; };
    const auto put = [&](const Slot& d, V v) {
      Value r;
      r.runs = vector ? 0 : 1;
      (vector ? r.lanes : r.run[0]) = v;
      write(d.at, d.bytes, r);
    };
    if (destinations.size() == 1 && in.size() > 1) {
      V all = llvm::Constant::getNullValue(type_of(out_bytes, vector));
      for (size_t k = 0; k < in.size(); ++k)
        all =
            b_.CreateOr(all, b_.CreateShl(b_.CreateZExt(get(in[k].first, in[k].second), type_of(out_bytes, vector)), k * in[k].second * 8));
      put(destinations[0], all);
    } else {
      V all = get(in[0].first, in[0].second);
      for (size_t k = 0; k < destinations.size(); ++k)
        put(destinations[k], b_.CreateTrunc(b_.CreateLShr(all, k * destinations[k].bytes * 8), type_of(destinations[k].bytes, vector)));
    }
    return true;
  }
  const auto apply = [&](const std::vector<V>& o, V* second) -> V {
    if (row.kind == Kind::Carry && !not_pred) {
      V r;
      std::tie(r, *second) = with_carry(b_, i, o);
      return r;
    }
    if (row.kind != Kind::Compare || not_pred) return arithmetic_.compute(i, o);
    const bool set = row.operands.list[0].fixed != Type::Pred;
    V r = arithmetic_.compare(i, o[0], o[1]);
    V opposite = b_.CreateNot(r);
    const auto joined = [&](V x) { return o.size() > 2 ? arithmetic_.join_predicates(i, x, o[2]) : x; };
    r = joined(r);
    *second = joined(opposite);
    if (!set) return r;
    llvm::Type* d = type_of(out_bytes, r->getType()->isVectorTy());
    return b_.CreateSelect(r, llvm::ConstantInt::get(d, i.type() == Type::F32 ? 0x3f800000u : ~0u), llvm::Constant::getNullValue(d));
  };
  Value result, other;
  result.runs = shape.runs;
  result.stride = shape.stride;
  V known = nullptr;
  if (shape.runs == 0 && row.kind == Kind::Compare && !not_pred && !as_.slice && out_bytes == 0 && in[0].second == in[1].second &&
      in[0].second == isa::bytes_of(i.type()))
    known = compare_shapes(i, in[0].first, in[1].first);
  if (known) {
    uses(Technique::Masks);
    std::vector<V> o{bool_lanes(known)};
    if (in.size() > 2) o.push_back(lanes_of(in[2].first, 0));
    const auto joined = [&](V x) { return in.size() > 2 ? arithmetic_.join_predicates(i, x, o[1]) : x; };
    result.lanes = joined(o[0]);
    other.lanes = joined(bool_lanes(b_.CreateNot(known)));
  } else if (shape.runs == 0) {
    const auto made = flow_.variable(destinations[0].at);
    if (!not_pred && made && plan_.spreads[*made] && !unrolled_.now) {
      result.spread = spread_of_result(i, in);
      llvm::Type* type = type_of(out_bytes, true);
      result.lanes = b_.CreateAdd(splat(result.spread.base), b_.CreateSExtOrTrunc(result.spread.pattern, type));
      write(destinations[0].at, out_bytes, result);
      return true;
    }
    std::vector<V> o;
    for (auto& [v, bytes] : in) o.push_back(lanes_of(v, bytes));
    result.lanes = apply(o, &other.lanes);
    if (!as_.alone && !not_pred && !unrolled_.now)
      if (const auto d = flow_.variable(destinations[0].at); d && plan_.slopes[*d]) result.line = line_of_result(i, in);
  } else {
    const auto beyond = [&](int64_t stride, Width bytes) {  // from the first lane to the first that takes part
      return b_.CreateMul(b_.CreateZExtOrTrunc(head, lane_type(bytes)),
                          llvm::ConstantInt::get(lane_type(bytes), static_cast<uint64_t>(stride)));
    };
    for (int r = 0; r < shape.runs; ++r) {
      std::vector<V> o;
      for (auto& [v, bytes] : in) {
        o.push_back(in_run(v, bytes, r, shape.runs));
        if (head && shape.runs == 1 && v.stride) o.back() = b_.CreateAdd(o.back(), beyond(v.stride, bytes));
      }
      V& out = result.run[static_cast<size_t>(r)];
      out = apply(o, &other.run[static_cast<size_t>(r)]);
      if (head && shape.runs == 1) out = b_.CreateSub(out, beyond(shape.stride, out_bytes));
    }
    if (head && shape.even) {  // the first run tells the others, whether it has lanes that take part or not
      const auto gap = [&](V times) {
        return b_.CreateMul(times, llvm::ConstantInt::get(lane_type(out_bytes), static_cast<uint64_t>(shape.gap)));
      };
      const auto length = static_cast<unsigned>(kLanes / shape.runs);
      const V head_run = b_.CreateLShr(head, static_cast<uint64_t>(std::countr_zero(length)));
      const V first = b_.CreateSub(run_at(b_, result, shape.runs, head_run), gap(b_.CreateZExtOrTrunc(head_run, lane_type(out_bytes))));
      for (int r = 0; r < shape.runs; ++r)
        result.run[static_cast<size_t>(r)] =
            b_.CreateAdd(first, gap(llvm::ConstantInt::get(lane_type(out_bytes), static_cast<uint64_t>(r))));
    }
    other.runs = shape.runs;
  }
  write(destinations[0].at, out_bytes, result);
  if (destinations.size() > 1) write(destinations[1].at, 0, other);
  return true;
}

// Rounding that is not to the nearest.
bool Emitter::emit_directed(const vm::Insn& i) {
  const int operands = processor_.wide && !as_.slice ? directed_operands(i) : 0;
  if (!operands) return false;
  const Width bytes = i.type() == isa::Type::F64 ? 8 : 4;
  std::vector<V> o;
  for (int k = 1; k <= operands; ++k) o.push_back(lanes_of(read(i.op[k], bytes), bytes));
  uses(Technique::Directed);
  Value v;
  v.lanes = arithmetic_.directed(i, o);
  write(i.op[0], bytes, v);
  return true;
}

bool is_approximation(const vm::Insn& i) {
  const isa::Row* row = i.row();
  return row && row->kind == isa::Kind::Lane && i.type() == isa::Type::F32 && (says(*row, ".full") || says(*row, ".approx"));
}

bool Emitter::emit_approximation(const vm::Insn& i) {
  if (!is_approximation(i)) return false;
  const isa::Row& row = *i.source->form.row;
  const bool whole = says(row, ".full");
  const Approximation f = approximation(row.op, whole, i.mods().ftz);
  if (!f) return false;
  llvm::Type* type = type_of(4, true);
  const V x = lanes_of(read(i.op[1], 4), 4);
  llvm::BasicBlock *call = nullptr, *join = nullptr, *inline_end = nullptr;
  V unusual = nullptr, result = nullptr;
  if (i.op[2] < 0 && !as_.sparing) result = arithmetic_.special_function(row.op, x, &unusual);
  if (row.op == isa::Opcode::Div && !whole && !as_.sparing) {  // a * (1 / b), where b is a usual operand of the unit
    result = arithmetic_.special_function(isa::Opcode::Rcp, lanes_of(read(i.op[2], 4), 4), &unusual);
    if (result) result = arithmetic_.product_of_floats(x, result, i.mods().ftz);
  }
  uses(Technique::SpecialFunctions);
  if (result) {
    call = new_block("unusual");
    join = new_block("approximated");
    inline_end = b_.GetInsertBlock();
    go_on_if(any_of(b_.CreateAnd(mask_bits(unusual), at_.active)), call, join, llvm::MDBuilder(c_).createBranchWeights(1, 1000));
  }
  V places[3];
  for (int k = 0; k < 3; ++k) {  // of whole warps
    places[k] = k && i.op[k] < 0 ? static_cast<V>(llvm::ConstantPointerNull::get(b_.getPtrTy()))
                                 : scratch(llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes));
    if (k && i.op[k] >= 0) b_.CreateStore(k == 1 ? x : lanes_of(read(i.op[k], 4), 4), places[k]);
  }
  const V callee = outside(reinterpret_cast<const void*>(f));
  if (result) call_aside(callee, {places[0], places[1], places[2]});
  else
    b_.CreateCall(llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy()}, false), callee,
                  {places[0], places[1], places[2]});
  Value v;
  v.lanes = b_.CreateLoad(type, places[0]);
  if (result) {
    go_on(join);
    auto* either = b_.CreatePHI(type, 2);
    either->addIncoming(result, inline_end);
    either->addIncoming(v.lanes, call);
    v.lanes = either;
  }
  write(i.op[0], 4, v);
  return true;
}

}  // namespace warpbeam::jit
