// 64-bit products of 32-bit thread numbers with factors from 2^31 on, signed and unsigned, also per row of a small block.
#include <cstdio>

constexpr unsigned kFactor = 0xcd9e8d57u;

__global__ void products(unsigned first, unsigned* high, unsigned long long* whole, long long* negative) {
  const unsigned i = threadIdx.y * blockDim.x + threadIdx.x, x = first + threadIdx.x + 3 * threadIdx.y;
  const unsigned long long product = (unsigned long long)x * kFactor;
  high[i] = (unsigned)(product >> 32) ^ 5u;
  whole[i] = product + 7;
  negative[i] = (long long)(int)x * (int)kFactor;
}

int main() {
  unsigned* high;
  unsigned long long* whole;
  long long* negative;
  cudaMallocManaged(&high, 64 * sizeof *high);
  cudaMallocManaged(&whole, 64 * sizeof *whole);
  cudaMallocManaged(&negative, 64 * sizeof *negative);
  int wrong = 0;
  for (unsigned first : {0u, 1000u, 0x7ffffff0u, 0x9abc0000u, 0xffffffe0u})
    for (unsigned width : {8u, 32u, 64u}) {
      products<<<1, dim3(width, 64 / width)>>>(first, high, whole, negative);
      if (cudaDeviceSynchronize() != cudaSuccess) return 2;
      for (unsigned i = 0; i < 64; ++i) {
        const unsigned x = first + i % width + 3 * (i / width);
        const unsigned long long product = (unsigned long long)x * kFactor;
        wrong += high[i] != ((unsigned)(product >> 32) ^ 5u) || whole[i] != product + 7 ||
                 negative[i] != (long long)(int)x * (int)kFactor;
      }
    }
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
