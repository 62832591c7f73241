// The device library as LLVM's code, for libnvvm and whoever else links it: what is an instruction, or a few. All other
// functions of the name are calls that stay in the PTX; the machine has them (src/isa/library).
//
// Compiled without optimisation, so that __nvvm_reflect is asked when the program's options are known.

#define WB extern "C" __attribute__((always_inline, nothrow))
// By another name: clang takes its own for a function that does not return.
extern "C" int reflected(const char*) __asm__("__nvvm_reflect");
static inline __attribute__((always_inline)) bool flushes() { return reflected("__CUDA_FTZ"); }

using u32 = unsigned;
using u64 = unsigned long long;
using i64 = long long;

// --- arithmetic in every rounding ---
// LLVM calls down and up by the infinities, minus and plus.
#define WB_ROUNDING(r, n)                                                                                                                 \
  WB float __nv_fadd_##r(float x, float y) { return flushes() ? __nvvm_add_##n##_ftz_f(x, y) : __nvvm_add_##n##_f(x, y); }                \
  WB float __nv_fsub_##r(float x, float y) { return flushes() ? __nvvm_add_##n##_ftz_f(x, -y) : __nvvm_add_##n##_f(x, -y); }              \
  WB float __nv_fmul_##r(float x, float y) { return flushes() ? __nvvm_mul_##n##_ftz_f(x, y) : __nvvm_mul_##n##_f(x, y); }                \
  WB float __nv_fdiv_##r(float x, float y) { return flushes() ? __nvvm_div_##n##_ftz_f(x, y) : __nvvm_div_##n##_f(x, y); }                \
  WB float __nv_frcp_##r(float x) { return flushes() ? __nvvm_rcp_##n##_ftz_f(x) : __nvvm_rcp_##n##_f(x); }                               \
  WB float __nv_fsqrt_##r(float x) { return flushes() ? __nvvm_sqrt_##n##_ftz_f(x) : __nvvm_sqrt_##n##_f(x); }                            \
  WB float __nv_fmaf_##r(float x, float y, float z) { return flushes() ? __nvvm_fma_##n##_ftz_f(x, y, z) : __nvvm_fma_##n##_f(x, y, z); } \
  WB float __nv_fmaf_ieee_##r(float x, float y, float z) { return __nvvm_fma_##n##_f(x, y, z); }                                          \
  WB double __nv_dadd_##r(double x, double y) { return __nvvm_add_##n##_d(x, y); }                                                        \
  WB double __nv_dsub_##r(double x, double y) { return __nvvm_add_##n##_d(x, -y); }                                                       \
  WB double __nv_dmul_##r(double x, double y) { return __nvvm_mul_##n##_d(x, y); }                                                        \
  WB double __nv_ddiv_##r(double x, double y) { return __nvvm_div_##n##_d(x, y); }                                                        \
  WB double __nv_drcp_##r(double x) { return __nvvm_rcp_##n##_d(x); }                                                                     \
  WB double __nv_dsqrt_##r(double x) { return __nvvm_sqrt_##n##_d(x); }                                                                   \
  WB double __nv_fma_##r(double x, double y, double z) { return __nvvm_fma_##n##_d(x, y, z); }                                            \
  WB int __nv_float2int_##r(float x) { return flushes() ? __nvvm_f2i_##n##_ftz(x) : __nvvm_f2i_##n(x); }                                  \
  WB u32 __nv_float2uint_##r(float x) { return flushes() ? __nvvm_f2ui_##n##_ftz(x) : __nvvm_f2ui_##n(x); }                               \
  WB i64 __nv_float2ll_##r(float x) { return flushes() ? __nvvm_f2ll_##n##_ftz(x) : __nvvm_f2ll_##n(x); }                                 \
  WB u64 __nv_float2ull_##r(float x) { return flushes() ? __nvvm_f2ull_##n##_ftz(x) : __nvvm_f2ull_##n(x); }                              \
  WB int __nv_double2int_##r(double x) { return __nvvm_d2i_##n(x); }                                                                      \
  WB u32 __nv_double2uint_##r(double x) { return __nvvm_d2ui_##n(x); }                                                                    \
  WB i64 __nv_double2ll_##r(double x) { return __nvvm_d2ll_##n(x); }                                                                      \
  WB u64 __nv_double2ull_##r(double x) { return __nvvm_d2ull_##n(x); }                                                                    \
  WB float __nv_double2float_##r(double x) { return flushes() ? __nvvm_d2f_##n##_ftz(x) : __nvvm_d2f_##n(x); }                            \
  WB float __nv_int2float_##r(int x) { return __nvvm_i2f_##n(x); }                                                                        \
  WB float __nv_uint2float_##r(u32 x) { return __nvvm_ui2f_##n(x); }                                                                      \
  WB float __nv_ll2float_##r(i64 x) { return __nvvm_ll2f_##n(x); }                                                                        \
  WB float __nv_ull2float_##r(u64 x) { return __nvvm_ull2f_##n(x); }                                                                      \
  WB double __nv_ll2double_##r(i64 x) { return __nvvm_ll2d_##n(x); }                                                                      \
  WB double __nv_ull2double_##r(u64 x) { return __nvvm_ull2d_##n(x); }
