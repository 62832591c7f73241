// What launches, allocations and graphs cost, and kernels whose blocks wait for each other.
#include <cooperative_groups.h>

#include "pattern.h"

namespace cg = cooperative_groups;

__global__ void empty() {}
__global__ void small(float* p) { p[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

__global__ void all_steps(float* a, float* b, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    const float* from = s % 2 ? b : a;
    float* to = s % 2 ? a : b;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = from[i] * 0.5f + from[(i + 1) % n];
    grid.sync();
  }
}
__global__ void one_step(const float* from, float* to, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = from[i] * 0.5f + from[(i + 1) % n];
}
__global__ void by_rank(const float* from, float* to, int n) {
  cg::grid_group grid = cg::this_grid();
  for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) to[i] = from[i] * 0.5f + from[(i + 1) % n];
}

__global__ void child(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += 1;
}
__global__ void parent(float* p, int n, int children) {
  if (threadIdx.x < children) child<<<n / 256, 256>>>(p + threadIdx.x * n, n);
}

void rows() {
  constexpr int n = 1 << 15, kSteps = 8, kNodes = 50;
  static float* a = array<float>(n);
  static float* b = array<float>(n);
  const pattern::Form steps{double(n) * kSteps, [=] {
                              for (int s = 0; s < kSteps; ++s) one_step<<<16, 256>>>(s % 2 ? b : a, s % 2 ? a : b, n);
                            }};
  row("grid.sync()", "element", {double(n) * kSteps, [=] {
                                   int count = n, many = kSteps;
                                   void* arguments[] = {&a, &b, &count, &many};
                                   CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(all_steps), dim3(16), dim3(256), arguments));
                                 }}, "a launch for each step", steps);
  row("grid.thread_rank() in a loop", "element", {n, [=] { by_rank<<<16, 256>>>(a, b, n); }}, "threadIdx, gridDim", {n, [=] { one_step<<<16, 256>>>(a, b, n); }});
  const pattern::Form plain{1, [=] { empty<<<1, 32>>>(); }};
  row("cooperative launch", "launch", {1, [=] { CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(empty), dim3(1), dim3(32), nullptr)); }}, "a launch", plain);

  static cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  static cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int k = 0; k < kNodes; ++k) small<<<4, 128, 0, stream>>>(a);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  row("graph of small kernels", "node", {kNodes, [=] { CHECK(cudaGraphLaunch(executable, stream)); }}, "launches on a stream", {kNodes, [=] {
                                                                                                                           for (int k = 0; k < kNodes; ++k) small<<<4, 128, 0, stream>>>(a);
                                                                                                                         }}, 1.5);

  row("launches by the device", "launch", {8, [=] { parent<<<1, 32>>>(a, n / 8, 8); }}, "by the host", {8, [=] {
                                                                                                         for (int k = 0; k < 8; ++k) child<<<n / 8 / 256, 256>>>(a + k * (n / 8), n / 8);
                                                                                                       }});

  constexpr size_t kBytes = 1 << 20;
  const pattern::Form reused{1, [=] {
                               static char* p = array<char>(kBytes);
                               CHECK(cudaMemset(p, 1, kBytes));
                               CHECK(cudaDeviceSynchronize());
                             }};
  row("cudaMalloc and cudaFree of 1 MiB, set", "round", {1, [=] {
                                                           char* p;
                                                           CHECK(cudaMalloc(&p, kBytes));
                                                           CHECK(cudaMemset(p, 1, kBytes));
                                                           CHECK(cudaFree(p));
                                                         }}, "allocated once", reused);
  row("cudaMallocAsync and cudaFreeAsync of 1 MiB, set", "round", {1, [=] {
                                                                     char* p;
                                                                     CHECK(cudaMallocAsync(&p, kBytes, stream));
                                                                     CHECK(cudaMemsetAsync(p, 1, kBytes, stream));
                                                                     CHECK(cudaFreeAsync(p, stream));
                                                                     CHECK(cudaStreamSynchronize(stream));
                                                                   }}, "allocated once", reused);
}
