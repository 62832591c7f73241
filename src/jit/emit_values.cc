// How values are held: between scalars per run and vectors of lanes, between variables and the machine's memory.
#include <llvm/IR/Intrinsics.h>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::FixedVectorType;

Value Emitter::read_variable(uint32_t variable) {
  const Shape& s = shapes_.variables[variable];
  const Width bytes = flow_.variables[variable].bytes;
  Value v;
  v.runs = s.runs;
  v.stride = s.stride;
  if (unrolled_.now) {
    const Cells& cells = unrolled_cells(variable);
    v.even = s.even;
    v.gap = s.gap;
    if (s.runs == 0) v.lanes = cells[0];
    for (size_t r = 0; r < s.runs; ++r)
      v.run[r] =
          r > 0 && s.even ? b_.CreateAdd(cells[0], llvm::ConstantInt::get(lane_type(bytes), static_cast<uint64_t>(s.gap) * r)) : cells[r];
    return v;
  }
  if (s.runs == 0) v.lanes = b_.CreateLoad(type_of(bytes, true), registers_.storage[variable][0]);
  if (s.runs == 0 && plan_.slopes[variable])
    v.line = {b_.CreateLoad(lane_type(bytes), registers_.storage[variable][1]),
              b_.CreateLoad(lane_type(bytes), registers_.storage[variable][2])};
  if (s.runs == 0 && plan_.spreads[variable])
    v.spread = {b_.CreateLoad(lane_type(bytes), registers_.storage[variable][1]),
                b_.CreateLoad(type_of(4, true), registers_.storage[variable][2])};
  v.even = s.even;
  v.gap = s.gap;
  for (size_t r = 0; r < s.runs; ++r) {
    if (r > 0 && s.even) v.run[r] = b_.CreateAdd(v.run[0], llvm::ConstantInt::get(lane_type(bytes), static_cast<uint64_t>(s.gap) * r));
    else v.run[r] = steps_along(variable) ? one_step_on(variable) : b_.CreateLoad(lane_type(bytes), registers_.storage[variable][r]);
  }
  return v;
}

Value Emitter::read(int32_t at, Width bytes) {
  const Source s = flow_.source(at, bytes);
  if (s.kind == SourceKind::Variable) return read_variable(s.variable);
  if (s.kind == SourceKind::Special) return read_special(*s.special, bytes);
  Value v;
  v.runs = 1;
  v.run[0] = bytes == 16 ? static_cast<V>(llvm::UndefValue::get(b_.getInt128Ty())) : constant(bytes, s.bits);
  return v;
}

