// Shared memory: latency, bank conflicts, atomics, and the memory of other blocks of a cluster.
#include <cooperative_groups.h>

#include "chain.cuh"

namespace micro {
namespace {

using u32 = unsigned;

__device__ u32 shared_address(const void* p) { return u32(__cvta_generic_to_shared(p)); }

template <int Bytes>
__device__ u32 load(u32 address) {
  u32 a = 0, b, c, d;
  if (Bytes == 4) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(address));
  if (Bytes == 8) asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(address));
  if (Bytes == 16)
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(address));
  return a;
}

template <int Bytes>
__device__ void store(u32 address, u32 v) {
  if (Bytes == 4) asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(address), "r"(v));
  if (Bytes == 8) asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(address), "r"(v));
  if (Bytes == 16) asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(address), "r"(v));
}

enum class Access { chase, load, store };

// A list of addresses: nothing but the loads.
__global__ void list(long long* times, u32* sink, int steps) {
  __shared__ u32 next[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) next[i] = shared_address(&next[(i * 5 + 33) % 256]);
  __syncthreads();
  u32 at = shared_address(&next[threadIdx.x]);
  const long long start = clock64();
#pragma unroll 16
  for (int i = 0; i < steps; ++i) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
  const long long end = clock64();
  sink[threadIdx.x] = at;
  times[0] = start;
  times[1] = end;
}

// Lane l accesses byte l * stride. A chase adds what it read, which is zero, to its address.
template <Access access, int Bytes>
__global__ void __launch_bounds__(1024) banks(long long* times, u32* sink, int stride, int iterations) {
  extern __shared__ __align__(16) u32 words[];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = 0;
  __syncthreads();
  u32 address = shared_address(words) + threadIdx.x % 32 * stride, sum = 0;
  const long long start = clock64();
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int b = 0; b < 16; ++b) {
      if (access == Access::chase) address += load<Bytes>(address);
      if (access == Access::load) sum += load<Bytes>(address);
      if (access == Access::store) store<Bytes>(address, 0);
    }
  }
  const long long end = clock64();
  sink[threadIdx.x] = sum + address;
  if (threadIdx.x % 32 == 0) {
    times[threadIdx.x / 32 * 2] = start;
    times[threadIdx.x / 32 * 2 + 1] = end;
  }
}

template <Access access, int Bytes>
double bank_cycles(int warps, int stride) {
  static Buffer<long long> times(64);
  static Buffer<u32> sink(1024);
  const int iterations = quick() ? 2 : 64;
  banks<access, Bytes><<<1, warps * 32, 16384>>>(times.data, sink.data, stride, iterations);
  return block_cycles(times, warps) / (16.0 * iterations * warps);
}

template <int Bytes>
void measure_banks() {
  const std::string size = number(Bytes);
  report("shared.latency.bytes" + size, sample(7, [] { return bank_cycles<Access::chase, Bytes>(1, Bytes); }), "cycle");
  for (int words : {0, 1, 2, 3, 4, 8, 16, 32}) {
    const int stride = words * Bytes;
    if (stride * 32 > 16384) continue;
    report("shared.load.bytes" + size + ".stride" + number(words),
           sample(5, [&] { return bank_cycles<Access::load, Bytes>(32, stride); }), "cycle/warp load");
    report("shared.store.bytes" + size + ".stride" + number(words),
           sample(5, [&] { return bank_cycles<Access::store, Bytes>(32, stride); }), "cycle/warp store");
    if (Bytes == 4)
      report("shared.latency.bytes4.stride" + number(words),
             sample(5, [&] { return bank_cycles<Access::chase, Bytes>(1, stride); }), "cycle");
  }
}

enum class Update { add, add_unused, cas, exchange, min, add_float, add_64, increment_by_hand };

template <Update update>
__device__ u32 change(u32* p, u32 v) {
  switch (update) {
    case Update::add: case Update::add_unused: return atomicAdd(p, v);
    case Update::cas: return atomicCAS(p, 0u, v);
    case Update::exchange: return atomicExch(p, v);
    case Update::min: return atomicMin(p, v);
    case Update::add_float: return u32(atomicAdd(reinterpret_cast<float*>(p), float(v)));
    case Update::add_64: return u32(atomicAdd(reinterpret_cast<unsigned long long*>(p), (unsigned long long)v));
    case Update::increment_by_hand: { const u32 old = *reinterpret_cast<volatile u32*>(p); *reinterpret_cast<volatile u32*>(p) = old + v; return old; }
  }
  return 0;
}

