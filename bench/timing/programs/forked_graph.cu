// A step of a simulation as a graph: a copy up, branches side by side, a join, a copy down; with new parameters each time.
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

__global__ void busy(long long cycles) {
  for (const long long begin = clock64(); clock64() - begin < cycles;) {}
}

int main() {
  const size_t size = 1 << 20;
  char *host, *device;
  CHECK(cudaMallocHost(&host, size));
  CHECK(cudaMalloc(&device, size));
  cudaStream_t first;
  CHECK(cudaStreamCreate(&first));
  busy<<<1, 1, 0, first>>>(1);
  CHECK(cudaStreamSynchronize(first));
  for (int branches : {2, 6, 12}) {
    std::vector<cudaStream_t> streams(branches);
    std::vector<cudaEvent_t> joined(branches);
    for (auto& s : streams) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (auto& e : joined) CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    cudaEvent_t fork;
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    const auto step = [&] {
      CHECK(cudaMemcpyAsync(device, host, size, cudaMemcpyHostToDevice, first));
      CHECK(cudaEventRecord(fork, first));
      for (int k = 0; k < branches; ++k) {
        CHECK(cudaStreamWaitEvent(streams[k], fork, 0));
        busy<<<8, 128, 0, streams[k]>>>(20000);
        busy<<<8, 128, 0, streams[k]>>>(20000);
        CHECK(cudaEventRecord(joined[k], streams[k]));
        CHECK(cudaStreamWaitEvent(first, joined[k], 0));
      }
      CHECK(cudaMemcpyAsync(host, device, size, cudaMemcpyDeviceToHost, first));
    };
    step();
    CHECK(cudaStreamSynchronize(first));
    std::printf("streams_%d: %.3f us\n", branches, time_us(9, [&] {
                  step();
                  CHECK(cudaStreamSynchronize(first));
                }));
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
    step();
    CHECK(cudaStreamEndCapture(first, &graph));
    cudaGraphExec_t ready;
    std::printf("instantiate_%d: %.3f us\n", branches, time_us(1, [&] { CHECK(cudaGraphInstantiate(&ready, graph, 0)); }));
    std::printf("first_%d: %.3f us\n", branches, time_us(1, [&] {
                  CHECK(cudaGraphLaunch(ready, first));
                  CHECK(cudaStreamSynchronize(first));
                }));
    std::printf("graph_%d: %.3f us\n", branches, time_us(9, [&] {
                  CHECK(cudaGraphLaunch(ready, first));
                  CHECK(cudaStreamSynchronize(first));
                }));
    cudaGraphExecUpdateResultInfo info;
    std::printf("update_%d: %.3f us\n", branches, time_us(3, [&] { CHECK(cudaGraphExecUpdate(ready, graph, &info)); }));
    CHECK(cudaGraphExecDestroy(ready));
    CHECK(cudaGraphDestroy(graph));
  }
}