Value Emitter::read_special(const vm::FrameSlot& s, Width bytes) {
  using isa::Special;
  const Shape shape = shapes_.special(s);
  Value v;
  v.runs = shape.runs;
  v.stride = shape.stride;
  const auto sized = [&](V x) { return b_.CreateZExtOrTrunc(x, lane_type(bytes)); };
  const auto one = [&](V x) {
    v.run[0] = sized(x);
    return v;
  };
  const auto field = [&](size_t offset) { return context_field(offset, b_.getInt32Ty(), true); };
  switch (s.kind) {
    case vm::SlotKind::SharedAddress: return one(b_.getInt64(plan_.code->shared_offsets[s.variable] + static_cast<uint64_t>(s.addend)));
    case vm::SlotKind::LocalAddress: return one(b_.getInt64(static_cast<uint64_t>(s.addend)));
    case vm::SlotKind::ParamAddress:
      return one(b_.CreateAdd(context_field(offsetof(Context, numbers.params_address), b_.getInt64Ty(), true),
                              b_.getInt64(static_cast<uint64_t>(s.addend))));
    default: break;
  }
  const auto& n = plan_.block;
  const uint8_t c = s.component;
  const V first = b_.CreateMul(at_.warp, b_.getInt32(kLanes));  // thread of the warp's first lane
  const auto per_lane = [&](auto f) {  // a vector from the linear thread numbers
    std::vector<llvm::Constant*> steps;
    for (uint32_t l = 0; l < kLanes; ++l) steps.push_back(b_.getInt32(l));
    v.runs = 0;
    v.lanes = b_.CreateZExtOrTrunc(f(b_.CreateAdd(splat(first), llvm::ConstantVector::get(steps))), type_of(bytes, true));
    return v;
  };
  const auto table = [&](auto f) {
    if (shapes_.lone()) return one(b_.getInt32(f(0)));
    std::vector<llvm::Constant*> all;
    for (uint32_t l = 0; l < kLanes; ++l) all.push_back(b_.getInt32(f(l)));
    v.runs = 0;
    v.lanes = b_.CreateZExtOrTrunc(llvm::ConstantVector::get(all), type_of(bytes, true));
    return v;
  };
  switch (s.special) {
    case Special::Tid: {
      if (c > 2 || n[c] == 1) return one(b_.getInt32(0));
      const uint32_t below = c == 0 ? 1 : c == 1 ? n[0] : n[0] * n[1];  // threads for one step of this coordinate
      const auto of = [&](V linear) {
        V x = linear;
        if (below > 1) x = b_.CreateUDiv(x, llvm::ConstantInt::get(x->getType(), below));
        if (uint64_t(below) * n[c] < uint64_t(n[0]) * n[1] * n[2] * shapes_.packed)
          x = b_.CreateURem(x, llvm::ConstantInt::get(x->getType(), n[c]));
        return x;
      };
      if (shape.runs == 0) return per_lane(of);
      for (uint32_t r = 0; r < shape.runs; ++r) v.run[r] = sized(of(b_.CreateAdd(first, b_.getInt32(r * (kLanes / shape.runs)))));
      return v;
    }
    case Special::Ctaid:
    case Special::ClusterId:
      if (c == 0 && shape.runs > 1) {  // a block in each run
        for (uint32_t r = 0; r < shape.runs; ++r) v.run[r] = sized(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), row_.x), b_.getInt32(r)));
        return v;
      }
      return one(c == 0 && row_.x ? static_cast<V>(b_.CreateLoad(b_.getInt32Ty(), row_.x))
                 : c < 3          ? field(offsetof(Context, numbers.ctaid) + 4u * c)
                                  : b_.getInt32(0));
    case Special::Nctaid:
    case Special::NClusterId: return one(c < 3 ? field(offsetof(Context, numbers.nctaid) + 4u * c) : b_.getInt32(1));
    case Special::Laneid: return one(b_.getInt32(0));
    case Special::Warpid: return one(at_.warp);
    case Special::Nwarpid: return one(b_.getInt32(64));
    case Special::Smid: return one(context_field(offsetof(Context, numbers.smid), b_.getInt32Ty(), !row_.next));
    case Special::Nsmid: return one(field(offsetof(Context, numbers.nsmid)));
    case Special::Gridid: return one(context_field(offsetof(Context, numbers.gridid), b_.getInt64Ty(), true));
    case Special::LanemaskEq: return table([](uint32_t l) { return 1u << l; });
    case Special::LanemaskLt: return table([](uint32_t l) { return (1u << l) - 1; });
    case Special::LanemaskLe: return table([](uint32_t l) { return (2u << l) - 1; });
    case Special::LanemaskGe: return table([](uint32_t l) { return ~((1u << l) - 1); });
    case Special::LanemaskGt: return table([](uint32_t l) { return ~((2u << l) - 1); });
    case Special::DynamicSmem: return one(field(offsetof(Context, numbers.dynamic_shared)));
    case Special::TotalSmem: return one(context_field(offsetof(Context, shared_bytes), b_.getInt64Ty(), true));
    case Special::AggrSmem:
      return one(b_.CreateAdd(context_field(offsetof(Context, shared_bytes), b_.getInt64Ty(), true), b_.getInt64(1024)));
    case Special::EnvReg: {
      const V w = context_field(offsetof(Context, numbers.workspace), b_.getInt64Ty(), true);
      return one(c == 1 ? b_.CreateLShr(w, 32) : c == 2 ? b_.CreateAnd(w, 0xffffffff) : static_cast<V>(b_.getInt64(0)));
    }
    case Special::ClusterNctaid:
    case Special::ClusterNctarank: return one(b_.getInt32(1));
    default: return one(b_.getInt32(0));
  }
}

void Emitter::write(int32_t at, Width bytes, const Value& v) {
  const Source s = flow_.source(at, bytes);
  if (s.kind != SourceKind::Variable) return;
  const uint32_t k = s.variable;
  Value out = shaped(v, shapes_.variables[k], bytes);
  if (unrolled_.now) return write_unrolled(k, out);
  if (out.runs) {
    for (size_t r = 0; r < out.runs; ++r) b_.CreateStore(out.run[r], registers_.storage[k][r]);
    return;
  }
  if (plan_.slopes[k]) {
    const Line line = line_of(v, bytes);
    b_.CreateStore(line.base, registers_.storage[k][1]);
    b_.CreateStore(line.slope, registers_.storage[k][2]);
  }
  if (plan_.spreads[k]) {
    b_.CreateStore(v.spread.base, registers_.storage[k][1]);
    b_.CreateStore(v.spread.pattern, registers_.storage[k][2]);
  }
  if (at_.forced || shapes_.needs_blend(at_.node, k)) {
    const V old = b_.CreateLoad(type_of(bytes, true), registers_.storage[k][0]);
    out.lanes = b_.CreateSelect(bool_lanes(at_.active), out.lanes, old);
  }
  b_.CreateStore(out.lanes, registers_.storage[k][0]);
}

V Emitter::guard_mask(const vm::Insn& i) {
  if (i.guard < 0) return at_.active;
  const Value p = read(i.guard, 0);
  if (p.uniform()) {
    V go = p.run[0];
    if (i.guard_negated) go = b_.CreateNot(go);
    return b_.CreateSelect(go, at_.active, llvm::Constant::getNullValue(at_.active->getType()));
  }
  V bits = mask_bits(p.lanes);
  if (i.guard_negated) bits = b_.CreateNot(bits);
  return b_.CreateAnd(at_.active, bits);
}

}  // namespace warpbeam::jit
