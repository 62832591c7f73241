// A graph with copies: in, a kernel, out, in one chain and in four branches.
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

__global__ void square(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
}

int main() {
  const int n = 1 << 18, parts = 4;
  float *host, *device;
  CHECK(cudaMallocHost(&host, n * sizeof(float)));
  CHECK(cudaMalloc(&device, n * sizeof(float)));
  std::fill(host, host + n, 1.f);
  cudaStream_t s, branch[parts];
  cudaEvent_t begin, end[parts];
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaEventCreateWithFlags(&begin, cudaEventDisableTiming));
  for (int k = 0; k < parts; ++k) CHECK(cudaStreamCreate(&branch[k])), CHECK(cudaEventCreateWithFlags(&end[k], cudaEventDisableTiming));
  const auto work = [&](cudaStream_t on, int from, int count) {
    CHECK(cudaMemcpyAsync(device + from, host + from, count * sizeof(float), cudaMemcpyHostToDevice, on));
    square<<<(count + 255) / 256, 256, 0, on>>>(device + from, count);
    CHECK(cudaMemcpyAsync(host + from, device + from, count * sizeof(float), cudaMemcpyDeviceToHost, on));
  };
  for (bool wide : {false, true}) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    if (!wide) {
      for (int k = 0; k < parts; ++k) work(s, k * (n / parts), n / parts);
    } else {
      CHECK(cudaEventRecord(begin, s));
      for (int k = 0; k < parts; ++k) {
        CHECK(cudaStreamWaitEvent(branch[k], begin, 0));
        work(branch[k], k * (n / parts), n / parts);
        CHECK(cudaEventRecord(end[k], branch[k]));
        CHECK(cudaStreamWaitEvent(s, end[k], 0));
      }
    }
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphLaunch(ready, s));
    CHECK(cudaStreamSynchronize(s));
    std::printf("%s: %.3f us\n", wide ? "branches" : "chain", median_us([&] {
      CHECK(cudaGraphLaunch(ready, s));
      CHECK(cudaStreamSynchronize(s));
    }));
  }
}
