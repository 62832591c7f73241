// Atomic updates made of atomicCAS: in loops that end when nobody else was faster, and in locks, which really wait.
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                  \
  do {                                                                               \
    if (cudaError_t e = (call)) {                                                    \
      std::printf("%s: %s\n", #call, cudaGetErrorString(e));                         \
      return 1;                                                                      \
    }                                                                                \
  } while (0)

__device__ double add(double* at, double value) {
  auto* bits = reinterpret_cast<unsigned long long*>(at);
  unsigned long long seen = *bits, old;
  do {
    old = seen;
    seen = atomicCAS(bits, old, __double_as_longlong(value + __longlong_as_double(old)));
  } while (seen != old);
  return __longlong_as_double(seen);
}

__device__ void maximum(float* at, float value) {
  int *bits = reinterpret_cast<int*>(at), seen = *bits, old;
  do {
    old = seen;
    if (__int_as_float(old) >= value) break;
    seen = atomicCAS(bits, old, __float_as_int(value));
  } while (old != seen);
}

// Saturating addition of a byte: four counters in a word.
__device__ void add_byte(unsigned* words, unsigned k, unsigned value) {
  unsigned *at = words + k / 4, shift = k % 4 * 8, old = *at, seen;
  while (true) {
    unsigned byte = min((old >> shift & 255) + value, 255u);
    seen = atomicCAS(at, old, (old & ~(255u << shift)) | byte << shift);
    if (seen == old) break;
    old = seen;
  }
}

__global__ void update(double* sums, float* most, unsigned* bytes, const float* in, int n) {
  __shared__ double local[4];
  if (threadIdx.x < 4) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    add(sums + i % 16, 1.0);
    add(local + i % 4, 2.0);
    maximum(most, in[i]);
    add_byte(bytes, i % 12, 1);
  }
  __syncthreads();
  if (threadIdx.x < 4) add(sums + 16 + threadIdx.x, local[threadIdx.x]);
}

__global__ void locked(int* lock, int* count) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *(volatile int*)count += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

int main() {
  const int n = 4800;
  double* sums;
  float *most, *in;
  unsigned* bytes;
  int* lock;
  CHECK(cudaMallocManaged(&sums, 20 * sizeof *sums));
  CHECK(cudaMallocManaged(&most, sizeof *most));
  CHECK(cudaMallocManaged(&in, n * sizeof *in));
  CHECK(cudaMallocManaged(&bytes, 12));
  CHECK(cudaMallocManaged(&lock, 8));
  for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i * 7919 % 4801);
  update<<<6, 100>>>(sums, most, bytes, in, n);
  locked<<<8, 64>>>(lock, lock + 1);
  CHECK(cudaDeviceSynchronize());
  int bad = *most != 4800 || lock[1] != 16;
  for (int k = 0; k < 16; ++k) bad += sums[k] != n / 16;
  for (int k = 16; k < 20; ++k) bad += sums[k] != n / 4 * 2;
  for (int k = 0; k < 12; ++k) bad += (bytes[k / 4] >> k % 4 * 8 & 255) != 255;
  if (bad) std::printf("%d wrong\n", bad);
  return bad != 0;
}