WB_ROUNDING(rn, rn)
WB_ROUNDING(rz, rz)
WB_ROUNDING(rd, rm)
WB_ROUNDING(ru, rp)
WB double __nv_int2double_rn(int x) { return x; }
WB double __nv_uint2double_rn(u32 x) { return x; }

// --- one instruction for either width ---
#define WB_BOTH_1(name)                                               \
  WB float __nv_##name##f(float x) { return __builtin_##name##f(x); } \
  WB double __nv_##name(double x) { return __builtin_##name(x); }
WB_BOTH_1(fabs)
WB_BOTH_1(ceil)
WB_BOTH_1(floor)
WB_BOTH_1(trunc)
WB_BOTH_1(rint)
WB_BOTH_1(nearbyint)
WB_BOTH_1(sqrt)
#define WB_BOTH_2(name)                                                           \
  WB float __nv_##name##f(float x, float y) { return __builtin_##name##f(x, y); } \
  WB double __nv_##name(double x, double y) { return __builtin_##name(x, y); }
WB_BOTH_2(fmin)
WB_BOTH_2(fmax)
WB float __nv_fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
WB double __nv_fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
WB float __nv_saturatef(float x) { return flushes() ? __nvvm_saturate_ftz_f(x) : __nvvm_saturate_f(x); }
WB float __nv_rsqrtf(float x) { return flushes() ? __nvvm_rsqrt_approx_ftz_f(x) : __nvvm_rsqrt_approx_f(x); }

