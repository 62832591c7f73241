// Latency and throughput of one operation: `Op::step(x, y, z)` replaces x by a function of all three. The steps are
// `asm volatile`; two pairs of operands alternate, so that the assembler cannot make one instruction of two steps.
// The same loop with a body twice as long is subtracted, which removes the loop's own instructions.
#pragma once

#include "harness.h"

namespace micro {

template <class T>
struct Operands {
  T y, z, w, v;
};

template <class Op, int Ilp, int Body>
__global__ void chain(long long* times, typename Op::Type* sink, Operands<typename Op::Type> o, int iterations) {
  using T = typename Op::Type;
  T x[Ilp];
  for (int i = 0; i < Ilp; ++i) x[i] = o.y + T(threadIdx.x + i);
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int b = 0; b < Body; ++b)
#pragma unroll
      for (int i = 0; i < Ilp; ++i) {
        if (b % 2) Op::step(x[i], o.w, o.v);
        else Op::step(x[i], o.y, o.z);
      }
  }
  const long long end = clock64();
  T sum = x[0];
  for (int i = 1; i < Ilp; ++i) sum = sum + x[i];
  sink[threadIdx.x] = sum;
  if (threadIdx.x % 32 == 0) {
    times[threadIdx.x / 32 * 2] = start;
    times[threadIdx.x / 32 * 2 + 1] = end;
  }
}

// Cycles from the first warp's start to the last one's end, of one block on one multiprocessor.
inline double block_cycles(const Buffer<long long>& times, int warps) {
  MICRO_CHECK(cudaGetLastError());
  const std::vector<long long> t = times.host();
  long long first = t[0], last = t[1];
  for (int w = 1; w < warps; ++w) {
    first = std::min(first, t[2 * w]);
    last = std::max(last, t[2 * w + 1]);
  }
  return double(last - first);
}

template <class Op, int Ilp, int Body>
double chain_cycles(int warps, int iterations) {
  using T = typename Op::Type;
  static Buffer<long long> times(64);
  static Buffer<T> sink(1024);
  // Sevens and such: no operand for which an operation is trivial.
  const Operands<T> o{T(3), T(5), T(7), T(11)};
  chain<Op, Ilp, Body><<<1, warps * 32>>>(times.data, sink.data, o, iterations);
  MICRO_CHECK(cudaGetLastError());
  return block_cycles(times, warps);
}

// Cycles a step, of `warps` warps with `Ilp` chains each, together.
template <class Op, int Ilp>
std::vector<double> cycles_per_step(int warps) {
  constexpr int kBody = std::max(2, 64 / Op::kSize / Ilp);
  const int iterations = quick() ? 4 : 96;
  return sample(7, [&] {
    const double two = chain_cycles<Op, Ilp, 2 * kBody>(warps, iterations);
    const double one = chain_cycles<Op, Ilp, kBody>(warps, iterations);
    return (two - one) / (double(iterations) * kBody);
  });
}

template <class Op>
void measure_chain(const char* name, bool dependent = true) {
  if (dependent) report(std::string("latency.") + name, cycles_per_step<Op, 1>(1), "cycle");
  const int warps = 32;
  std::vector<double> rate = cycles_per_step<Op, 4>(warps);
  for (double& r : rate) r = warps * 4 / r;
  report(std::string("rate.") + name, rate, "step/cycle/SM");
}

#define MICRO_OP(name, T, c, size, text)                                                          \
  struct name {                                                                                   \
    using Type = T;                                                                               \
    static constexpr int kSize = size;                                                            \
    static __device__ void step(T& x, T y, T z) { asm volatile(text : "+" c(x) : c(y), c(z)); }   \
  };

#define MICRO_CODE(name, T, size, ...)                         \
  struct name {                                                \
    using Type = T;                                            \
    static constexpr int kSize = size;                         \
    static __device__ void step(T& x, T y, T z) { __VA_ARGS__; } \
  };

}  // namespace micro
