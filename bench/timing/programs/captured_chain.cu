// Chains of small kernels: launched one by one, and captured into a graph once.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    const cudaError_t error = call;                                                       \
    if (error != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (0)

static double seconds() { return std::chrono::duration<double>(std::chrono::high_resolution_clock::now().time_since_epoch()).count(); }

// The median of what some runs of it take, in microseconds.
template <class Work>
static double time_us(int runs, Work work) {
  std::vector<double> all;
  for (int k = 0; k < runs; ++k) {
    const double begin = seconds();
    work();
    all.push_back((seconds() - begin) * 1e6);
  }
  std::nth_element(all.begin(), all.begin() + runs / 2, all.end());
  return all[runs / 2];
}

__global__ void scale(float* data, int count, float by) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count) data[at] *= by;
}

int main() {
  const int count = 1 << 16;
  float* data;
  CHECK(cudaMalloc(&data, count * sizeof(float)));
  CHECK(cudaMemset(data, 0, count * sizeof(float)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  scale<<<count / 256, 256, 0, stream>>>(data, count, 1.0f);
  CHECK(cudaStreamSynchronize(stream));
  for (int length : {1, 5, 20, 100}) {
    const auto chain = [&] {
      for (int k = 0; k < length; ++k) scale<<<count / 256, 256, 0, stream>>>(data, count, 1.01f);
    };
    std::printf("one_by_one_%d: %.3f us\n", length, time_us(9, [&] {
                  chain();
                  CHECK(cudaStreamSynchronize(stream));
                }));
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    std::printf("capture_%d: %.3f us\n", length, time_us(1, [&] {
                  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
                  chain();
                  CHECK(cudaStreamEndCapture(stream, &graph));
                }));
    std::printf("instantiate_%d: %.3f us\n", length, time_us(1, [&] { CHECK(cudaGraphInstantiate(&ready, graph, 0)); }));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("graph_%d: %.3f us\n", length, time_us(15, [&] {
                  CHECK(cudaGraphLaunch(ready, stream));
                  CHECK(cudaStreamSynchronize(stream));
                }));
    std::printf("graph_issue_%d: %.3f us\n", length, time_us(15, [&] { CHECK(cudaGraphLaunch(ready, stream)); }));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("graph_ten_%d: %.3f us\n", length, time_us(5, [&] {
                  for (int k = 0; k < 10; ++k) CHECK(cudaGraphLaunch(ready, stream));
                  CHECK(cudaStreamSynchronize(stream));
                }));
    std::printf("destroy_%d: %.3f us\n", length, time_us(1, [&] {
                  CHECK(cudaGraphExecDestroy(ready));
                  CHECK(cudaGraphDestroy(graph));
                }));
  }
}