// --- on the bits, which keeps denormals ---
WB int __nv_float_as_int(float x) { return __builtin_bit_cast(int, x); }
WB float __nv_int_as_float(int x) { return __builtin_bit_cast(float, x); }
WB u32 __nv_float_as_uint(float x) { return __builtin_bit_cast(u32, x); }
WB float __nv_uint_as_float(u32 x) { return __builtin_bit_cast(float, x); }
WB i64 __nv_double_as_longlong(double x) { return __builtin_bit_cast(i64, x); }
WB double __nv_longlong_as_double(i64 x) { return __builtin_bit_cast(double, x); }
WB int __nv_double2hiint(double x) { return static_cast<int>(__builtin_bit_cast(u64, x) >> 32); }
WB int __nv_double2loint(double x) { return static_cast<int>(__builtin_bit_cast(u64, x)); }
WB double __nv_hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, static_cast<u64>(static_cast<u32>(high)) << 32 | static_cast<u32>(low));
}
WB float __nv_copysignf(float x, float y) {
  constexpr u32 kSign = 1u << 31;
  return __nv_uint_as_float((__nv_float_as_uint(x) & ~kSign) | (__nv_float_as_uint(y) & kSign));
}
WB double __nv_copysign(double x, double y) {
  constexpr u64 kSign = 1ull << 63;
  return __builtin_bit_cast(double, (__builtin_bit_cast(u64, x) & ~kSign) | (__builtin_bit_cast(u64, y) & kSign));
}
WB int __nv_signbitf(float x) { return __nv_float_as_uint(x) >> 31; }
WB int __nv_signbitd(double x) { return static_cast<int>(__builtin_bit_cast(u64, x) >> 63); }
WB int __nv_isnanf(float x) { return x != x; }
WB int __nv_isnand(double x) { return x != x; }
WB int __nv_isinff(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
WB int __nv_isinfd(double x) { return __builtin_fabs(x) == __builtin_inf(); }
WB int __nv_finitef(float x) { return __builtin_fabsf(x) < __builtin_inff(); }
WB int __nv_isfinited(double x) { return __builtin_fabs(x) < __builtin_inf(); }

// --- the fast forms ---
WB float __nv_fast_sinf(float x) { return flushes() ? __nvvm_sin_approx_ftz_f(x) : __nvvm_sin_approx_f(x); }
WB float __nv_fast_cosf(float x) { return flushes() ? __nvvm_cos_approx_ftz_f(x) : __nvvm_cos_approx_f(x); }
WB float __nv_fast_log2f(float x) { return flushes() ? __nvvm_lg2_approx_ftz_f(x) : __nvvm_lg2_approx_f(x); }
WB float __nv_exp2f(float x) { return flushes() ? __nvvm_ex2_approx_ftz_f(x) : __nvvm_ex2_approx_f(x); }
WB float __nv_fast_fdividef(float x, float y) { return flushes() ? __nvvm_div_approx_ftz_f(x, y) : __nvvm_div_approx_f(x, y); }
WB float __nv_fast_tanf(float x) { return __nv_fast_fdividef(__nv_fast_sinf(x), __nv_fast_cosf(x)); }
WB void __nv_fast_sincosf(float x, float* sine, float* cosine) {
  *sine = __nv_fast_sinf(x);
  *cosine = __nv_fast_cosf(x);
}
WB float __nv_fast_expf(float x) { return __nv_exp2f(__nv_fmul_rn(x, __nv_uint_as_float(0x3fb8aa3b))); }
WB float __nv_fast_exp10f(float x) { return __nv_exp2f(__nv_fmul_rn(x, __nv_uint_as_float(0x40549a78))); }
WB float __nv_fast_logf(float x) { return __nv_fmul_rn(__nv_fast_log2f(x), __nv_uint_as_float(0x3f317218)); }
WB float __nv_fast_log10f(float x) { return __nv_fmul_rn(__nv_fast_log2f(x), __nv_uint_as_float(0x3e9a209b)); }
WB float __nv_fast_powf(float x, float y) { return __nv_exp2f(__nv_fmul_rn(y, __nv_fast_log2f(x))); }

// --- integers ---
// The least number is its own magnitude.
WB int __nv_abs(int x) { return x < 0 ? static_cast<int>(0u - static_cast<u32>(x)) : x; }
WB i64 __nv_llabs(i64 x) { return x < 0 ? static_cast<i64>(0ull - static_cast<u64>(x)) : x; }
WB int __nv_min(int x, int y) { return x < y ? x : y; }
WB int __nv_max(int x, int y) { return x > y ? x : y; }
WB u32 __nv_umin(u32 x, u32 y) { return x < y ? x : y; }
WB u32 __nv_umax(u32 x, u32 y) { return x > y ? x : y; }
WB i64 __nv_llmin(i64 x, i64 y) { return x < y ? x : y; }
WB i64 __nv_llmax(i64 x, i64 y) { return x > y ? x : y; }
WB u64 __nv_ullmin(u64 x, u64 y) { return x < y ? x : y; }
WB u64 __nv_ullmax(u64 x, u64 y) { return x > y ? x : y; }
WB int __nv_mulhi(int x, int y) { return static_cast<int>((static_cast<i64>(x) * y) >> 32); }
WB u32 __nv_umulhi(u32 x, u32 y) { return static_cast<u32>((static_cast<u64>(x) * y) >> 32); }
WB i64 __nv_mul64hi(i64 x, i64 y) { return __nvvm_mulhi_ll(x, y); }
WB u64 __nv_umul64hi(u64 x, u64 y) { return __nvvm_mulhi_ull(x, y); }
WB int __nv_mul24(int x, int y) { return __nvvm_mul24_i(x, y); }
WB u32 __nv_umul24(u32 x, u32 y) { return __nvvm_mul24_ui(x, y); }
WB int __nv_clz(int x) { return x ? __builtin_clz(static_cast<u32>(x)) : 32; }
WB int __nv_clzll(i64 x) { return x ? __builtin_clzll(static_cast<u64>(x)) : 64; }
WB int __nv_popc(int x) { return __builtin_popcount(static_cast<u32>(x)); }
WB int __nv_popcll(i64 x) { return __builtin_popcountll(static_cast<u64>(x)); }
WB int __nv_ffs(int x) { return x ? __builtin_ctz(static_cast<u32>(x)) + 1 : 0; }
WB int __nv_ffsll(i64 x) { return x ? __builtin_ctzll(static_cast<u64>(x)) + 1 : 0; }
WB u32 __nv_brev(u32 x) { return __builtin_bitreverse32(x); }
WB u64 __nv_brevll(u64 x) { return __builtin_bitreverse64(x); }
WB int __nv_byte_perm(int x, int y, int selection) { return static_cast<int>(__nvvm_prmt(x, y, selection & 0x7777)); }
// The averages do not overflow.
WB int __nv_hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
WB int __nv_rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
WB u32 __nv_uhadd(u32 x, u32 y) { return (x & y) + ((x ^ y) >> 1); }
WB u32 __nv_urhadd(u32 x, u32 y) { return (x | y) - ((x ^ y) >> 1); }

// --- cooperative launches: what a toolkit has in libcudadevrt (include/warpbeam/cooperative/groups.h tells how the barrier works) ---
#define WB_CONVERGENT extern "C" __attribute__((always_inline, nothrow, convergent))
static inline __attribute__((always_inline)) u64 grid_workspace() {
  u32 low, high;
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  return static_cast<u64>(high) << 32 | low;
}
static inline __attribute__((always_inline)) u32 block_rank() {
  return __nvvm_read_ptx_sreg_ctaid_x() +
         __nvvm_read_ptx_sreg_nctaid_x() *
             (__nvvm_read_ptx_sreg_ctaid_y() + __nvvm_read_ptx_sreg_nctaid_y() * __nvvm_read_ptx_sreg_ctaid_z());
}
static inline __attribute__((always_inline)) bool first_in_block() {
  return (__nvvm_read_ptx_sreg_tid_x() | __nvvm_read_ptx_sreg_tid_y() | __nvvm_read_ptx_sreg_tid_z()) == 0;
}

// Of the grid; 0 where the launch was not cooperative, and for launches on several devices.
WB u64 cudaCGGetIntrinsicHandle(int scope) { return scope == 1 ? grid_workspace() : 0; }
WB_CONVERGENT int cudaCGSynchronize(u64 handle, u32) {
  constexpr int kInvalidValue = 1;
  if (!handle) return kInvalidValue;
  int* barrier = reinterpret_cast<int*>(handle + 4);
  __syncthreads();
  if (first_in_block()) {
    const u32 others = __nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_nctaid_y() * __nvvm_read_ptx_sreg_nctaid_z() - 1;
    __nvvm_membar_gl();
    const u32 old = static_cast<u32>(__nvvm_atom_add_gen_i(barrier, static_cast<int>(block_rank() == 0 ? 0x80000000u - others : 1u)));
    while (((static_cast<u32>(*reinterpret_cast<volatile int*>(barrier)) ^ old) & 0x80000000u) == 0) {}
    __nvvm_membar_gl();
  }
  __syncthreads();
  return 0;
}
