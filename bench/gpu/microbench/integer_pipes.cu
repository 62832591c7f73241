// Integer, logic, conversion and whole-warp operations.
#include "chain.cuh"

namespace micro {
namespace {

using u32 = unsigned;
using u64 = unsigned long long;

MICRO_OP(Add3, u32, "r", 1, "{.reg .u32 t; add.u32 t, %0, %1; add.u32 %0, t, %2;}")
MICRO_OP(Add2, u32, "r", 1, "{.reg .u32 t; add.u32 t, %0, %1; xor.b32 %0, t, %2;}")
MICRO_OP(Lop3, u32, "r", 1, "lop3.b32 %0, %0, %1, %2, 0xe8;")
MICRO_OP(Shift, u32, "r", 1, "shf.l.wrap.b32 %0, %0, %1, %2;")
MICRO_OP(ShiftLeft, u32, "r", 1, "{.reg .u32 t; shl.b32 t, %0, %1; xor.b32 %0, t, %2;}")
MICRO_OP(Imad, u32, "r", 1, "mad.lo.u32 %0, %0, %1, %2;")
MICRO_OP(MulHi, u32, "r", 1, "{.reg .u32 t; mul.hi.u32 t, %0, %1; xor.b32 %0, t, %2;}")
MICRO_OP(ImadWide, u64, "l", 1, "{.reg .u32 lo, hi; mov.b64 {lo, hi}, %0; mul.wide.u32 %0, lo, hi;}")
MICRO_OP(Min, u32, "r", 1, "{.reg .s32 t; min.s32 t, %0, %1; xor.b32 %0, t, %2;}")
MICRO_OP(SetSelect, u32, "r", 1, "{.reg .pred p; setp.lt.u32 p, %0, %1; selp.u32 %0, %1, %2, p;}")
MICRO_OP(Permute, u32, "r", 1, "prmt.b32 %0, %0, %1, %2;")
MICRO_OP(Dp4a, u32, "r", 1, "dp4a.u32.u32 %0, %0, %1, %2;")
MICRO_OP(Popc, u32, "r", 1, "{.reg .u32 t; popc.b32 t, %0; add.u32 %0, t, %1;}")
MICRO_OP(PopcAlone, u32, "r", 1, "popc.b32 %0, %0;")
MICRO_OP(Find, u32, "r", 1, "bfind.u32 %0, %0;")
MICRO_OP(Clz, u32, "r", 1, "clz.b32 %0, %0;")
MICRO_OP(Reverse, u32, "r", 1, "{.reg .u32 t; brev.b32 t, %0; add.u32 %0, t, %1;}")
MICRO_OP(AbsDiff, u32, "r", 1, "sad.u32 %0, %0, %1, %2;")
MICRO_OP(Add64, u64, "l", 1, "{.reg .u64 t; add.u64 t, %0, %1; xor.b64 %0, t, %2;}")
MICRO_OP(Mul64, u64, "l", 2, "mad.lo.u64 %0, %0, %1, %2;")
MICRO_OP(FloatToInt, u32, "r", 1, "{.reg .f32 f; mov.b32 f, %0; cvt.rzi.s32.f32 %0, f;}")
MICRO_OP(IntToFloat, u32, "r", 1, "{.reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f;}")
MICRO_OP(FloatHalf, u32, "r", 1, "{.reg .f32 f; .reg .f16 h; mov.b32 f, %0; cvt.rn.f16.f32 h, f; cvt.f32.f16 f, h; mov.b32 %0, f;}")
MICRO_OP(IntDouble, u32, "r", 2, "{.reg .f64 d; cvt.rn.f64.s32 d, %0; cvt.rzi.s32.f64 %0, d;}")
MICRO_OP(FloatDouble, u32, "r", 2, "{.reg .f64 d; .reg .f32 f; mov.b32 f, %0; cvt.f64.f32 d, f; cvt.rn.f32.f64 f, d; mov.b32 %0, f;}")
MICRO_OP(ByteToFloat, u32, "r", 1, "{.reg .f32 f; .reg .u16 h; cvt.u16.u32 h, %0; cvt.rn.f32.u16 f, h; mov.b32 %0, f;}")

MICRO_OP(Absolute, u32, "r", 1, "{.reg .s32 t; abs.s32 t, %0; xor.b32 %0, t, %1;}")
MICRO_OP(ShiftAdd, u32, "r", 1, "{.reg .u32 t; shl.b32 t, %0, 3; add.u32 %0, t, %1;}")
MICRO_OP(AddCarry, u32, "r", 1, "{.reg .u32 t; add.cc.u32 t, %0, %1; addc.u32 %0, t, %2;}")
MICRO_OP(MadWide, u64, "l", 1, "{.reg .u32 lo, hi; mov.b64 {lo, hi}, %0; mad.wide.u32 %0, lo, 12345, %1;}")
MICRO_OP(MadHigh, u32, "r", 1, "mad.hi.u32 %0, %0, %1, %2;")
MICRO_OP(FloatToIntUnsigned, u32, "r", 1, "{.reg .f32 f; mov.b32 f, %0; cvt.rzi.u32.f32 %0, f;}")
MICRO_OP(IntToFloatUp, u32, "r", 1, "{.reg .f32 f; cvt.rp.f32.u32 f, %0; mov.b32 %0, f;}")
MICRO_OP(CompareTwice, u32, "r", 1, "{.reg .pred p, q; setp.lt.u32 p, %0, %1; setp.ge.and.u32 q, %0, %2, p; selp.u32 %0, %1, %2, q;}")

// Two pipes side by side: what one of them leaves of the issue slots is the other's.
MICRO_OP(LogicFma, u32, "r", 1, "{.reg .f32 f, g; lop3.b32 %0, %0, %1, %2, 0xe8; mov.b32 f, %0; mov.b32 g, %1; fma.rn.f32 f, f, g, g; mov.b32 %0, f;}")
MICRO_OP(LogicFmaFma, u32, "r", 1, "{.reg .f32 f, g; lop3.b32 %0, %0, %1, %2, 0xe8; mov.b32 f, %0; mov.b32 g, %1; fma.rn.f32 f, f, g, g; fma.rn.f32 f, f, g, f; mov.b32 %0, f;}")
MICRO_OP(LogicMad, u32, "r", 1, "{lop3.b32 %0, %0, %1, %2, 0xe8; mad.lo.u32 %0, %0, %1, %2;}")
MICRO_OP(LogicLogicMadHigh, u32, "r", 1, "{lop3.b32 %0, %0, %1, %2, 0xe8; shf.l.wrap.b32 %0, %0, %1, %2; mad.hi.u32 %0, %0, %1, %2;}")
MICRO_OP(MadFmaFma, u32, "r", 1, "{.reg .f32 f, g; mad.lo.u32 %0, %0, %1, %2; mov.b32 f, %0; mov.b32 g, %1; fma.rn.f32 f, f, g, g; fma.rn.f32 f, f, g, f; mov.b32 %0, f;}")
MICRO_OP(MadHighFmaFma, u32, "r", 1, "{.reg .f32 f, g; mad.hi.u32 %0, %0, %1, %2; mov.b32 f, %0; mov.b32 g, %1; fma.rn.f32 f, f, g, g; fma.rn.f32 f, f, g, f; mov.b32 %0, f;}")

MICRO_CODE(Divide, u32, 16, asm volatile("div.u32 %0, %1, %0;" : "+r"(x) : "r"(y + z)))
MICRO_CODE(Remainder, u32, 16, asm volatile("rem.u32 %0, %1, %0;" : "+r"(x) : "r"(y + z)))
MICRO_CODE(DivideSigned, u32, 16, asm volatile("div.s32 %0, %1, %0;" : "+r"(x) : "r"(y + z)))
MICRO_CODE(Divide64, u64, 32, asm volatile("div.u64 %0, %1, %0;" : "+l"(x) : "l"(y + z)))

MICRO_OP(ShuffleXor, u32, "r", 1, "shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;")
MICRO_OP(ShuffleIndex, u32, "r", 1, "shfl.sync.idx.b32 %0, %0, %0, 0x1f, 0xffffffff;")
MICRO_OP(Ballot, u32, "r", 1, "{.reg .pred p; setp.ne.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, 0xffffffff;}")
MICRO_OP(VoteAny, u32, "r", 1,
         "{.reg .pred p, q; setp.ne.u32 p, %0, %1; vote.sync.any.pred q, p, 0xffffffff; selp.u32 %0, %1, %2, q;}")
MICRO_OP(MatchAny, u32, "r", 4, "match.any.sync.b32 %0, %0, 0xffffffff;")
MICRO_OP(MatchAll, u32, "r", 1, "match.all.sync.b32 %0, %0, 0xffffffff;")
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
MICRO_OP(ReduceAdd, u32, "r", 1, "redux.sync.add.u32 %0, %0, 0xffffffff;")
MICRO_OP(ReduceOr, u32, "r", 1, "redux.sync.or.b32 %0, %0, 0xffffffff;")
#endif
MICRO_OP(Clock, u32, "r", 1, "{.reg .u32 t; mov.u32 t, %%clock; add.u32 %0, %0, t;}")
MICRO_OP(SpecialRegister, u32, "r", 1, "{.reg .u32 t; mov.u32 t, %%smid; add.u32 %0, %0, t;}")

}  // namespace

void integer_pipes() {
  measure_chain<Add3>("iadd3");
  measure_chain<Add2>("iadd_xor");
  measure_chain<Lop3>("lop3");
  measure_chain<Shift>("shf");
  measure_chain<ShiftLeft>("shl_xor");
  measure_chain<Imad>("imad");
  measure_chain<MulHi>("imad_hi_xor");
  measure_chain<ImadWide>("imad_wide_of_both_halves");
  measure_chain<Min>("imin_xor");
  measure_chain<SetSelect>("isetp_sel");
  measure_chain<Permute>("prmt");
  measure_chain<Dp4a>("dp4a");
  measure_chain<PopcAlone>("popc");
  measure_chain<Popc>("popc_iadd");
  measure_chain<Find>("flo");
  measure_chain<Clz>("clz");
  measure_chain<Reverse>("brev_iadd");
  measure_chain<AbsDiff>("sad");
  measure_chain<Add64>("add64_xor64");
  measure_chain<Mul64>("mad64");
  measure_chain<FloatToInt>("f2i");
  measure_chain<IntToFloat>("i2f");
  measure_chain<ByteToFloat>("u16_to_f");
  measure_chain<FloatHalf>("f2h_h2f");
  measure_chain<IntDouble>("i2d_d2i");
  measure_chain<FloatDouble>("f2d_d2f");
  measure_chain<Absolute>("iabs_xor");
  measure_chain<ShiftAdd>("lea");
  measure_chain<AddCarry>("iadd_carry_pair");
  measure_chain<MadWide>("imad_wide_by_constant");
  measure_chain<MadHigh>("imad_hi");
  measure_chain<FloatToIntUnsigned>("f2i_u32");
  measure_chain<IntToFloatUp>("i2f_rp");
  measure_chain<CompareTwice>("isetp_isetp_sel");
  measure_chain<LogicFma>("mix.lop3_ffma");
  measure_chain<LogicFmaFma>("mix.lop3_2ffma");
  measure_chain<LogicMad>("mix.lop3_imad");
  measure_chain<LogicLogicMadHigh>("mix.lop3_shf_imad_hi");
  measure_chain<MadFmaFma>("mix.imad_2ffma");
  measure_chain<MadHighFmaFma>("mix.imad_hi_2ffma");
  measure_chain<Divide>("udiv32");
  measure_chain<Remainder>("urem32");
  measure_chain<DivideSigned>("sdiv32");
  measure_chain<Divide64>("udiv64");
  measure_chain<ShuffleXor>("shfl_bfly");
  measure_chain<ShuffleIndex>("shfl_idx");
  measure_chain<Ballot>("isetp_ballot");
  measure_chain<VoteAny>("isetp_any_sel");
  measure_chain<MatchAny>("match_any");
  measure_chain<MatchAll>("match_all");
  measure_chain<ReduceAdd>("redux_add");
  measure_chain<ReduceOr>("redux_or");
  measure_chain<Clock>("clock_iadd");
  measure_chain<SpecialRegister>("s2r_iadd", false);  // the chain is the addition's
}

}  // namespace micro
