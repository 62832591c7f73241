// Floating point, special functions, and how two kinds of instruction share the schedulers.
#include <cuda_fp16.h>

#include "chain.cuh"

namespace micro {
namespace {

using u32 = unsigned;

MICRO_OP(Fadd, float, "f", 1, "{.reg .f32 t; add.f32 t, %0, %1; add.f32 %0, t, %2;}")
MICRO_OP(Fmul, float, "f", 1, "mul.f32 %0, %0, %1;")
MICRO_OP(Ffma, float, "f", 1, "fma.rn.f32 %0, %0, %1, %2;")
MICRO_OP(Fmin, float, "f", 1, "{.reg .f32 t; min.f32 t, %0, %1; max.f32 %0, t, %2;}")
MICRO_OP(FsetSelect, float, "f", 1, "{.reg .pred p; setp.lt.f32 p, %0, %1; selp.f32 %0, %1, %2, p;}")
MICRO_OP(Hfma2, u32, "r", 1, "fma.rn.f16x2 %0, %0, %1, %2;")
MICRO_OP(Hadd2, u32, "r", 1, "add.f16x2 %0, %0, %1;")
MICRO_OP(Bfma2, u32, "r", 1, "fma.rn.bf16x2 %0, %0, %1, %2;")
MICRO_OP(Dadd, double, "d", 1, "add.f64 %0, %0, %1;")
MICRO_OP(Dmul, double, "d", 1, "mul.f64 %0, %0, %1;")
MICRO_OP(Dfma, double, "d", 1, "fma.rn.f64 %0, %0, %1, %2;")
MICRO_OP(DsetSelect, double, "d", 1, "{.reg .pred p; setp.lt.f64 p, %0, %1; selp.f64 %0, %1, %2, p;}")
MICRO_OP(Ex2, float, "f", 1, "ex2.approx.ftz.f32 %0, %0;")
MICRO_OP(Lg2, float, "f", 1, "lg2.approx.ftz.f32 %0, %0;")
MICRO_OP(Rcp, float, "f", 1, "{.reg .f32 t; rcp.approx.ftz.f32 t, %0; add.f32 %0, t, %1;}")
MICRO_OP(Rsqrt, float, "f", 1, "rsqrt.approx.ftz.f32 %0, %0;")
MICRO_OP(Sqrt, float, "f", 1, "sqrt.approx.ftz.f32 %0, %0;")
MICRO_OP(Sine, float, "f", 1, "sin.approx.ftz.f32 %0, %0;")
MICRO_OP(Tanh, float, "f", 1, "tanh.approx.f32 %0, %0;")

MICRO_CODE(DivideF, float, 8, asm volatile("div.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
MICRO_CODE(DivideFast, float, 4, asm volatile("div.approx.ftz.f32 %0, %1, %0;" : "+f"(x) : "f"(y)))
MICRO_CODE(RcpF, float, 8, asm volatile("rcp.rn.f32 %0, %0;" : "+f"(x)))
MICRO_CODE(SqrtF, float, 8, asm volatile("sqrt.rn.f32 %0, %0;" : "+f"(x)))
MICRO_CODE(DivideD, double, 16, asm volatile("div.rn.f64 %0, %0, %1;" : "+d"(x) : "d"(y)))
MICRO_CODE(SqrtD, double, 16, asm volatile("sqrt.rn.f64 %0, %0;" : "+d"(x)))
MICRO_CODE(SinF, float, 16, x = sinf(x) + z)
MICRO_CODE(ExpF, float, 8, x = expf(x) - z)
MICRO_CODE(LogF, float, 8, x = logf(x) + z)
MICRO_CODE(PowF, float, 16, x = powf(x, y))
MICRO_CODE(SinD, double, 32, x = sin(x) + z)
MICRO_CODE(ExpD, double, 32, x = exp(x) - z)

// Two operations side by side on separate values: `A` times as and `B` times bs for each step.
template <class First, int A, class Second, int B>
__global__ void mixed(long long* times, float* sink, int iterations, typename First::Type y, typename Second::Type z) {
  typename First::Type a[A > 4 ? A : 4];
  typename Second::Type b[B > 4 ? B : 4];
  constexpr int kA = A > 4 ? A : 4, kB = B > 4 ? B : 4;
  for (int i = 0; i < kA; ++i) a[i] = y + i;
  for (int i = 0; i < kB; ++i) b[i] = z + i;
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
#pragma unroll
      for (int i = 0; i < A; ++i) First::step(a[(k * A + i) % kA], y, y);
#pragma unroll
      for (int i = 0; i < B; ++i) Second::step(b[(k * B + i) % kB], z, z);
    }
  }
  const long long end = clock64();
  float sum = 0;
  for (int i = 0; i < kA; ++i) sum += float(a[i]);
  for (int i = 0; i < kB; ++i) sum += float(b[i]);
  sink[threadIdx.x] = sum;
  if (threadIdx.x % 32 == 0) {
    times[threadIdx.x / 32 * 2] = start;
    times[threadIdx.x / 32 * 2 + 1] = end;
  }
}

MICRO_OP(Iadd, u32, "r", 1, "{.reg .u32 t; add.u32 t, %0, %1; xor.b32 %0, t, %2;}")  // two instructions
MICRO_OP(Lop, u32, "r", 1, "lop3.b32 %0, %0, %1, 0x55555555, 0x6a;")
MICRO_OP(Imad, u32, "r", 1, "mad.lo.u32 %0, %0, %1, %2;")
MICRO_OP(Shuffle, u32, "r", 1, "shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;")

template <class First, int A, class Second, int B>
void mix(const char* name) {
  Buffer<long long> times(64);
  Buffer<float> sink(1024);
  const int iterations = quick() ? 2 : 128, warps = 32;
  std::vector<double> rate = sample(5, [&] {
    mixed<First, A, Second, B><<<1, warps * 32>>>(times.data, sink.data, iterations, typename First::Type(3),
                                                  typename Second::Type(5));
    return warps * iterations * 16.0 * (A + B) / block_cycles(times, warps);
  });
  report(std::string("mixed.") + name, rate, "step/cycle/SM");
}

template <class Op, int Ilp>
void by_warps(const char* name) {
  for (int warps : {1, 2, 4, 5, 6, 8, 12, 16, 24, 32}) {
    std::vector<double> rate = cycles_per_step<Op, Ilp>(warps);
    for (double& r : rate) r = warps * Ilp / r;
    report(std::string("rate_by_warps.") + name + ".ilp" + number(Ilp) + "." + number(warps), rate, "step/cycle/SM");
  }
}

}  // namespace

void float_pipes() {
  measure_chain<Fadd>("fadd_fadd");
  measure_chain<Fmul>("fmul");
  measure_chain<Ffma>("ffma");
  measure_chain<Fmin>("fmin_fmax");
  measure_chain<FsetSelect>("fsetp_sel");
  measure_chain<Hfma2>("hfma2");
  measure_chain<Hadd2>("hadd2");
  measure_chain<Bfma2>("hfma2_bf16");
  measure_chain<Dadd>("dadd");
  measure_chain<Dmul>("dmul");
  measure_chain<Dfma>("dfma");
  measure_chain<DsetSelect>("dsetp_sel");
  measure_chain<Ex2>("mufu_ex2");
  measure_chain<Lg2>("mufu_lg2");
  measure_chain<Rcp>("mufu_rcp_fadd");
  measure_chain<Rsqrt>("mufu_rsq");
  measure_chain<Sqrt>("mufu_sqrt");
  measure_chain<Sine>("mufu_sin_with_fmul");
  measure_chain<Tanh>("mufu_tanh");
  measure_chain<DivideF>("div_rn_f32");
  measure_chain<DivideFast>("div_approx_f32");
  measure_chain<RcpF>("rcp_rn_f32");
  measure_chain<SqrtF>("sqrt_rn_f32");
  measure_chain<DivideD>("div_rn_f64");
  measure_chain<SqrtD>("sqrt_rn_f64");
  measure_chain<SinF>("sinf");
  measure_chain<ExpF>("expf");
  measure_chain<LogF>("logf");
  measure_chain<PowF>("powf");
  measure_chain<SinD>("sin_f64");
  measure_chain<ExpD>("exp_f64");
  mix<Ffma, 4, Lop, 4>("ffma4_lop4");
  mix<Ffma, 4, Lop, 2>("ffma4_lop2");
  mix<Ffma, 4, Iadd, 2>("ffma4_add_xor2");
  mix<Ffma, 4, Imad, 4>("ffma4_imad4");
  mix<Lop, 4, Imad, 4>("lop4_imad4");
  mix<Ffma, 8, Ex2, 1>("ffma8_ex2");
  mix<Ffma, 4, Ex2, 1>("ffma4_ex2");
  mix<Ffma, 4, Dfma, 2>("ffma4_dfma2");
  mix<Ffma, 4, Dfma, 4>("ffma4_dfma4");
  mix<Ffma, 4, Shuffle, 1>("ffma4_shfl");
  mix<Ffma, 4, Hfma2, 4>("ffma4_hfma2_4");
  mix<Ex2, 1, Shuffle, 1>("ex2_shfl");
  by_warps<Ffma, 1>("ffma");
  by_warps<Ffma, 2>("ffma");
  by_warps<Ffma, 4>("ffma");
  by_warps<Lop, 1>("lop3");
  by_warps<Imad, 1>("imad");
  by_warps<Imad, 2>("imad");
  by_warps<Dfma, 1>("dfma");
  by_warps<Ex2, 1>("ex2");
}

}  // namespace micro
