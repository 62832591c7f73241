// Hashes: SHA-256 of blocks, FNV, Adler by prefix sums, a search for a nonce, random numbers by Philox.
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

__constant__ unsigned rounds_table[64];

__device__ unsigned turn(unsigned v, int n) { return __funnelshift_r(v, v, n); }

__device__ void compress(unsigned* state, unsigned* w) {
  unsigned a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    if (i >= 16) {
      unsigned x = w[(i + 1) % 16], y = w[(i + 14) % 16];
      w[i % 16] += (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[(i + 9) % 16] + (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
    }
    unsigned t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + rounds_table[i] + w[i % 16];
    unsigned t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

__global__ void sha(const unsigned* data, unsigned* out, int blocks) {
  unsigned state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int k = 0; k < blocks; ++k) {
    unsigned w[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) w[i] = data[(k * 16 + i) * threads + thread];
    compress(state, w);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) out[i * threads + thread] = state[i];
}

__global__ void nonce(unsigned* best, unsigned first) {
  unsigned state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, w[16] = {1, 2, 3};
  unsigned candidate = first + blockIdx.x * blockDim.x + threadIdx.x;
  w[3] = candidate;
  compress(state, w);
  if (state[0] < 0x00400000u) atomicMin(best, candidate);
}

__global__ void fnv(const unsigned char* data, unsigned* out, int length) {
  const unsigned char* p = data + (blockIdx.x * blockDim.x + threadIdx.x) * length;
  unsigned h = 2166136261u;
  for (int i = 0; i < length; ++i) h = (h ^ p[i]) * 16777619u;
  out[blockIdx.x * blockDim.x + threadIdx.x] = h;
}

__global__ void adler(const unsigned char* data, unsigned* out, int length) {
  __shared__ unsigned sums[256], weighted[256];
  unsigned a = 0, b = 0;
  for (int i = threadIdx.x; i < length; i += 256) {
    unsigned v = data[blockIdx.x * length + i];
    a += v;
    b += v * (length - i);
  }
  sums[threadIdx.x] = a;
  weighted[threadIdx.x] = b % 65521;
  for (int s = 128; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) {
      sums[threadIdx.x] += sums[threadIdx.x + s];
      weighted[threadIdx.x] = (weighted[threadIdx.x] + weighted[threadIdx.x + s]) % 65521;
    }
  }
  if (threadIdx.x == 0) out[blockIdx.x] = (weighted[0] + length) % 65521 << 16 | (sums[0] + 1) % 65521;
}

__global__ void philox(uint4* out, unsigned key, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned c0 = i, c1 = 0, c2 = 0, c3 = 0, k0 = key, k1 = key * 3;
#pragma unroll
  for (int r = 0; r < 10; ++r) {
    unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0, c1 = l1, c2 = h0 ^ c3 ^ k1, c3 = l0;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  out[i] = make_uint4(c0, c1, c2, c3);
}

int main() {
  std::vector<unsigned> table(64);
  for (int i = 0; i < 64; ++i) table[i] = 0x428a2f98u + i * 0x9e3779b9u;
  CHECK(cudaMemcpyToSymbol(rounds_table, table.data(), 256));
  unsigned *data, *out;
  CHECK(cudaMalloc(&data, 8 << 20));
  CHECK(cudaMalloc(&out, 8 << 20));
  CHECK(cudaMemset(data, 0x5a, 8 << 20));
  CHECK(cudaMemset(out, 0xff, 8 << 20));
  THRICE sha<<<64, 128>>>(data, out, 4);
  THRICE nonce<<<256, 128>>>(out, round * 32768);
  THRICE fnv<<<64, 128>>>((unsigned char*)data, out, 128);
  THRICE adler<<<512, 256>>>((unsigned char*)data, out, 4096);
  THRICE philox<<<(1 << 18) / 256, 256>>>((uint4*)out, 7, 1 << 18);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
