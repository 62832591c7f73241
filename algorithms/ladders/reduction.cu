// build: -I..
// The ladder of sums: every rung adds the same integers.
#include <warpbeam/algorithms/device/reduce.cuh>

#include "ladder.h"

constexpr int kThreads = 256;

// 1. A tree in shared memory with strided pairs. Lanes of one warp part ways: look at warp execution efficiency.
__global__ void strided_pairs(const int* in, int* out, int count) {
  __shared__ int shared[kThreads];
  int i = blockIdx.x * kThreads + threadIdx.x;
  shared[threadIdx.x] = i < count ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    if (threadIdx.x % (2 * step) == 0) shared[threadIdx.x] += shared[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, shared[0]);
}

// 2. The same pairs, but taken by neighbouring threads: no divergence, instead bank conflicts.
__global__ void packed_threads(const int* in, int* out, int count) {
  __shared__ int shared[kThreads];
  int i = blockIdx.x * kThreads + threadIdx.x;
  shared[threadIdx.x] = i < count ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    int index = 2 * step * threadIdx.x;
    if (index < kThreads) shared[index] += shared[index + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, shared[0]);
}

// 3. Partners half a block apart: neighbouring threads touch neighbouring words, bank conflicts go.
__global__ void sequential(const int* in, int* out, int count) {
  __shared__ int shared[kThreads];
  int i = blockIdx.x * kThreads + threadIdx.x;
  shared[threadIdx.x] = i < count ? in[i] : 0;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, shared[0]);
}

// 4. The first addition while loading: half the threads no longer idle from the start; twice the bytes in flight.
__global__ void add_on_load(const int* in, int* out, int count) {
  __shared__ int shared[kThreads];
  int i = blockIdx.x * (2 * kThreads) + threadIdx.x;
  shared[threadIdx.x] = (i < count ? in[i] : 0) + (i + kThreads < count ? in[i + kThreads] : 0);
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, shared[0]);
}

__device__ void last_warp(volatile int* shared, int lane) {
  for (int half = 32; half > 0; half /= 2) {
    int sum = shared[lane] + shared[lane + half];
    __syncwarp();
    shared[lane] = sum;
    __syncwarp();
  }
}

// 5. The last warp needs no block barrier: fewer barrier stalls.
__global__ void warp_tail(const int* in, int* out, int count) {
  __shared__ int shared[kThreads + 32];
  int i = blockIdx.x * (2 * kThreads) + threadIdx.x;
  shared[threadIdx.x] = (i < count ? in[i] : 0) + (i + kThreads < count ? in[i + kThreads] : 0);
  __syncthreads();
  for (int half = kThreads / 2; half > 32; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x < 32) last_warp(shared, threadIdx.x);
  if (threadIdx.x == 0) atomicAdd(out, shared[0]);
}

template <int kHalf>
__device__ void unrolled(int* shared) {
  if constexpr (kHalf > 32) {
    if (threadIdx.x < kHalf) shared[threadIdx.x] += shared[threadIdx.x + kHalf];
    __syncthreads();
    unrolled<kHalf / 2>(shared);
  }
}

// 6. The block size is known to the compiler, which drops the loop: fewer instructions.
__global__ void fully_unrolled(const int* in, int* out, int count) {
  __shared__ int shared[kThreads + 32];
  int i = blockIdx.x * (2 * kThreads) + threadIdx.x;
  shared[threadIdx.x] = (i < count ? in[i] : 0) + (i + kThreads < count ? in[i + kThreads] : 0);
  __syncthreads();
  unrolled<kThreads / 2>(shared);
  if (threadIdx.x < 32) last_warp(shared, threadIdx.x);
  if (threadIdx.x == 0) atomicAdd(out, shared[0]);
}

// 7. Many items per thread before the tree: the tree, the atomics and the block launches become rare.
__global__ void many_per_thread(const int* in, int* out, int count) {
  __shared__ int shared[kThreads + 32];
  int sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) sum += in[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  unrolled<kThreads / 2>(shared);
  if (threadIdx.x < 32) last_warp(shared, threadIdx.x);
  if (threadIdx.x == 0) atomicAdd(out, shared[0]);
}

__device__ void finish_with_shuffles(int sum, int* out) {
  for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

// 8. Registers exchanged by shuffles: no shared memory and no barrier at all.
__global__ void shuffles(const int* in, int* out, int count) {
  int sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) sum += in[i];
  finish_with_shuffles(sum, out);
}

// 9. 16-byte loads: a quarter of the load instructions for the same bytes, more of them in flight.
__global__ void vector_loads(const int4* in, int* out, int count) {
  int sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < count / 4; i += gridDim.x * kThreads) {
    int4 four = in[i];
    sum += four.x + four.y + four.z + four.w;
  }
  finish_with_shuffles(sum, out);
}

int main() {
  const int count = ladder::kSmall ? 1 << 14 : 1 << 28;
  ladder::Array<int> in(ladder::random_values<int>(count, 10)), out(1);
  int want = 0;
  for (int x : in.host()) want += x;
  auto climb = [&](const char* name, auto launch) {
    ladder::rung("reduction", name, 4.0 * count, "GB/s",
                 [&] {
                   LADDER_CHECK(cudaMemsetAsync(out.data, 0, sizeof(int)));
                   launch();
                 },
                 [&] { return out.host()[0] == want; });
  };
  const int one = count / kThreads, half = one / 2, few = ladder::kSmall ? 8 : 2112;
  climb("1 strided pairs", [&] { strided_pairs<<<one, kThreads>>>(in.data, out.data, count); });
  climb("2 packed threads", [&] { packed_threads<<<one, kThreads>>>(in.data, out.data, count); });
  climb("3 sequential addresses", [&] { sequential<<<one, kThreads>>>(in.data, out.data, count); });
  climb("4 add on load", [&] { add_on_load<<<half, kThreads>>>(in.data, out.data, count); });
  climb("5 last warp without barrier", [&] { warp_tail<<<half, kThreads>>>(in.data, out.data, count); });
  climb("6 fully unrolled", [&] { fully_unrolled<<<half, kThreads>>>(in.data, out.data, count); });
  climb("7 many per thread", [&] { many_per_thread<<<few, kThreads>>>(in.data, out.data, count); });
  climb("8 shuffles", [&] { shuffles<<<few, kThreads>>>(in.data, out.data, count); });
  climb("9 vector loads", [&] { vector_loads<<<few, kThreads>>>(reinterpret_cast<int4*>(in.data), out.data, count); });
  size_t bytes = 0;
  LADDER_CHECK(warpbeam::reduce_sum(warpbeam::on().measure(&bytes), in.data, in.data + count, out.data));
  ladder::Array<char> storage(bytes);
  climb("10 the library", [&] {
    LADDER_CHECK(warpbeam::reduce_sum(warpbeam::on().with_storage(storage.data, bytes), in.data, in.data + count, out.data));
  });
  return ladder::wrong ? 1 : 0;
}
