// Shared and local memory have addresses of 32 bits: what stands above them in a wider register does not count.
#include <cstdint>
#include <cstdio>

__global__ void from_register(int* out, unsigned long long above) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const unsigned long long at = (unsigned long long)__cvta_generic_to_shared(s + 5) + above;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(out[0]) : "l"(at) : "memory");
  asm volatile("st.shared.u32 [%0], %1;" ::"l"(at), "r"(50) : "memory");
  asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(out[1]) : "l"(at) : "memory");
}

// As an index of 32 bits without a sign, the complement of 2 means three elements before.
__global__ void complement(int* out, uint32_t x, int step) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const int* middle = s + 20;
  out[2] = middle[~x];
  int mine[64];
  for (int i = 0; i < 64; ++i) mine[i] = i * step;
  const int* own = mine + 20 * step;
  out[3] = own[~x];
}

int main() {
  int* out;
  cudaMallocManaged(&out, 16);
  from_register<<<1, 1>>>(out, 1ull << 32);
  complement<<<1, 64>>>(out, 2, 1);
  if (cudaError_t e = cudaDeviceSynchronize(); e != cudaSuccess) return printf("%s\n", cudaGetErrorString(e)), 1;
  printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]);
  return !(out[1] == 50 && out[2] == 17 && out[3] == 17);
}
