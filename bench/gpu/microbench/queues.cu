// What waits in front of the path to memory, and what loops cost that are longer than a cache of instructions: straight code of independent instructions.
#include <utility>

#include "harness.h"

namespace micro {
namespace {

constexpr int kTurns = 6, kTimed = 4;  // the first ones bring caches what they need
constexpr int kRow = 33;               // words between two accesses of a lane: other banks each time, nothing to join

// `passes` over the banks for each access of a warp.
template <int Passes>
struct shared_load {
  __device__ static unsigned where(unsigned shared, unsigned) { return shared + lane() * Passes % 32 * 4 + lane() * Passes / 32 * 128; }
  template <int I>
  __device__ static void one(unsigned place, const float*, int& value) {
    asm volatile("ld.shared.b32 %0, [%1+%2];" : "=r"(value) : "r"(place), "n"(I * kRow * 4));
  }
  __device__ static unsigned lane() { return threadIdx.x % 32; }
};
template <int Passes>
struct shared_store : shared_load<Passes> {
  template <int I>
  __device__ static void one(unsigned place, const float*, int& value) {
    asm volatile("st.shared.b32 [%1+%2], %0;" ::"r"(value), "r"(place), "n"(I * kRow * 4));
  }
};
struct global_load {
  __device__ static unsigned where(unsigned, unsigned) { return 0; }
  template <int I>
  __device__ static void one(unsigned, const float* from, int& value) {
    asm volatile("ld.global.ca.b32 %0, [%1+%2];" : "=r"(value) : "l"(from + threadIdx.x), "n"(I * kRow * 4));
  }
};
struct shuffle {
  __device__ static unsigned where(unsigned shared, unsigned) { return shared; }
  template <int I>
  __device__ static void one(unsigned place, const float*, int& value) {
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=r"(value) : "r"(place), "n"(I % 31 + 1));
  }
};

__device__ unsigned clock_now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

// Cycles from before the first to after the last of so many was issued, and until what they bring has been read.
template <class Kind, int... I>
__device__ void timed(unsigned place, const float* from, unsigned* out, std::integer_sequence<int, I...>) {
  int values[sizeof...(I)] = {};
  const unsigned start = clock_now();
  (Kind::template one<I>(place, from, values[I]), ...);
  const unsigned issued = clock_now();
  int sum = 0;
  ((sum += values[I]), ...);
  asm volatile("" ::"r"(sum) : "memory");
  const unsigned read = clock_now();
  out[0] = issued - start;
  out[1] = read - start + (sum == 0x12345678);
}

template <class Kind, int Count>
__global__ void series(const float* from, unsigned* out) {
  __shared__ int words[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = 0;
  const unsigned place = Kind::where(static_cast<unsigned>(__cvta_generic_to_shared(words)), threadIdx.x);
  for (int turn = 0; turn < kTurns; ++turn) {
    __syncthreads();
    timed<Kind>(place, from, out + (threadIdx.x / 32 * kTurns + turn) * 2, std::make_integer_sequence<int, Count>());
  }
}

template <class Kind, int Count>
void measure(const std::string& name) {
  Buffer<float> from(1 << 16);
  Buffer<unsigned> out(32 * kTurns * 2);
  for (int warps : {1, 4, 8, 16}) {
    const auto of = [&](int which) {
      series<Kind, Count><<<1, 32 * warps>>>(from.data, out.data);
      const auto all = out.host();
      unsigned most = 0;
      for (int w = 0; w < warps; ++w) most = std::max(most, all[(w * kTurns + kTimed) * 2 + which]);
      return static_cast<double>(most);
    };
    const std::string full = "queues." + name + ".warps" + number(warps) + ".count" + number(Count);
    report(full + ".issued", sample(5, [&] { return of(0); }), "cycle");
    report(full + ".read", sample(5, [&] { return of(1); }), "cycle");
  }
}

template <class Kind>
void measure_all(const std::string& name) {
  measure<Kind, 4>(name);
  measure<Kind, 8>(name);
  measure<Kind, 12>(name);
  measure<Kind, 16>(name);
  measure<Kind, 24>(name);
}

// A loop of so many independent multiply-adds: cycles for each, after its first turn.
template <int Count>
__global__ void loop(float* sink, unsigned* cycles, float b, float c, int turns) {
  float a[8];
  for (int i = 0; i < 8; ++i) a[i] = threadIdx.x + i;
  unsigned start = 0;
#pragma unroll 1
  for (int t = 0; t < turns; ++t) {
    if (t == 1) start = clock_now();
#pragma unroll
    for (int k = 0; k < Count; ++k) a[k % 8] = a[k % 8] * b + c;
  }
  const unsigned end = clock_now();
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += a[i];
  sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = end - start;
}

template <int Count>
void measure_loop() {
  constexpr int kRounds = 9;
  Buffer<float> sink(1024);
  Buffer<unsigned> cycles(32);
  for (int warps : {1, 4, 8})
    report("queues.loop.instructions" + number(Count) + ".warps" + number(warps), sample(5, [&] {
             loop<Count><<<1, 32 * warps>>>(sink.data, cycles.data, 1.0001f, 0.5f, kRounds);
             return cycles.host()[0] / double(kRounds - 1) / Count;
           }),
           "cycle/instruction of a warp");
}

}  // namespace

void queues() {
  measure_all<shared_load<1>>("shared_load.passes1");
  measure_all<shared_load<8>>("shared_load.passes8");
  measure_all<shared_store<1>>("shared_store.passes1");
  measure_all<shared_store<4>>("shared_store.passes4");
  measure_all<global_load>("global_load");
  measure_all<shuffle>("shuffle");
  measure_loop<512>();
  measure_loop<1024>();
  measure_loop<2048>();
  measure_loop<4096>();
  measure_loop<8192>();
  measure_loop<12288>();
}

}  // namespace micro
