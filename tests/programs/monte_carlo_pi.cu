// Monte Carlo with a generator of our own per thread; the integer hit count must equal the host's.
#include <cstdio>
#include <cstdlib>

struct Rng {
  unsigned x, y, z, w, d;
  __host__ __device__ Rng(unsigned seed) {
    x = seed * 2654435761u + 123456789u, y = 362436069u ^ seed, z = 521288629u, w = 88675123u + seed * 7u, d = 6615241u;
  }
  __host__ __device__ unsigned next() {
    unsigned t = x ^ (x >> 2);
    x = y, y = z, z = w, w = d;
    d = (d ^ (d << 4)) ^ (t ^ (t << 1));
    return d;
  }
};

__host__ __device__ unsigned hits(unsigned seed, int samples) {
  Rng rng(seed);
  unsigned in = 0;
  for (int i = 0; i < samples; i++) {
    unsigned long long a = rng.next() >> 8, b = rng.next() >> 8;
    in += a * a + b * b < (1ull << 48);
  }
  return in;
}

__global__ void estimate(unsigned long long* total, int samples) {
  unsigned mine = hits(blockIdx.x * blockDim.x + threadIdx.x, samples);
  for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_down_sync(0xffffffff, mine, offset);
  if ((threadIdx.x & 31) == 0) atomicAdd(total, (unsigned long long)mine);
}

int main() {
  const int blocks = 16, threads = 128, samples = 500;
  unsigned long long *d_total, total = 0, want = 0;
  if (cudaMalloc(&d_total, sizeof total) != cudaSuccess) return 1;
  cudaMemset(d_total, 0, sizeof total);
  estimate<<<blocks, threads>>>(d_total, samples);
  cudaError_t e = cudaMemcpy(&total, d_total, sizeof total, cudaMemcpyDeviceToHost);
  for (int i = 0; i < blocks * threads; i++) want += hits(i, samples);
  double pi = 4.0 * total / ((double)blocks * threads * samples);
  bool ok = e == cudaSuccess && total == want && pi > 3.13 && pi < 3.15;
  printf("monte_carlo_pi: %.5f from %llu hits, %s\n", pi, total, ok ? "PASSED" : "FAILED");
  return !ok;
}
