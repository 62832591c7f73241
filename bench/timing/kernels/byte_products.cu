// Bytes multiplied: dp4a, tensor cores on integers, packed sums, distances of Hamming, four-bit weights.
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

__global__ void matrix_vector(const int* a, const int* x, int* y, int words) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  int sum = 0;
  for (int k = lane; k < words; k += 32) sum = __dp4a(a[row * words + k], x[k], sum);
  sum = __reduce_add_sync(~0u, sum);
  if (lane == 0) y[row] = sum;
}

__global__ void tensor(const int* a, const int* b, int* c, int n, int k) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const int row = warp / (n / 8) * 16 + lane / 4, column = warp % (n / 8) * 8 + lane / 4, words = k / 4;
  int d[4] = {};
  for (int k0 = 0; k0 < words; k0 += 8) {
    const int at = k0 + lane % 4;
    int a0 = a[row * words + at], a1 = a[(row + 8) * words + at], a2 = a[row * words + at + 4], a3 = a[(row + 8) * words + at + 4];
    int b0 = b[column * words + at], b1 = b[column * words + at + 4];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  int* out = c + row * n + warp % (n / 8) * 8 + lane % 4 * 2;
  *(int2*)out = make_int2(d[0], d[1]);
  *(int2*)(out + 8 * n) = make_int2(d[2], d[3]);
}

__global__ void hamming(const uint4* codes, const uint4* query, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 q = *query, c = codes[i];
  out[i] = __popc(c.x ^ q.x) + __popc(c.y ^ q.y) + __popc(c.z ^ q.z) + __popc(c.w ^ q.w);
}

__global__ void four_bits(const unsigned* weights, const float* scales, const float* x, float* y, int columns) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int w = lane; w < columns / 8; w += 32) {
    unsigned packed = weights[row * (columns / 8) + w];
    float part = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) part += (int(packed >> 4 * k & 15) - 8) * x[w * 8 + k];
    sum += part * scales[row * (columns / 64) + w / 8];
  }
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}

__global__ void saturating(const unsigned* a, const unsigned* b, unsigned* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __vmaxu4(__vaddus4(a[i], b[i]), __vabsdiffu4(a[i], b[i]));
}

int main() {
  const int n = 1 << 20;
  int *a, *b, *c;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMalloc(&c, n * 4));
  CHECK(cudaMemset(a, 3, n * 4));
  CHECK(cudaMemset(b, 5, n * 4));
  THRICE matrix_vector<<<1024 / 8, 256>>>(a, b, c, 1024);
  THRICE tensor<<<512 / 16 * 512 / 8 / 8, 256>>>(a, b, c, 512, 512);
  THRICE hamming<<<n / 4 / 256, 256>>>((uint4*)a, (uint4*)b, c, n / 4);
  THRICE four_bits<<<1024 / 4, 128>>>((unsigned*)a, (float*)b, (float*)b, (float*)c, 4096);
  THRICE saturating<<<n / 256, 256>>>((unsigned*)a, (unsigned*)b, (unsigned*)c, n);
  int one;
  CHECK(cudaMemcpy(&one, c, 4, cudaMemcpyDeviceToHost));
  std::printf("%d\n", one);
  return 0;
}
