// Arrays of a thread that nested loops count through, which the compiler keeps in registers: tiles of sums that scale and add up
// what lies in shared memory, the schedule of a hash, a loop that is left sooner, one that the program keeps rolled, an index of the program's.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int kRows = 8, kColumns = 4, kParts = 4, kDepth = 16;

template <int R, int C, int P>
__device__ void multiply(float* left, float* right, float* sums, const float* a, const float* b, unsigned row, unsigned column) {
  for (unsigned k = 0; k < kDepth; ++k) {
    for (unsigned i = 0; i < R; ++i) left[i] = a[k * 64 + row * R + i];
    for (unsigned p = 0; p < P; ++p)
      for (unsigned i = 0; i < C; ++i) right[p * C + i] = b[k * 64 + p * 16 + column * C + i];
    for (unsigned p = 0; p < P; ++p)
      for (unsigned i = 0; i < R; ++i)
        for (unsigned j = 0; j < C; ++j) sums[i * (P * C) + p * C + j] += left[i] * right[p * C + j];
  }
}

__global__ void tile(const float* a, const float* b, float* c) {
  __shared__ float sa[kDepth * 64], sb[kDepth * 64];
  for (int i = threadIdx.x; i < kDepth * 64; i += 32) sa[i] = a[i], sb[i] = b[i];
  __syncthreads();
  float sums[kRows * kColumns * kParts] = {0.0f}, left[kRows] = {0.0f}, right[kParts * kColumns] = {0.0f};
  const unsigned row = threadIdx.x / 4, column = threadIdx.x % 4;
  multiply<kRows, kColumns, kParts>(left, right, sums, sa, sb, row, column);
  for (unsigned p = 0; p < kParts; ++p)
    for (unsigned i = 0; i < kRows; ++i)
      for (unsigned j = 0; j < kColumns; ++j) c[(row * kRows + i) * 64 + p * 16 + column * kColumns + j] = sums[i * (kParts * kColumns) + p * kColumns + j];
}

__host__ __device__ inline unsigned turn(unsigned x, int by) { return x >> by | x << (32 - by); }

__host__ __device__ inline unsigned schedule(const unsigned* in, unsigned salt) {
  unsigned w[64];
  for (int i = 0; i < 16; i++) w[i] = in[i] + salt;
  for (int i = 16; i < 64; i++) {
    const unsigned a = w[i - 15], b = w[i - 2];
    w[i] = (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10) + w[i - 16];
  }
  unsigned s = 0;
  for (int i = 63; i >= 0; i--) s = turn(s, 27) ^ (w[i] + (s & 0x5a5a5a5a));
  return s;
}

__host__ __device__ inline unsigned others(const unsigned* in, unsigned salt) {
  unsigned history[48], s = salt;
#pragma unroll 1
  for (int i = 0; i < 48; i++) history[i] = in[i % 16] * (salt + i);
  for (int i = 0; i < 48; i++) {
    s = s * 31 + history[i] + turn(s, 5) * history[47 - i];
    if (s % 61 == 0) break;
  }
  unsigned counts[8] = {};
  for (int i = 0; i < 16; i++) counts[in[i] % 8] += i + s;
  for (int i = 0; i < 8; i++) s = turn(s, 3) + counts[i];
  return s;
}

__global__ void hashes(const unsigned* in, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[2 * i] = schedule(in, i);
  out[2 * i + 1] = others(in, i);
}

int main() {
  int bad = 0;
  float *a, *b, *c;
  cudaMallocManaged(&a, kDepth * 64 * 4);
  cudaMallocManaged(&b, kDepth * 64 * 4);
  cudaMallocManaged(&c, 64 * 64 * 4);
  for (int i = 0; i < kDepth * 64; i++) a[i] = i * 7 % 13 - 6, b[i] = i * 5 % 11 - 4;
  tile<<<1, 32>>>(a, b, c);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      float sum = 0;
      for (int k = 0; k < kDepth; k++) sum += a[k * 64 + i] * b[k * 64 + j];
      if (c[i * 64 + j] != sum && bad++ < 4) printf("c[%d][%d] is %g, not %g\n", i, j, c[i * 64 + j], sum);
    }
  unsigned *in, *out;
  cudaMallocManaged(&in, 64);
  cudaMallocManaged(&out, 512 * 8);
  for (int i = 0; i < 16; i++) in[i] = 0x9e3779b9u * (i + 1);
  hashes<<<4, 128>>>(in, out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (unsigned i = 0; i < 512; i++)
    if ((out[2 * i] != schedule(in, i) || out[2 * i + 1] != others(in, i)) && bad++ < 8) printf("thread %u: %x %x\n", i, out[2 * i], out[2 * i + 1]);
  printf(bad ? "FAILED\n" : "PASSED\n");
  return bad != 0;
}
