// Copy in, compute, copy out in 1 to 16 chunks: in one stream, in as many streams depth first, and breadth first.
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

__global__ void work(float* data, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = data[i];
  for (int r = 0; r < rounds; ++r) v = v * 0.999f + 0.001f;
  data[i] = v;
}

int main() {
  const int n = 1 << 22, rounds = 50;
  float *host, *device;
  CHECK(cudaMallocHost(&host, n * 4));
  CHECK(cudaMalloc(&device, n * 4));
  for (int i = 0; i < n; ++i) host[i] = i % 100;
  work<<<n / 256, 256>>>(device, n, rounds);
  std::printf("up: %.3f us\n", event_us([&] { CHECK(cudaMemcpyAsync(device, host, n * 4, cudaMemcpyHostToDevice)); }));
  std::printf("kernel: %.3f us\n", event_us([&] { work<<<n / 256, 256>>>(device, n, rounds); }));
  std::printf("down: %.3f us\n", event_us([&] { CHECK(cudaMemcpyAsync(host, device, n * 4, cudaMemcpyDeviceToHost)); }));
  for (int chunks = 1; chunks <= 16; chunks *= 2) {
    std::vector<cudaStream_t> streams(chunks);
    for (auto& s : streams) CHECK(cudaStreamCreate(&s));
    const int part = n / chunks;
    const auto up = [&](int c, cudaStream_t s) { CHECK(cudaMemcpyAsync(device + c * part, host + c * part, part * 4, cudaMemcpyHostToDevice, s)); };
    const auto compute = [&](int c, cudaStream_t s) { work<<<part / 256, 256, 0, s>>>(device + c * part, part, rounds); };
    const auto down = [&](int c, cudaStream_t s) { CHECK(cudaMemcpyAsync(host + c * part, device + c * part, part * 4, cudaMemcpyDeviceToHost, s)); };
    const auto time = [&](const char* name, auto run) {
      for (int i = 0; i < 2; ++i) {
        CHECK(cudaDeviceSynchronize());
        const double start = now_us();
        run();
        CHECK(cudaDeviceSynchronize());
        if (i) std::printf("%s_%d: %.3f us\n", name, chunks, now_us() - start);
      }
    };
    time("one_stream", [&] { for (int c = 0; c < chunks; ++c) up(c, streams[0]), compute(c, streams[0]), down(c, streams[0]); });
    time("depth_first", [&] { for (int c = 0; c < chunks; ++c) up(c, streams[c]), compute(c, streams[c]), down(c, streams[c]); });
    time("breadth_first", [&] {
      for (int c = 0; c < chunks; ++c) up(c, streams[c]);
      for (int c = 0; c < chunks; ++c) compute(c, streams[c]);
      for (int c = 0; c < chunks; ++c) down(c, streams[c]);
    });
    for (auto& s : streams) CHECK(cudaStreamDestroy(s));
  }
  return 0;
}
