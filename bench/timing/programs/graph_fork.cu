// A captured fork: kernels in several streams tied by events, as a graph and as plain streams; graphs with copies and fills.
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

__global__ void work(float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = x[i];
    for (int k = 0; k < 50; ++k) v = v * 1.0001f + 0.1f;
    x[i] = v;
  }
}

int main() {
  const int n = 1 << 16, width = 4;
  float *x[width], *host;
  CHECK(cudaMallocHost(&host, n * 4));
  std::memset(host, 0, n * 4);
  cudaStream_t s[width];
  cudaEvent_t fork, join[width];
  for (int i = 0; i < width; ++i) {
    CHECK(cudaMalloc(&x[i], n * 4));
    CHECK(cudaMemset(x[i], 0, n * 4));
    CHECK(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&join[i], cudaEventDisableTiming));
  }
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaDeviceSynchronize());
  const auto issue = [&] {
    CHECK(cudaMemcpyAsync(x[0], host, n * 4, cudaMemcpyHostToDevice, s[0]));
    CHECK(cudaEventRecord(fork, s[0]));
    for (int i = 0; i < width; ++i) {
      if (i) CHECK(cudaStreamWaitEvent(s[i], fork, 0));
      work<<<32, 256, 0, s[i]>>>(x[i], n);
      work<<<32, 256, 0, s[i]>>>(x[i], n);
      CHECK(cudaEventRecord(join[i], s[i]));
      if (i) CHECK(cudaStreamWaitEvent(s[0], join[i], 0));
    }
    CHECK(cudaMemcpyAsync(host, x[0], n * 4, cudaMemcpyDeviceToHost, s[0]));
  };
  const auto time = [&](const char* name, auto once) {
    once();
    CHECK(cudaStreamSynchronize(s[0]));
    const int rounds = 20;
    double t = now_us();
    for (int r = 0; r < rounds; ++r) {
      once();
      CHECK(cudaStreamSynchronize(s[0]));
    }
    std::printf("%s: %.3f us\n", name, (now_us() - t) / rounds);
  };
  time("streams", issue);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeThreadLocal));
  issue();
  CHECK(cudaStreamEndCapture(s[0], &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  time("graph", [&] { CHECK(cudaGraphLaunch(exec, s[0])); });
  cudaGraph_t copies;
  cudaGraphExec_t copies_exec;
  CHECK(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < 4; ++k) {
    CHECK(cudaMemsetAsync(x[1], k, n * 4, s[0]));
    CHECK(cudaMemcpyAsync(x[0], x[1], n * 4, cudaMemcpyDeviceToDevice, s[0]));
  }
  CHECK(cudaStreamEndCapture(s[0], &copies));
  CHECK(cudaGraphInstantiate(&copies_exec, copies, 0));
  time("graph_of_fills_and_copies", [&] { CHECK(cudaGraphLaunch(copies_exec, s[0])); });
  return 0;
}
