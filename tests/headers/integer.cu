// Integer intrinsics, SIMD in a word, and the functions of dynamic programming.
__device__ int i;
__device__ unsigned u;
__device__ long long ll;
__device__ unsigned long long ull;

__global__ void bits() {
  i += __clz(i) + __clzll(ll) + __ffs(i) + __ffsll(ll) + __popc(u) + __popcll(ull);
  u += __brev(u) + __byte_perm(u, u, 0x3210) + __fns(u, 0, 1);
  ull += __brevll(ull);
  i += __mul24(i, i) + __mulhi(i, i) + __hadd(i, i) + __rhadd(i, i);
  u += __umul24(u, u) + __umulhi(u, u) + __uhadd(u, u) + __urhadd(u, u) + __sad(i, i, u) + __usad(u, u, u);
  ll += __mul64hi(ll, ll);
  ull += __umul64hi(ull, ull);
  u += __funnelshift_l(u, u, 3) + __funnelshift_lc(u, u, 3) + __funnelshift_r(u, u, 3) + __funnelshift_rc(u, u, 3);
#if __CUDA_ARCH__ >= 610
  i += __dp4a(i, i, i) + __dp4a(make_char4(1, 2, 3, 4), make_char4(1, 2, 3, 4), i) + __dp2a_lo(i, i, i) + __dp2a_hi(i, i, i);
  u += __dp4a(u, u, u) + __dp2a_lo(u, u, u) + __dp2a_hi(make_ushort2(1, 2), make_uchar4(1, 2, 3, 4), u);
#endif
}

__global__ void simd() {
#define BOTH(name) u += name##2(u, u + 1) + name##4(u, u + 1);
#define BOTH_1(name) u += name##2(u) + name##4(u);
#define COMPARE(op) BOTH(__vset##op) BOTH(__vcmp##op)
  BOTH(__vadd) BOTH(__vaddss) BOTH(__vaddus) BOTH(__vsub) BOTH(__vsubss) BOTH(__vsubus) BOTH(__vavgs) BOTH(__vavgu)
  BOTH(__vhaddu) BOTH(__vmaxs) BOTH(__vmaxu) BOTH(__vmins) BOTH(__vminu) BOTH(__vabsdiffs) BOTH(__vabsdiffu)
  BOTH(__vsads) BOTH(__vsadu) BOTH_1(__vneg) BOTH_1(__vnegss) BOTH_1(__vabs) BOTH_1(__vabsss)
  COMPARE(eq) COMPARE(ne) COMPARE(lts) COMPARE(ltu) COMPARE(les) COMPARE(leu) COMPARE(gts) COMPARE(gtu) COMPARE(ges)
  COMPARE(geu)
}

__host__ __device__ unsigned dynamic(int a, int b, int c) {
  const unsigned x = (unsigned)a, y = (unsigned)b, z = (unsigned)c;
  bool p, q;
  int s = __vimax3_s32(a, b, c) + __vimin3_s32_relu(a, b, c) + __viaddmax_s32(a, b, c) + __viaddmin_s32_relu(a, b, c) +
          __vimax_s32_relu(a, b) + __vibmax_s32(a, b, &p);
  unsigned t = __vimax3_u32(x, y, z) + __viaddmin_u32(x, y, z) + __vibmin_u32(x, y, &p);
  t += __vimax3_s16x2(x, y, z) + __vimin3_u16x2(x, y, z) + __viaddmax_s16x2(x, y, z) + __viaddmax_s16x2_relu(x, y, z) +
       __vimin_s16x2_relu(x, y) + __vimax3_s16x2_relu(x, y, z) + __vibmax_u16x2(x, y, &p, &q) + __vibmin_s16x2(x, y, &p, &q);
  return (unsigned)s + t + p + q;
}
__global__ void dynamic_kernel() { u += dynamic(i, 2, 3); }
unsigned host() { return dynamic(1, 2, 3); }
