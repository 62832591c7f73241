// Integer intrinsics: counting, reversing and permuting bits, high products, sums of differences, dot products.
#ifndef WARPBEAM_DEVICE_INTEGER_H
#define WARPBEAM_DEVICE_INTEGER_H

#include "vector_types.h"

WB_DEVICE int __clz(int x) { return __builtin_clzg((unsigned int)x, 32); }
WB_DEVICE int __clzll(long long x) { return __builtin_clzg((unsigned long long)x, 64); }
WB_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
WB_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
WB_DEVICE int __popc(unsigned int x) { return __builtin_popcount(x); }
WB_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
WB_DEVICE unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
WB_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
// The instruction takes a fourth bit of each selector to mean "its sign"; CUDA has only three.
WB_DEVICE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  return __nvvm_prmt(x, y, selector & 0x7777);
}
WB_HOST_DEVICE unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
WB_HOST_DEVICE unsigned int __nv_bswap32(unsigned int x) { return __builtin_bswap32(x); }
WB_HOST_DEVICE unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }
// The position of the n-th set bit of mask from base on, or -1.
WB_DEVICE unsigned int __fns(unsigned int mask, unsigned int base, int n) { return __nvvm_fns(mask, base, n); }

WB_DEVICE int __mul24(int x, int y) { return __nvvm_mul24_i(x, y); }
WB_DEVICE unsigned int __umul24(unsigned int x, unsigned int y) { return __nvvm_mul24_ui(x, y); }
WB_DEVICE int __mulhi(int x, int y) { return __nvvm_mulhi_i(x, y); }
WB_DEVICE unsigned int __umulhi(unsigned int x, unsigned int y) { return __nvvm_mulhi_ui(x, y); }
WB_DEVICE long long __mul64hi(long long x, long long y) { return __nvvm_mulhi_ll(x, y); }
WB_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return __nvvm_mulhi_ull(x, y); }
WB_DEVICE unsigned int __sad(int x, int y, unsigned int z) { return (unsigned int)__nvvm_sad_i(x, y, (int)z); }
WB_DEVICE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return __nvvm_sad_ui(x, y, z); }
// Means without overflow: rounded down (hadd) and up (rhadd).
WB_DEVICE int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
WB_DEVICE int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
WB_DEVICE unsigned int __uhadd(unsigned int x, unsigned int y) { return (x & y) + ((x ^ y) >> 1); }
WB_DEVICE unsigned int __urhadd(unsigned int x, unsigned int y) { return (x | y) - ((x ^ y) >> 1); }

#define WB_DEFINE_FUNNEL(name, instruction)                                                          \
  WB_DEVICE unsigned int name(unsigned int low, unsigned int high, unsigned int shift) {             \
    unsigned int result;                                                                             \
    asm(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));            \
    return result;                                                                                   \
  }
#if WB_HAS_ARCH(320)
WB_DEFINE_FUNNEL(__funnelshift_l, "shf.l.wrap.b32")
WB_DEFINE_FUNNEL(__funnelshift_lc, "shf.l.clamp.b32")
WB_DEFINE_FUNNEL(__funnelshift_r, "shf.r.wrap.b32")
WB_DEFINE_FUNNEL(__funnelshift_rc, "shf.r.clamp.b32")
#endif
#undef WB_DEFINE_FUNNEL

// Dot products of four bytes with four bytes, and of two halfwords with the lower or upper two bytes.
#define WB_DEFINE_DOT(name, T, A, B, instruction)                                                    \
  WB_DEVICE T name(A a, B b, T c) {                                                                  \
    T result;                                                                                        \
    asm(instruction " %0, %1, %2, %3;"                                                               \
        : "=r"(result)                                                                               \
        : "r"(__builtin_bit_cast(int, a)), "r"(__builtin_bit_cast(int, b)), "r"(c));                 \
    return result;                                                                                   \
  }
#if WB_HAS_ARCH(610)
WB_DEFINE_DOT(__dp4a, int, int, int, "dp4a.s32.s32")
WB_DEFINE_DOT(__dp4a, unsigned int, unsigned int, unsigned int, "dp4a.u32.u32")
WB_DEFINE_DOT(__dp4a, int, char4, char4, "dp4a.s32.s32")
WB_DEFINE_DOT(__dp4a, unsigned int, uchar4, uchar4, "dp4a.u32.u32")
WB_DEFINE_DOT(__dp2a_lo, int, int, int, "dp2a.lo.s32.s32")
WB_DEFINE_DOT(__dp2a_lo, unsigned int, unsigned int, unsigned int, "dp2a.lo.u32.u32")
WB_DEFINE_DOT(__dp2a_lo, int, short2, char4, "dp2a.lo.s32.s32")
WB_DEFINE_DOT(__dp2a_lo, unsigned int, ushort2, uchar4, "dp2a.lo.u32.u32")
WB_DEFINE_DOT(__dp2a_hi, int, int, int, "dp2a.hi.s32.s32")
WB_DEFINE_DOT(__dp2a_hi, unsigned int, unsigned int, unsigned int, "dp2a.hi.u32.u32")
WB_DEFINE_DOT(__dp2a_hi, int, short2, char4, "dp2a.hi.s32.s32")
WB_DEFINE_DOT(__dp2a_hi, unsigned int, ushort2, uchar4, "dp2a.hi.u32.u32")
#endif
#undef WB_DEFINE_DOT

#endif
