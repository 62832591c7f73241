// Changing a graph that is instantiated: the arguments of a node, and the whole graph.
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

__global__ void scale(float* x, float f) { x[threadIdx.x] *= f; }

int main() {
  float* x;
  CHECK(cudaMalloc(&x, 128));
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  scale<<<1, 32, 0, s>>>(x, 1);
  CHECK(cudaStreamSynchronize(s));
  const int nodes = 20, rounds = 20;
  const auto capture = [&](float f) {
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < nodes; ++i) scale<<<1, 32, 0, s>>>(x, f);
    CHECK(cudaStreamEndCapture(s, &graph));
    return graph;
  };
  cudaGraph_t graph = capture(1);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, s));
  CHECK(cudaStreamSynchronize(s));
  double recapture = 0, update = 0, node = 0, launch = 0;
  size_t count = nodes;
  std::vector<cudaGraphNode_t> all(nodes);
  CHECK(cudaGraphGetNodes(graph, all.data(), &count));
  for (int r = 0; r < rounds + 1; ++r) {
    double t = now_us();
    cudaGraph_t other = capture(2 + r);
    if (r) recapture += now_us() - t;
    t = now_us();
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, other, &info));
    if (r) update += now_us() - t;
    t = now_us();
    float f = r;
    void* arguments[] = {&x, &f};
    cudaKernelNodeParams p = {};
    p.func = (void*)scale;
    p.gridDim = dim3(1);
    p.blockDim = dim3(32);
    p.kernelParams = arguments;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, all[3], &p));
    if (r) node += now_us() - t;
    t = now_us();
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    if (r) launch += now_us() - t;
    CHECK(cudaGraphDestroy(other));
  }
  std::printf("recapture: %.3f us\nupdate: %.3f us\nset_node: %.3f us\nlaunch_after: %.3f us\n", recapture / rounds, update / rounds, node / rounds,
              launch / rounds);
  return 0;
}
