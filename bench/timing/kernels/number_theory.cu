// Collatz lengths, greatest common divisors, primality by trial division, a sieve.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      return 1;                                                                              \
    }                                                                                        \
  } while (0)
#define THRICE for (int round = 0; round < 3; ++round)

__global__ void collatz(unsigned* steps, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long v = i + 1;
  unsigned count = 0;
  while (v != 1) {
    v = v % 2 ? 3 * v + 1 : v / 2;
    ++count;
  }
  steps[i] = count;
}

__global__ void gcds(unsigned* out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned a = i * 2654435761u | 1, b = i * 40503u + 77;
  while (b) {
    unsigned r = a % b;
    a = b;
    b = r;
  }
  out[i] = a;
}

__global__ void trial_division(unsigned* primes, unsigned first, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = first + 2 * i + 1;
  bool prime = true;
  for (unsigned d = 3; d * d <= v; d += 2)
    if (v % d == 0) {
      prime = false;
      break;
    }
  if (prime) atomicAdd(primes, 1u);
}

__global__ void sieve(unsigned char* composite, unsigned n) {
  unsigned p = blockIdx.x * blockDim.x + threadIdx.x + 2;
  if (p * p >= n || composite[p]) return;
  for (unsigned m = p * p; m < n; m += p) composite[m] = 1;
}

int main() {
  unsigned* out;
  CHECK(cudaMalloc(&out, (1 << 20) * sizeof(unsigned)));
  CHECK(cudaMemset(out, 0, (1 << 20) * sizeof(unsigned)));
  THRICE collatz<<<(1 << 16) / 256, 256>>>(out, 1 << 16);
  THRICE collatz<<<(1 << 13) / 64, 64>>>(out, 1 << 13);
  THRICE gcds<<<(1 << 16) / 128, 128>>>(out, 1 << 16);
  THRICE trial_division<<<(1 << 15) / 256, 256>>>(out, 1000000, 1 << 15);
  THRICE {
    CHECK(cudaMemset(out, 0, 1 << 18));
    sieve<<<2, 256>>>((unsigned char*)out, 1 << 18);
  }
  unsigned one;
  CHECK(cudaMemcpy(&one, out, sizeof one, cudaMemcpyDeviceToHost));
  std::printf("%u\n", one);
  return 0;
}
