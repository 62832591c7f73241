// Tensor cores by mma.sync, matrix loads, constants, barriers, fences, branches and calls.
#include "chain.cuh"

namespace micro {
namespace {

using u32 = unsigned;

// One mma of a shape: `C` accumulator registers of type Acc.
#define MICRO_MMA(name, Acc, c, flops, accumulators, text, ...)           \
  struct name {                                                           \
    using Value = Acc;                                                    \
    static constexpr int kAccumulators = accumulators, kFlops = flops;    \
    static __device__ void step(Acc* d, const u32* a, const double* f) {  \
      (void)a, (void)f;                                                   \
      asm volatile(text : MICRO_MMA_##accumulators(d, c) : __VA_ARGS__);  \
    }                                                                     \
  };
#define MICRO_MMA_2(d, c) "+" c(d[0]), "+" c(d[1])
#define MICRO_MMA_4(d, c) "+" c(d[0]), "+" c(d[1]), "+" c(d[2]), "+" c(d[3])
#define MICRO_A4B2 "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5])
#define MICRO_A2B1 "r"(a[0]), "r"(a[1]), "r"(a[2])

MICRO_MMA(HmmaF32, float, "f", 4096, 4,
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};", MICRO_A4B2)
MICRO_MMA(HmmaF16, u32, "r", 4096, 2,
          "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};", MICRO_A4B2)
MICRO_MMA(HmmaF32K8, float, "f", 2048, 4,
          "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};", MICRO_A2B1)
MICRO_MMA(BmmaF32, float, "f", 4096, 4,
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};", MICRO_A4B2)
MICRO_MMA(Tf32, float, "f", 2048, 4,
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};", MICRO_A4B2)
MICRO_MMA(Imma, u32, "r", 8192, 4,
          "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};", MICRO_A4B2)
MICRO_MMA(Dmma, double, "d", 512, 2, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};",
          "d"(f[0]), "d"(f[1]))

template <class Op, int Ilp, int Body>
__global__ void mma_chain(long long* times, float* sink, int iterations, u32 bits) {
  u32 a[6];
  double f[2] = {double(bits), double(bits + 1)};
  for (int i = 0; i < 6; ++i) a[i] = bits + i;
  typename Op::Value d[Ilp][4];
  for (int i = 0; i < Ilp; ++i)
    for (int k = 0; k < 4; ++k) d[i][k] = 0;
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int b = 0; b < Body; ++b)
#pragma unroll
      for (int i = 0; i < Ilp; ++i) Op::step(d[i], a, f);
  }
  const long long end = clock64();
  float sum = 0;
  for (int i = 0; i < Ilp; ++i)
    for (int k = 0; k < Op::kAccumulators; ++k) sum += float(d[i][k]);
  sink[threadIdx.x] = sum;
  if (threadIdx.x % 32 == 0) {
    times[threadIdx.x / 32 * 2] = start;
    times[threadIdx.x / 32 * 2 + 1] = end;
  }
}

template <class Op, int Ilp>
double mma_cycles(int warps) {
  static Buffer<long long> times(64);
  static Buffer<float> sink(1024);
  const int iterations = quick() ? 2 : 64;
  mma_chain<Op, Ilp, 16><<<1, warps * 32>>>(times.data, sink.data, iterations, 0x3c003c00);
  const double two = block_cycles(times, warps);
  mma_chain<Op, Ilp, 8><<<1, warps * 32>>>(times.data, sink.data, iterations, 0x3c003c00);
  return (two - block_cycles(times, warps)) / (8.0 * iterations);
}

template <class Op>
void measure_mma(const char* name) {
  report(std::string("latency.mma.") + name, sample(5, [&] { return mma_cycles<Op, 1>(1); }), "cycle");
  for (int warps : {1, 4, 8, 16})
    report(std::string("rate.mma.") + name + ".warps" + number(warps),
           sample(5, [&] { return warps * 4 / mma_cycles<Op, 4>(warps); }), "step/cycle/SM");
}

