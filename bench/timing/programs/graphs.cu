// Twenty short kernels as launches and as a graph; branches side by side; building, launching, updating.
#include <chrono>
#include <cstdio>
#include <cstdlib>
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

template <class Work>
static double event_us(Work work) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start));
  work();
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return ms * 1000;
}

__global__ void step(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = 1.23f * data[i];
}

int main() {
  const int n = 100000, kernels = 20, rounds = 50;
  float* data;
  CHECK(cudaMalloc(&data, n * 4));
  CHECK(cudaMemset(data, 0, n * 4));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  const auto launches = [&](bool wait) {
    for (int k = 0; k < kernels; ++k) {
      step<<<(n + 511) / 512, 512, 0, stream>>>(data, n);
      if (wait) CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaStreamSynchronize(stream));
  };
  launches(false);
  double start = now_us();
  for (int r = 0; r < rounds; ++r) launches(true);
  std::printf("waiting_each: %.3f us\n", (now_us() - start) / rounds / kernels);
  start = now_us();
  for (int r = 0; r < rounds; ++r) launches(false);
  std::printf("waiting_once: %.3f us\n", (now_us() - start) / rounds / kernels);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  start = now_us();
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int k = 0; k < kernels; ++k) step<<<(n + 511) / 512, 512, 0, stream>>>(data, n);
  CHECK(cudaStreamEndCapture(stream, &graph));
  std::printf("capture: %.3f us\n", now_us() - start);
  start = now_us();
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  std::printf("instantiate: %.3f us\n", now_us() - start);
  start = now_us();
  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::printf("first_graph: %.3f us\n", now_us() - start);
  start = now_us();
  for (int r = 0; r < rounds; ++r) {
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
  }
  std::printf("graph_each_kernel: %.3f us\n", (now_us() - start) / rounds / kernels);
  start = now_us();
  for (int r = 0; r < rounds; ++r) CHECK(cudaGraphLaunch(executable, stream));
  const double called = now_us() - start;
  CHECK(cudaStreamSynchronize(stream));
  std::printf("graph_call: %.3f us\ngraphs_in_a_row_each_kernel: %.3f us\n", called / rounds, (now_us() - start) / rounds / kernels);
  // Eight branches between a first and a last node.
  cudaGraph_t wide;
  cudaGraphExec_t wide_executable;
  CHECK(cudaGraphCreate(&wide, 0));
  int count = n;
  void* arguments[] = {&data, &count};
  cudaKernelNodeParams node = {};
  node.func = (void*)step;
  node.gridDim = dim3(8);
  node.blockDim = dim3(512);
  node.kernelParams = arguments;
  cudaGraphNode_t first, last, middle[8];
  CHECK(cudaGraphAddKernelNode(&first, wide, nullptr, 0, &node));
  for (auto& m : middle) CHECK(cudaGraphAddKernelNode(&m, wide, &first, 1, &node));
  CHECK(cudaGraphAddKernelNode(&last, wide, middle, 8, &node));
  CHECK(cudaGraphInstantiate(&wide_executable, wide, 0));
  CHECK(cudaGraphLaunch(wide_executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  start = now_us();
  for (int r = 0; r < rounds; ++r) {
    CHECK(cudaGraphLaunch(wide_executable, stream));
    CHECK(cudaStreamSynchronize(stream));
  }
  std::printf("wide_graph: %.3f us\n", (now_us() - start) / rounds);
  return 0;
}
