// Words of mapped memory by which the host and kernels tell each other of things.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

__global__ void set(volatile int* flag, int value) { *flag = value; }
__global__ void wait_for(volatile int* flag, int value) {
  while (*flag < value) {
  }
}
__global__ void steps(volatile int* done, int count, long long ticks) {
  for (int k = 1; k <= count; ++k) {
    long long start = clock64();
    while (clock64() - start < ticks) {
    }
    *done = k;
    __threadfence_system();
  }
}
__global__ void answer(volatile int* ask, volatile int* reply, int rounds) {
  for (int r = 1; r <= rounds; ++r) {
    while (*ask < r) {
    }
    *reply = r;
    __threadfence_system();
  }
}
__global__ void wait_all(volatile int* flag, int value, int* out) {
  if (threadIdx.x == 0)
    while (*flag < value) {
    }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

int main() {
  int *words, *m;
  CHECK(cudaHostAlloc(&words, 4096, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&m, words, 0));
  int* out;
  CHECK(cudaMalloc(&out, 4 << 20));
  volatile int* w = words;
  std::memset(words, 0, 4096);
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  set<<<1, 1, 0, s>>>(m, 1);
  w[32] = 1;
  wait_for<<<1, 1, 0, s>>>(m + 32, 1);
  steps<<<1, 1, 0, s>>>(m + 64, 1, 100);
  answer<<<1, 1, 0, s>>>(m + 32, m + 64, 1);
  wait_all<<<132, 256, 0, s>>>(m + 32, 1, out);
  CHECK(cudaDeviceSynchronize());
  std::vector<double> seen, over, released, stopped, each_step, long_seen, all;
  for (int r = 0; r < 21; ++r) {
    std::memset(words, 0, 4096);
    double t = now_us();
    set<<<1, 1, 0, s>>>(m, 1);
    while (!w[0]) {
    }
    seen.push_back(now_us() - t);
    CHECK(cudaStreamSynchronize(s));
    over.push_back(now_us() - t);
    wait_for<<<1, 1, 0, s>>>(m + 32, 1);
    t = now_us();
    while (now_us() - t < 100) {
    }
    t = now_us();
    w[32] = 1;
    CHECK(cudaStreamSynchronize(s));
    released.push_back(now_us() - t);
    wait_for<<<1, 1, 0, s>>>(m + 96, 1);
    t = now_us();
    w[96] = 1;
    CHECK(cudaStreamSynchronize(s));
    stopped.push_back(now_us() - t);
    w[64] = 0;
    t = now_us();
    steps<<<1, 1, 0, s>>>(m + 64, 10, 20000);
    while (w[64] < 2) {
    }
    const double second = now_us();
    while (w[64] < 10) {
    }
    each_step.push_back((now_us() - second) / 8);
    CHECK(cudaStreamSynchronize(s));
    w[128] = 0;
    t = now_us();
    steps<<<1, 1, 0, s>>>(m + 128, 1, 400000);
    while (!w[128]) {
    }
    long_seen.push_back(now_us() - t);
    CHECK(cudaStreamSynchronize(s));
    w[160] = 0;
    wait_all<<<132, 256, 0, s>>>(m + 160, 1, out);
    t = now_us();
    while (now_us() - t < 50) {
    }
    t = now_us();
    w[160] = 1;
    CHECK(cudaStreamSynchronize(s));
    all.push_back(now_us() - t);
  }
  std::printf("flag_seen: %.3f us\nflag_and_wait: %.3f us\nreleased_after_100us: %.3f us\nreleased_at_once: %.3f us\n", median(seen), median(over), median(released),
              median(stopped));
  std::printf("step_of_20000: %.3f us\nflag_after_400000: %.3f us\nreleased_132_blocks: %.3f us\n", median(each_step), median(long_seen), median(all));
  std::memset(words, 0, 4096);
  answer<<<1, 1, 0, s>>>(m, m + 32, 1000);
  double t = 0;
  for (int r = 1; r <= 1000; ++r) {
    if (r == 2) t = now_us();
    w[0] = r;
    while (w[32] < r) {
    }
  }
  std::printf("round_trip: %.3f us\n", (now_us() - t) / 999);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