// Loads of 8x8 matrices; each address depends on the value before, which is zero.
#define MICRO_LDMATRIX(name, count, text)                                                              \
  struct name {                                                                                        \
    using Type = u32;                                                                                  \
    static constexpr int kSize = 1;                                                                    \
    static __device__ void step(u32& x, u32, u32) {                                                    \
      extern __shared__ __align__(16) unsigned char matrices[];                                        \
      u32 r[4] = {};                                                                                   \
      const u32 address = u32(__cvta_generic_to_shared(matrices)) + threadIdx.x % 32 * 16 + x;         \
      asm volatile(text : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");   \
      x = r[0];                                                                                        \
    }                                                                                                  \
  };
MICRO_LDMATRIX(Matrix1, 1, "{ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%4]; mov.u32 %1, 0; mov.u32 %2, 0; mov.u32 %3, 0;}")
MICRO_LDMATRIX(Matrix2, 2, "{ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%4]; mov.u32 %2, 0; mov.u32 %3, 0;}")
MICRO_LDMATRIX(Matrix4, 4, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];")

template <class Op, int Ilp, int Body>
__global__ void matrix_chain(long long* times, u32* sink, int iterations) {
  extern __shared__ __align__(16) unsigned char matrices[];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) reinterpret_cast<u32*>(matrices)[i] = 0;
  u32 x[Ilp] = {};
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int b = 0; b < Body; ++b)
#pragma unroll
      for (int i = 0; i < Ilp; ++i) Op::step(x[i], 0, 0);
  }
  const long long end = clock64();
  for (int i = 1; i < Ilp; ++i) x[0] += x[i];
  sink[threadIdx.x] = x[0];
  if (threadIdx.x % 32 == 0) {
    times[threadIdx.x / 32 * 2] = start;
    times[threadIdx.x / 32 * 2 + 1] = end;
  }
}

template <class Op, int Ilp>
double matrix_cycles(int warps) {
  Buffer<long long> times(64);
  Buffer<u32> sink(1024);
  const int iterations = quick() ? 2 : 64;
  matrix_chain<Op, Ilp, 16><<<1, warps * 32, 4096>>>(times.data, sink.data, iterations);
  return block_cycles(times, warps) / (16.0 * iterations);
}

template <class Op>
void measure_matrix(const char* name) {
  report(std::string("latency.ldmatrix.") + name, sample(5, [&] { return matrix_cycles<Op, 1>(1); }), "cycle");
  report(std::string("rate.ldmatrix.") + name, sample(5, [&] { return 16 * 4 / matrix_cycles<Op, 4>(16); }), "step/cycle/SM");
}

// Constants: a chase through a table, with `distinct` different addresses in a warp.
__constant__ u32 constant_table[4096];

__global__ void constant_chase(long long* times, u32* sink, int distinct, int iterations, int start_at) {
  u32 x = start_at + threadIdx.x % distinct;
  const long long start = clock64();
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int b = 0; b < 32; ++b) x = constant_table[x];
  }
  const long long end = clock64();
  sink[threadIdx.x] = x;
  if (threadIdx.x % 32 == 0) {
    times[threadIdx.x / 32 * 2] = start;
    times[threadIdx.x / 32 * 2 + 1] = end;
  }
}

void constants() {
  Buffer<long long> times(64);
  Buffer<u32> sink(1024);
  std::vector<u32> table(4096);
  for (int hop : {0, 1, 16, 64}) {  // zero: the same constant again; else through 4096 words in steps of `hop`
    for (u32 i = 0; i < table.size(); ++i) table[i] = (i + hop) % table.size();
    MICRO_CHECK(cudaMemcpyToSymbol(constant_table, table.data(), table.size() * 4));
    for (int distinct : {1, 2, 4, 8, 32}) {
      if (hop && distinct > 1) continue;
      for (int warps : {1, 32}) {
        const int iterations = quick() ? 2 : 64;
        std::vector<double> cycles = sample(5, [&] {
          constant_chase<<<1, warps * 32>>>(times.data, sink.data, distinct, iterations, 0);
          return block_cycles(times, warps) / (32.0 * iterations * warps);
        });
        report("constant.hop" + number(hop) + ".distinct" + number(distinct) + ".warps" + number(warps), cycles,
               "cycle/load instruction");
      }
    }
  }
}

enum class Wait { barrier, block_fence, device_fence, system_fence, store_device_fence, store_block_fence, warp_barrier, arrive };

template <Wait kind>
__global__ void waits(long long* times, volatile int* memory, int iterations) {
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      if (kind == Wait::barrier) __syncthreads();
      if (kind == Wait::block_fence) __threadfence_block();
      if (kind == Wait::device_fence) __threadfence();
      if (kind == Wait::system_fence) __threadfence_system();
      if (kind == Wait::warp_barrier) __syncwarp();
      if (kind == Wait::store_device_fence) {
        memory[threadIdx.x] = n;
        __threadfence();
      }
      if (kind == Wait::store_block_fence) {
        memory[threadIdx.x] = n;
        __threadfence_block();
      }
      if (kind == Wait::arrive) {
        asm volatile("barrier.arrive 1, %0; " ::"r"(2 * blockDim.x) : "memory");
        asm volatile("barrier.arrive 1, %0; " ::"r"(2 * blockDim.x) : "memory");
      }
    }
  }
  const long long end = clock64();
  if (threadIdx.x % 32 == 0) {
    times[threadIdx.x / 32 * 2] = start;
    times[threadIdx.x / 32 * 2 + 1] = end;
  }
}

