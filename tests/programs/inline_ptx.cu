// Inline PTX: special registers, arithmetic with carries, byte permutes, bit fields, predicates, vector loads,
// memory clobbers, labels in a scope of their own, and cache operators.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

// One % before a name of PTX's is how the manual itself writes it.
__device__ int is_34(int x) {
  int y = 0;
  asm("{\n\t"
      " .reg .pred %p;\n\t"
      " setp.eq.s32 %p, %1, 34;\n\t"
      " @%p mov.s32 %0, 1;\n\t"
      "}"
      : "+r"(y) : "r"(x));
  return y;
}
__device__ unsigned lane() {
  unsigned r;
  asm volatile("mov.u32 %0, %laneid;" : "=r"(r));
  return r;
}

__device__ __forceinline__ unsigned lane_id() {
  unsigned id;
  asm("mov.u32 %0, %%laneid;" : "=r"(id));
  return id;
}
__device__ __forceinline__ unsigned lanemask_lt() {
  unsigned m;
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(m));
  return m;
}

struct Out {
  unsigned lane, mask, nwarp, tid, cube;
  unsigned add_lo, add_hi, prmt, bfe, bfi, popc, clz, brev, shf, mad_hi, lop, sad, sel, loop;
  int sext;
  unsigned long long wide, mulhi64;
  float fma_rz, ex2, rcp;
  double dadd;
  uint4 v;
  unsigned short half_word;
};

__global__ void k(Out* out, const uint4* in, unsigned* scratch) {
  Out o = {};
  o.lane = lane_id();
  o.mask = lanemask_lt();
  asm("mov.u32 %0, %%ntid.x;" : "=r"(o.nwarp));
  asm("mov.u32 %0, %%tid.x;" : "=r"(o.tid));
  unsigned x = threadIdx.x + 3;
  asm("{\n\t"
      ".reg .u32 t1;\n\t"
      "mul.lo.u32 t1, %1, %1;\n\t"
      "mul.lo.u32 %0, t1, %1;\n\t"
      "}"
      : "=r"(o.cube)
      : "r"(x));
  unsigned a = 0xFFFFFFFFu - threadIdx.x, b = 5;
  asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %4, 0;" : "=r"(o.add_lo), "=r"(o.add_hi) : "r"(a), "r"(b), "r"(7u));
  asm("prmt.b32 %0, %1, %2, 0x4321;" : "=r"(o.prmt) : "r"(0x44332211u), "r"(0x88776655u));
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(o.bfe) : "r"(0x12345678u));
  asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(o.bfi) : "r"(0xFu), "r"(0u));
  asm("popc.b32 %0, %1;" : "=r"(o.popc) : "r"(0xF0F01u));
  asm("clz.b32 %0, %1;" : "=r"(o.clz) : "r"(0x00010000u));
  asm("brev.b32 %0, %1;" : "=r"(o.brev) : "r"(1u));
  asm("shf.l.wrap.b32 %0, %1, %2, 8;" : "=r"(o.shf) : "r"(0x11223344u), "r"(0x55667788u));
  asm("mad.hi.u32 %0, %1, %2, %3;" : "=r"(o.mad_hi) : "r"(0x80000000u), "r"(6u), "r"(10u));
  asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(o.lop) : "r"(0xF0F0F0F0u), "r"(0xCCCCCCCCu), "r"(0xAAAAAAAAu));
  asm("sad.u32 %0, %1, %2, %3;" : "=r"(o.sad) : "r"(10u), "r"(3u), "r"(100u));
  asm("cvt.s32.s8 %0, %1;" : "=r"(o.sext) : "r"(0xF0));
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(o.wide) : "r"(0xFFFFFFFFu), "r"(0xFFFFFFFFu));
  asm("mul.hi.u64 %0, %1, %2;" : "=l"(o.mulhi64) : "l"(1ull << 63), "l"(6ull));
  asm("fma.rz.f32 %0, %1, %2, %3;" : "=f"(o.fma_rz) : "f"(1.1f), "f"(1.1f), "f"(1.0f));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(o.ex2) : "f"(3.0f));
  asm("rcp.rn.f32 %0, %1;" : "=f"(o.rcp) : "f"(3.0f));
  asm("add.rn.f64 %0, %1, %2;" : "=d"(o.dadd) : "d"(0.1), "d"(0.2));
  asm("mov.b16 %0, %1;" : "=h"(o.half_word) : "h"((unsigned short)0xBEEF));
  asm("{\n\t.reg .pred p;\n\tsetp.lt.u32 p, %1, 16;\n\tselp.u32 %0, 100, 200, p;\n\t}"
      : "=r"(o.sel)
      : "r"(threadIdx.x));
  unsigned n = threadIdx.x % 5, sum = 0;
  asm volatile(
      "{\n\t.reg .pred p;\n\t.reg .u32 i;\n\tmov.u32 i, 0;\n"
      "again:\n\tsetp.ge.u32 p, i, %1;\n\t@p bra done;\n\tadd.u32 %0, %0, i;\n\tadd.u32 %0, %0, 1;\n\tadd.u32 i, i, "
      "1;\n\tbra again;\n"
      "done:\n\t}"
      : "+r"(sum)
      : "r"(n));
  o.loop = sum;
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(o.v.x), "=r"(o.v.y), "=r"(o.v.z), "=r"(o.v.w)
               : "l"(in + threadIdx.x));
  asm volatile("st.global.cg.u32 [%0], %1;" ::"l"(scratch + threadIdx.x), "r"(threadIdx.x * 11) : "memory");
  asm volatile("membar.gl;" ::: "memory");
  unsigned back;
  asm volatile("ld.global.cv.u32 %0, [%1];" : "=r"(back) : "l"(scratch + threadIdx.x) : "memory");
  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(scratch + 64), "r"(back) : "memory");
  out[threadIdx.x] = o;
}

