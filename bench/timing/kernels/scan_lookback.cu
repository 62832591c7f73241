// A prefix sum in one pass: blocks look back at the sums of those before them.
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

struct Status {
  unsigned flag;  // 0 nothing yet, 1 the block's own sum, 2 the sum of all up to it
  int value;
};

__device__ Status load_status(const unsigned long long* p) {
  unsigned long long word = *(volatile const unsigned long long*)p;
  return {unsigned(word >> 32), int(unsigned(word))};
}

__device__ void store_status(unsigned long long* p, unsigned flag, int value) {
  *(volatile unsigned long long*)p = (unsigned long long)flag << 32 | unsigned(value);
}

template <int Items>
__global__ void scan(const int* in, int* out, unsigned long long* status, unsigned* ticket) {
  __shared__ int warp_sums[8];
  __shared__ int before;
  __shared__ unsigned block;
  if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
  __syncthreads();
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const size_t base = (size_t(block) * 256 + t) * Items;
  int v[Items], sum = 0;
  for (int k = 0; k < Items; ++k) {
    v[k] = in[base + k];
    sum += v[k];
  }
  int running = sum;
  for (int d = 1; d < 32; d *= 2) {
    int other = __shfl_up_sync(0xffffffff, running, d);
    if (lane >= d) running += other;
  }
  if (lane == 31) warp_sums[warp] = running;
  __syncthreads();
  int earlier = 0, total = 0;
  for (int w = 0; w < 8; ++w) {
    if (w < warp) earlier += warp_sums[w];
    total += warp_sums[w];
  }
  if (t == 0) {
    int prefix = 0;
    if (block == 0) {
      store_status(status, 2, total);
    } else {
      store_status(status + block, 1, total);
      for (int b = int(block) - 1; b >= 0;) {
        Status s = load_status(status + b);
        if (s.flag == 0) continue;
        prefix += s.value;
        if (s.flag == 2) break;
        --b;
      }
      store_status(status + block, 2, prefix + total);
    }
    before = prefix;
  }
  __syncthreads();
  int exclusive = before + earlier + running - sum;
  for (int k = 0; k < Items; ++k) {
    exclusive += v[k];
    out[base + k] = exclusive;
  }
}

int main() {
  const int n = 1 << 21;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 3;
  int *in, *out;
  unsigned long long* status;
  unsigned* ticket;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  CHECK(cudaMalloc(&status, n / 256 * sizeof(unsigned long long)));
  CHECK(cudaMalloc(&ticket, sizeof(unsigned)));
  CHECK(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  THRICE {
    CHECK(cudaMemset(status, 0, n / 256 * sizeof(unsigned long long)));
    CHECK(cudaMemset(ticket, 0, sizeof(unsigned)));
    scan<4><<<n / 256 / 4, 256>>>(in, out, status, ticket);
  }
  THRICE {
    CHECK(cudaMemset(status, 0, n / 256 * sizeof(unsigned long long)));
    CHECK(cudaMemset(ticket, 0, sizeof(unsigned)));
    scan<16><<<n / 256 / 16, 256>>>(in, out, status, ticket);
  }
  THRICE {
    CHECK(cudaMemset(status, 0, n / 256 * sizeof(unsigned long long)));
    CHECK(cudaMemset(ticket, 0, sizeof(unsigned)));
    scan<1><<<(1 << 18) / 256, 256>>>(in, out, status, ticket);
  }
  CHECK(cudaMemcpy(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("%d\n", host[1000]);
  return 0;
}
