// A time step of five kernels by streams and as a graph, a hundred times.
#include <chrono>
#include <cstdio>
#include <cstdlib>

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

__global__ void axpy(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

int main() {
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  for (int n : {1 << 10, 1 << 18}) {
    float *x, *y;
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc(&y, n * sizeof(float)));
    CHECK(cudaMemset(x, 0, n * sizeof(float)));
    CHECK(cudaMemset(y, 0, n * sizeof(float)));
    const auto step = [&] {
      for (int k = 0; k < 5; ++k) axpy<<<(n + 255) / 256, 256, 0, s>>>(k % 2 ? x : y, k % 2 ? y : x, 0.5f, n);
    };
    step();
    CHECK(cudaStreamSynchronize(s));
    const double plain = host_us([&] {
      for (int k = 0; k < 100; ++k) step();
      CHECK(cudaStreamSynchronize(s));
    });
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    step();
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphLaunch(ready, s));
    CHECK(cudaStreamSynchronize(s));
    const double as_graph = host_us([&] {
      for (int k = 0; k < 100; ++k) CHECK(cudaGraphLaunch(ready, s));
      CHECK(cudaStreamSynchronize(s));
    });
    const double waiting = host_us([&] {
      for (int k = 0; k < 100; ++k) CHECK(cudaGraphLaunch(ready, s)), CHECK(cudaStreamSynchronize(s));
    });
    std::printf("plain_%d: %.3f us\ngraph_%d: %.3f us\ngraph_waiting_%d: %.3f us\n", n, plain / 100, n, as_graph / 100, n, waiting / 100);
  }
}
