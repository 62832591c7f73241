// Launches as programs mix them: with events, copies, other streams, host work and waits between.
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

__global__ void empty() {}
__global__ void small(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void nine(float* a, float* b, float* c, int d, int e, int f, double g, double h, float i) {
  if (d == 77) a[0] = b[0] + c[0] + e + f + g + h + i;
}
__global__ void reads(const float* x, float* y, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[i];
  y[threadIdx.x] = s;
}

int main() {
  CHECK(cudaFree(0));
  float *x, *y, *pinned;
  CHECK(cudaMalloc(&x, 16 << 20));
  CHECK(cudaMalloc(&y, 16 << 20));
  CHECK(cudaMemset(x, 0, 16 << 20));
  CHECK(cudaMallocHost(&pinned, 1 << 20));
  float pageable[256] = {};
  cudaStream_t s, q;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaStreamCreate(&q));
  cudaEvent_t e, f;
  CHECK(cudaEventCreate(&e));
  CHECK(cudaEventCreate(&f));
  cudaEvent_t untimed;
  CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  const int n = 200;
  const auto measure = [&](const char* name, auto work) {
    std::vector<double> call, all;
    for (int r = 0; r < 7; ++r) {
      work();
      CHECK(cudaDeviceSynchronize());
      const double t = now_us();
      for (int i = 0; i < n; ++i) work();
      call.push_back((now_us() - t) / n);
      CHECK(cudaDeviceSynchronize());
      all.push_back((now_us() - t) / n);
    }
    std::sort(call.begin(), call.end());
    std::sort(all.begin(), all.end());
    std::printf("%s_call: %.3f us\n%s: %.3f us\n", name, call[3], name, all[3]);
  };
  measure("empty", [&] { empty<<<1, 32>>>(); });
  measure("empty_in_stream", [&] { empty<<<1, 32, 0, s>>>(); });
  measure("nine_arguments", [&] { nine<<<1, 32>>>(x, y, x, 1, 2, 3, 4, 5, 6); });
  measure("small_256_blocks", [&] { small<<<256, 256>>>(x); });
  measure("small_16384_blocks", [&] { small<<<16384, 256>>>(x); });
  measure("one_block_reads_64k", [&] { reads<<<1, 256>>>(x, y, 16384); });
  measure("two_streams", [&] {
    empty<<<1, 32, 0, s>>>();
    empty<<<1, 32, 0, q>>>();
  });
  measure("launch_and_stream_wait", [&] {
    empty<<<1, 32, 0, s>>>();
    CHECK(cudaStreamSynchronize(s));
  });
  measure("two_launches_and_wait", [&] {
    empty<<<1, 32, 0, s>>>();
    empty<<<1, 32, 0, s>>>();
    CHECK(cudaStreamSynchronize(s));
  });
  measure("timed", [&] {
    CHECK(cudaEventRecord(e));
    empty<<<1, 32>>>();
    CHECK(cudaEventRecord(f));
  });
  measure("timed_and_waited", [&] {
    CHECK(cudaEventRecord(e));
    empty<<<1, 32>>>();
    CHECK(cudaEventRecord(f));
    CHECK(cudaEventSynchronize(f));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, e, f));
  });
  measure("fork_and_join", [&] {
    CHECK(cudaEventRecord(untimed, s));
    CHECK(cudaStreamWaitEvent(q, untimed, 0));
    empty<<<1, 32, 0, q>>>();
    CHECK(cudaEventRecord(untimed, q));
    CHECK(cudaStreamWaitEvent(s, untimed, 0));
  });
  measure("launch_and_copy_4_back", [&] {
    small<<<1, 32>>>(x);
    CHECK(cudaMemcpy(pageable, x, 4, cudaMemcpyDeviceToHost));
  });
  measure("copy_4_launch_copy_4_back", [&] {
    CHECK(cudaMemcpy(x, pageable, 4, cudaMemcpyHostToDevice));
    small<<<1, 32>>>(x);
    CHECK(cudaMemcpy(pageable, x, 4, cudaMemcpyDeviceToHost));
  });
  measure("launch_and_async_copy_4k", [&] {
    small<<<1, 32, 0, s>>>(x);
    CHECK(cudaMemcpyAsync(pinned, x, 4096, cudaMemcpyDeviceToHost, s));
  });
  measure("three_stages", [&] {
    CHECK(cudaMemcpyAsync(x, pinned, 65536, cudaMemcpyHostToDevice, s));
    small<<<64, 256, 0, s>>>(x);
    CHECK(cudaMemcpyAsync(pinned, x, 65536, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
  });
  measure("fill_and_launch", [&] {
    CHECK(cudaMemsetAsync(x, 0, 4096, s));
    small<<<1, 32, 0, s>>>(x);
  });
  measure("fill_of_1m", [&] { CHECK(cudaMemsetAsync(x, 0, 1 << 20, s)); });
  measure("launch_and_query", [&] {
    empty<<<1, 32, 0, s>>>();
    while (cudaStreamQuery(s) == cudaErrorNotReady) {
    }
  });
  measure("ten_in_default_and_error", [&] {
    for (int i = 0; i < 10; ++i) {
      empty<<<1, 32>>>();
      CHECK(cudaGetLastError());
    }
  });
  measure("sum_on_host_between", [&] {
    float sum = 0;
    for (int i = 0; i < 10000; ++i) sum += ((volatile float*)pageable)[i % 256];
    pageable[0] = sum * 0;
    empty<<<1, 32>>>();
  });
  return 0;
}
