// Results that are larger than the caches, at places that do and do not fill whole lines; another kernel reads them at once.
#include <cstdio>

__global__ void fill(unsigned* out, unsigned first, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[first + i] = i * 2654435761u;
}

__global__ void count_wrong(const unsigned* in, unsigned first, unsigned n, unsigned long long* wrong) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[first + i] != i * 2654435761u) atomicAdd(wrong, 1ull);
}

int main() {
  const size_t whole = size_t(72) << 18;  // words
  const unsigned n = 1 << 20;
  unsigned* out;
  unsigned long long* wrong;
  if (cudaMalloc(&out, whole * 4) != cudaSuccess) return 1;
  cudaMallocManaged(&wrong, 8);
  *wrong = 0;
  for (unsigned first : {0u, 1u, 16u, 8u, static_cast<unsigned>(whole) - n}) {
    fill<<<(n + 255) / 256, 256>>>(out, first, n);
    count_wrong<<<(n + 255) / 256, 256>>>(out, first, n, wrong);
  }
  cudaDeviceSynchronize();
  if (*wrong) std::printf("%llu words are wrong\n", *wrong);
  return *wrong != 0 || cudaGetLastError() != cudaSuccess;
}
