// A reduction as a tree of kernels in a graph made by hand: 16, 8, 4, 2, 1.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

static void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Work>
static double host_us(Work work) {
  const double begun = now_us();
  work();
  return now_us() - begun;
}

template <class Work>
static double median_us(Work work, int times = 9) {
  std::vector<double> all;
  for (int k = 0; k < times; ++k) all.push_back(host_us(work));
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

__global__ void join(float* x, int stride) { x[threadIdx.x] += x[threadIdx.x + stride]; }

int main() {
  float* x;
  CHECK(cudaMalloc(&x, 1 << 20));
  CHECK(cudaMemset(x, 0, 1 << 20));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  std::vector<cudaGraphNode_t> before, level;
  int nodes = 0;
  const double made = host_us([&] {
    for (int width = 16; width; width /= 2) {
      level.assign(width, {});
      for (int k = 0; k < width; ++k) {
        float* part = x + k * 1024;
        int stride = 256;
        void* arguments[] = {&part, &stride};
        cudaKernelNodeParams p = {};
        p.func = reinterpret_cast<void*>(join);
        p.gridDim = dim3(1), p.blockDim = dim3(256), p.kernelParams = arguments;
        CHECK(cudaGraphAddKernelNode(&level[k], graph, before.empty() ? nullptr : &before[2 * k], before.empty() ? 0 : 2, &p));
        ++nodes;
      }
      before = level;
    }
  });
  cudaGraphExec_t ready;
  const double instantiated = host_us([&] { CHECK(cudaGraphInstantiate(&ready, graph, 0)); });
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  const auto run = [&] { CHECK(cudaGraphLaunch(ready, s)), CHECK(cudaStreamSynchronize(s)); };
  const double first = host_us(run), later = median_us(run);
  std::printf("add_each: %.3f us\ninstantiate: %.3f us\nfirst: %.3f us\nlater: %.3f us\n", made / nodes, instantiated, first, later);
}