template <Wait kind>
void measure_wait(const char* name, std::vector<int> warp_counts) {
  Buffer<long long> times(64);
  Buffer<int> memory(1024);
  const int iterations = quick() ? 2 : 64;
  for (int warps : warp_counts)
    report(std::string("wait.") + name + ".warps" + number(warps), sample(5, [&] {
             waits<kind><<<1, warps * 32>>>(times.data, memory.data, iterations);
             return block_cycles(times, warps) / (8.0 * iterations);
           }), "cycle");
}

__device__ __noinline__ float called(float x) { return x * 1.5f + 0.25f; }

enum class Flow { loop, divergent_if, predicated_if, call, loop_of_eight, switch_eight };

template <Flow kind>
__global__ void flows(long long* times, float* sink, int iterations, int modulus) {
  float x = threadIdx.x;
  const int lane = threadIdx.x % 32;
  const long long start = clock64();
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
    if (kind == Flow::loop) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
    if (kind == Flow::loop_of_eight)
      for (int i = 0; i < 8; ++i) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
    if (kind == Flow::call) x = called(x);
    if (kind == Flow::divergent_if) {
      if ((lane + n) % modulus == 0) {
#pragma unroll
        for (int i = 0; i < 16; ++i) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
      } else {
#pragma unroll
        for (int i = 0; i < 16; ++i) asm volatile("mul.f32 %0, %0, %0;" : "+f"(x));
      }
    }
    if (kind == Flow::predicated_if) {
      if ((lane + n) % modulus == 0) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
    }
    if (kind == Flow::switch_eight) {
      switch ((lane / modulus) % 8) {
        case 0: asm volatile("fma.rn.f32 %0, %0, %0, 0f3f800000;" : "+f"(x)); break;
        case 1: asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)); break;
        case 2: asm volatile("rcp.approx.ftz.f32 %0, %0;" : "+f"(x)); break;
        case 3: asm volatile("lg2.approx.ftz.f32 %0, %0;" : "+f"(x)); break;
        case 4: asm volatile("sqrt.approx.ftz.f32 %0, %0;" : "+f"(x)); break;
        case 5: asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x)); break;
        case 6: asm volatile("tanh.approx.f32 %0, %0;" : "+f"(x)); break;
        default: asm volatile("neg.f32 %0, %0;" : "+f"(x)); break;
      }
    }
  }
  const long long end = clock64();
  sink[threadIdx.x] = x;
  if (threadIdx.x % 32 == 0) {
    times[threadIdx.x / 32 * 2] = start;
    times[threadIdx.x / 32 * 2 + 1] = end;
  }
}

template <Flow kind>
void measure_flow(const std::string& name, int modulus = 1) {
  Buffer<long long> times(64);
  Buffer<float> sink(1024);
  const int iterations = quick() ? 4 : 1024;
  for (int warps : {1, 4, 16, 32})
    report("flow." + name + ".warps" + number(warps), sample(5, [&] {
             flows<kind><<<1, warps * 32>>>(times.data, sink.data, iterations, modulus);
             return block_cycles(times, warps) / iterations;
           }), "cycle/iteration");
}

}  // namespace

void other_pipes() {
  measure_mma<HmmaF32>("m16n8k16.f16.f32");
  measure_mma<HmmaF16>("m16n8k16.f16.f16");
  measure_mma<HmmaF32K8>("m16n8k8.f16.f32");
  measure_mma<BmmaF32>("m16n8k16.bf16.f32");
  measure_mma<Tf32>("m16n8k8.tf32.f32");
  measure_mma<Imma>("m16n8k32.s8.s32");
  measure_mma<Dmma>("m8n8k4.f64");
  measure_matrix<Matrix1>("x1");
  measure_matrix<Matrix2>("x2");
  measure_matrix<Matrix4>("x4");
  constants();
  measure_wait<Wait::barrier>("bar_sync", {1, 2, 4, 8, 16, 32});
  measure_wait<Wait::warp_barrier>("syncwarp", {1, 32});
  measure_wait<Wait::block_fence>("fence_block", {1, 32});
  measure_wait<Wait::device_fence>("fence_device", {1, 32});
  measure_wait<Wait::system_fence>("fence_system", {1, 32});
  measure_wait<Wait::store_block_fence>("store_fence_block", {1, 32});
  measure_wait<Wait::store_device_fence>("store_fence_device", {1, 8, 32});
  measure_flow<Flow::loop>("loop_of_one_ffma");
  measure_flow<Flow::loop_of_eight>("loop_of_eight_ffma");
  measure_flow<Flow::call>("call");
  for (int modulus : {1, 2, 32}) measure_flow<Flow::divergent_if>("if_16_else_16.modulus" + number(modulus), modulus);
  for (int modulus : {1, 2}) measure_flow<Flow::predicated_if>("short_if.modulus" + number(modulus), modulus);
  for (int modulus : {1, 32}) measure_flow<Flow::switch_eight>("switch_8.modulus" + number(modulus), modulus);
}

}  // namespace micro
