// Blocks that talk to each other: a single-pass scan with decoupled look-back, a chained scan with flags, and a
// software grid barrier among co-resident blocks.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

#define THREADS 128

struct Status {
  unsigned flag;
  int value;
};  // 0 nothing, 1 aggregate, 2 inclusive prefix

__device__ unsigned g_ticket = 0;

__device__ int block_scan(int v, int* s, int* total) {
  int t = threadIdx.x;
  s[t] = v;
  __syncthreads();
  for (int d = 1; d < THREADS; d *= 2) {
    int x = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += x;
    __syncthreads();
  }
  *total = s[THREADS - 1];
  return s[t];
}

__device__ void publish(unsigned long long* state, unsigned flag, int value) {
  atomicExch(state, ((unsigned long long)flag << 32) | (unsigned)value);
}

__global__ void look_back(const int* in, int* out, unsigned long long* states, int n) {
  __shared__ int s[THREADS], s_block, s_prefix;
  if (threadIdx.x == 0) s_block = atomicAdd(&g_ticket, 1u);
  __syncthreads();
  int block = s_block, i = block * THREADS + threadIdx.x, total;
  int inclusive = block_scan(i < n ? in[i] : 0, s, &total);
  if (threadIdx.x == 0) {
    int prefix = 0;
    if (block > 0) {
      publish(&states[block], 1, total);
      for (int b = block - 1;;) {
        unsigned long long state;
        do state = *(volatile unsigned long long*)&states[b];
        while ((state >> 32) == 0);
        prefix += (int)(unsigned)state;
        if ((state >> 32) == 2) break;
        b--;
      }
    }
    publish(&states[block], 2, prefix + total);
    s_prefix = prefix;
  }
  __syncthreads();
  if (i < n) out[i] = s_prefix + inclusive;
}

__global__ void chained(const int* in, int* out, volatile int* flags, volatile int* sums, int n) {
  __shared__ int s[THREADS], s_prefix;
  int i = blockIdx.x * THREADS + threadIdx.x, total;
  int inclusive = block_scan(i < n ? in[i] : 0, s, &total);
  if (threadIdx.x == 0) {
    int prefix = 0;
    if (blockIdx.x > 0) {
      while (flags[blockIdx.x - 1] == 0) {
      }
      __threadfence();
      prefix = sums[blockIdx.x - 1];
    }
    sums[blockIdx.x] = prefix + total;
    __threadfence();
    flags[blockIdx.x] = 1;
    s_prefix = prefix;
  }
  __syncthreads();
  if (i < n) out[i] = s_prefix + inclusive;
}

__device__ unsigned g_arrived = 0;
__device__ volatile unsigned g_generation = 0;

__device__ void grid_barrier() {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned generation = g_generation;
    __threadfence();
    if (atomicAdd(&g_arrived, 1) == gridDim.x - 1) {
      g_arrived = 0;
      __threadfence();
      g_generation = generation + 1;
    } else {
      while (g_generation == generation) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void relay(volatile int* data, int rounds) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; r++) {
    int next = data[(i + 1) % n];
    grid_barrier();
    data[i] = next + 1;
    grid_barrier();
  }
}

int main() {
  const int n = 20000, blocks = (n + THREADS - 1) / THREADS;
  std::vector<int> in(n), a(n), b(n);
  for (int i = 0; i < n; i++) in[i] = i % 7 - 2;
  int *d_in, *d_a, *d_b, *d_flags, *d_sums;
  unsigned long long* d_states;
  CHECK(cudaMalloc(&d_in, n * 4));
  CHECK(cudaMalloc(&d_a, n * 4));
  CHECK(cudaMalloc(&d_b, n * 4));
  CHECK(cudaMalloc(&d_flags, blocks * 4));
  CHECK(cudaMalloc(&d_sums, blocks * 4));
  CHECK(cudaMalloc(&d_states, blocks * 8));
  CHECK(cudaMemcpy(d_in, in.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_states, 0, blocks * 8));
  CHECK(cudaMemset(d_flags, 0, blocks * 4));
  look_back<<<blocks, THREADS>>>(d_in, d_a, d_states, n);
  chained<<<blocks, THREADS>>>(d_in, d_b, d_flags, d_sums, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(a.data(), d_a, n * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(b.data(), d_b, n * 4, cudaMemcpyDeviceToHost));
  int bad = 0, sum = 0;
  for (int i = 0; i < n; i++) {
    sum += in[i];
    bad += (a[i] != sum) + (b[i] != sum);
  }
  printf("look-back and chained scans end at %d and %d\n", a[n - 1], b[n - 1]);
  const int m = 8 * 64, rounds = 5;
  for (int i = 0; i < m; i++) in[i] = i * 10;
  CHECK(cudaMemcpy(d_in, in.data(), m * 4, cudaMemcpyHostToDevice));
  relay<<<8, 64>>>(d_in, rounds);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(a.data(), d_in, m * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < m; i++) bad += a[i] != (i + rounds) % m * 10 + rounds;
  printf("look_back_scan: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}