__global__ void single_percents(int* bad) {
  if (is_34(threadIdx.x) != (threadIdx.x == 34) || lane() != threadIdx.x % 32) atomicAdd(bad, 1);
}

// Constants may be expressions, 64 bits wide, with C's operators. `expected` is what ptxas makes of them.
__global__ void constant_expressions(int* bad) {
  unsigned long long value;
#define EXPRESSION(text, expected)               \
  asm("mov.u64 %0, " text ";" : "=l"(value));    \
  if (value != (unsigned long long)(expected)) atomicAdd(bad, 1);
  EXPRESSION("0b101 + 0123 * 2U", 171)
  EXPRESSION("3 == 1", 0) EXPRESSION("4 != 5", 1) EXPRESSION("!1", 0) EXPRESSION("!0 + 5", 6)
  EXPRESSION("1 ? 3 : 2", 3) EXPRESSION("1 ? 2 : 0 ? 3 : 4", 2) EXPRESSION("(1 ? -1 : 1U) / 2", 0)
  EXPRESSION("1 || 0 && 0", 1) EXPRESSION("2 & 3 == 3", 0) EXPRESSION("7 > 3 > 1", 0) EXPRESSION("5 - 3 - 1 <= 1", 1)
  EXPRESSION("99 %% 10", 9) EXPRESSION("-17 %% 5", 4)
  EXPRESSION("-16 / 3", -5) EXPRESSION("-16 / 3U", 0x5555555555555550) EXPRESSION("0xFFFFFFFFFFFFFFF0 / 3", 0x5555555555555550)
  EXPRESSION("(.s64) 0xFFFFFFFFFFFFFFF0 / 3", -5) EXPRESSION("(-1 < 1U) + 40", 40) EXPRESSION("(-1 < 1) + 40", 41)
  EXPRESSION("-16 >> 2", -4) EXPRESSION("-16U >> 2", 0x3ffffffffffffffc) EXPRESSION("1 << 2 + 3", 32) EXPRESSION("1 << 70", 64)
}

int main() {
  const int n = 64;
  static Out out[n];
  uint4 in[n];
  for (int i = 0; i < n; i++) in[i] = make_uint4(i, i + 1, i * 2, i * i);
  Out* d_out;
  uint4* d_in;
  unsigned *d_scratch, total = 0;
  CHECK(cudaMalloc(&d_out, sizeof out));
  CHECK(cudaMalloc(&d_in, sizeof in));
  CHECK(cudaMalloc(&d_scratch, (n + 1) * 4));
  CHECK(cudaMemset(d_scratch, 0, (n + 1) * 4));
  CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
  k<<<1, n>>>(d_out, d_in, d_scratch);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&total, d_scratch + n, 4, cudaMemcpyDeviceToHost));
  int bad = total != 11 * n * (n - 1) / 2, wrong;
  CHECK(cudaMemset(d_scratch, 0, 4));
  single_percents<<<1, n>>>((int*)d_scratch);
  CHECK(cudaMemcpy(&wrong, d_scratch, 4, cudaMemcpyDeviceToHost));
  bad += wrong;
  constant_expressions<<<1, 1>>>((int*)d_scratch);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&wrong, d_scratch, 4, cudaMemcpyDeviceToHost));
  bad += wrong;
  for (int i = 0; i < n; i++) {
    const Out& o = out[i];
    unsigned x = i + 3, m = i % 5;
    unsigned long long sum = (unsigned long long)(0xFFFFFFFFu - i) + 5;
    bool ok = o.lane == i % 32u && o.mask == (1u << i % 32) - 1 && o.nwarp == n && o.tid == (unsigned)i &&
              o.cube == x * x * x;
    ok = ok && o.add_lo == (unsigned)sum && o.add_hi == 7 + (unsigned)(sum >> 32) && o.prmt == 0x55443322u &&
         o.bfe == 0x67u;
    ok = ok && o.bfi == 0xF00u && o.popc == 9 && o.clz == 15 && o.brev == 0x80000000u && o.shf == 0x66778811u;
    ok = ok && o.mad_hi == 13 && o.lop == 0xE8E8E8E8u && o.sad == 107 && o.sext == -16 &&
         o.wide == 0xFFFFFFFE00000001ull;
    ok = ok && o.mulhi64 == 3 && o.ex2 == 8.0f && o.rcp == 1.0f / 3.0f && o.dadd == 0.1 + 0.2 && o.half_word == 0xBEEF;
    double exact = (double)1.1f * 1.1f + 1.0;
    ok = ok && (double)o.fma_rz <= exact && exact - o.fma_rz < 3e-7;
    ok = ok && o.sel == (i < 16 ? 100u : 200u) && o.loop == m * (m - 1) / 2 + m;
    ok = ok && o.v.x == in[i].x && o.v.y == in[i].y && o.v.z == in[i].z && o.v.w == in[i].w;
    if (!ok) bad++;
  }
  printf("inline_ptx: %d wrong, %s\n", bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