// `together` lanes share an address; `warps_apart` warps have their own words.
template <Update update>
__global__ void __launch_bounds__(1024) shared_atomics(long long* times, u32* sink, int together, int iterations, u32 zero) {
  extern __shared__ __align__(16) u32 words[];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32;
  u32 index = together ? lane / together * 2 : threadIdx.x * 2;
  u32 sum = 0;
  const long long start = clock64();
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      const u32 old = change<update>(&words[index], zero);
      if (update != Update::add_unused) index += old;
    }
  }
  const long long end = clock64();
  sink[threadIdx.x] = sum + index;
  if (threadIdx.x % 32 == 0) {
    times[threadIdx.x / 32 * 2] = start;
    times[threadIdx.x / 32 * 2 + 1] = end;
  }
}

template <Update update>
void measure_atomics(const char* name) {
  Buffer<long long> times(64);
  Buffer<u32> sink(1024);
  const int iterations = quick() ? 2 : 32;
  for (int warps : {1, 32})
    for (int together : {0, 1, 2, 4, 8, 16, 32}) {
      report(std::string("shared.atomic.") + name + ".warps" + number(warps) + ".same" + number(together), sample(5, [&] {
               shared_atomics<update><<<1, warps * 32, 16384>>>(times.data, sink.data, together, iterations, 0);
               return block_cycles(times, warps) / (8.0 * iterations * warps);
             }), "cycle/warp atomic");
    }
}

// Another block's shared memory: latency of a chase, and bytes a cycle, in a cluster of two.
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(1024) other_block(long long* times, u32* sink, int iterations, int chase) {
  extern __shared__ __align__(16) u32 words[];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = 0;
  auto cluster = cooperative_groups::this_cluster();
  cluster.sync();
  const u32* other = cluster.map_shared_rank(words, cluster.block_rank() ^ 1);
  u32 own = shared_address(words), address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(own), "r"(cluster.block_rank() ^ 1));
  (void)other;
  address += threadIdx.x % 128 * 16;
  u32 sum = 0;
  const long long start = clock64();
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      u32 v, x, y, z;
      if (chase) {
        asm volatile("ld.volatile.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(address));
        address += v;
      } else {
        asm volatile("ld.volatile.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v), "=r"(x), "=r"(y), "=r"(z) : "r"(address));
        sum += v;
      }
    }
  }
  const long long end = clock64();
  cluster.sync();
  if (blockIdx.x == 0) {
    sink[threadIdx.x] = sum + address;
    if (threadIdx.x % 32 == 0) {
      times[threadIdx.x / 32 * 2] = start;
      times[threadIdx.x / 32 * 2 + 1] = end;
    }
  }
}

}  // namespace

void shared_memory() {
  {
    Buffer<long long> times(64);
    Buffer<u32> sink(1024);
    const int steps = quick() ? 16 : 4096;
    report("shared.latency.list", sample(7, [&] {
             list<<<1, 1>>>(times.data, sink.data, steps);
             return block_cycles(times, 1) / steps;
           }), "cycle");
  }
  measure_banks<4>();
  measure_banks<8>();
  measure_banks<16>();
  measure_atomics<Update::add>("add");
  measure_atomics<Update::add_unused>("add_unused");
  measure_atomics<Update::cas>("cas");
  measure_atomics<Update::exchange>("exchange");
  measure_atomics<Update::min>("min");
  measure_atomics<Update::add_float>("add_float");
  measure_atomics<Update::add_64>("add_64");
  measure_atomics<Update::increment_by_hand>("load_add_store");
  if (device().major >= 9) {
    Buffer<long long> times(64);
    Buffer<u32> sink(1024);
    const int iterations = quick() ? 2 : 64;
    report("shared.other_block.latency", sample(5, [&] {
             other_block<<<2, 32, 16384>>>(times.data, sink.data, iterations, 1);
             return block_cycles(times, 1) / (8.0 * iterations);
           }), "cycle");
    for (int warps : {1, 8, 32})
      report("shared.other_block.rate.warps" + number(warps), sample(5, [&] {
               other_block<<<2, warps * 32, 16384>>>(times.data, sink.data, iterations, 0);
               return warps * 512.0 * 8 * iterations / block_cycles(times, warps);
             }), "byte/cycle/SM");
  }
}

}  // namespace micro
