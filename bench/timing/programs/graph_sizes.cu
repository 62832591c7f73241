// Chains of 1 to 1000 nodes: capture, instantiation, launch until done, and the same without a graph.
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

__global__ void tiny(float* x) { x[threadIdx.x] += 1; }

int main() {
  float* x;
  CHECK(cudaMalloc(&x, 128));
  CHECK(cudaMemset(x, 0, 128));
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  tiny<<<1, 32, 0, s>>>(x);
  CHECK(cudaStreamSynchronize(s));
  for (int nodes : {1, 10, 100, 1000}) {
    double t = now_us();
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < nodes; ++i) tiny<<<1, 32, 0, s>>>(x);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(s, &graph));
    std::printf("capture_%d: %.3f us\n", nodes, now_us() - t);
    cudaGraphExec_t exec;
    t = now_us();
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    std::printf("instantiate_%d: %.3f us\n", nodes, now_us() - t);
    t = now_us();
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    std::printf("first_%d: %.3f us\n", nodes, now_us() - t);
    const int rounds = 20;
    double call = 0;
    t = now_us();
    for (int r = 0; r < rounds; ++r) {
      const double before = now_us();
      CHECK(cudaGraphLaunch(exec, s));
      call += now_us() - before;
      CHECK(cudaStreamSynchronize(s));
    }
    std::printf("graph_%d: %.3f us\ngraph_call_%d: %.3f us\n", nodes, (now_us() - t) / rounds, nodes, call / rounds);
    t = now_us();
    for (int r = 0; r < rounds; ++r) {
      for (int i = 0; i < nodes; ++i) tiny<<<1, 32, 0, s>>>(x);
      CHECK(cudaStreamSynchronize(s));
    }
    std::printf("launches_%d: %.3f us\n", nodes, (now_us() - t) / rounds);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
  }
  return 0;
}
