// Copies of parts: rows and columns of a matrix, a volume, a symbol, within the device, and many small ones.
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

__constant__ float coefficients[256];
__device__ float table[4096];

int main() {
  const int width = 2048, height = 1024;
  float *host, *a, *b;
  CHECK(cudaMallocHost(&host, width * height * sizeof(float)));
  CHECK(cudaMalloc(&a, width * height * sizeof(float)));
  size_t pitch;
  CHECK(cudaMallocPitch(&b, &pitch, width * sizeof(float), height));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  const auto report = [&](const char* name, auto copy) {
    copy();
    CHECK(cudaStreamSynchronize(stream));
    std::printf("%s: %.3f us\n", name, time_us(9, [&] {
                  copy();
                  CHECK(cudaStreamSynchronize(stream));
                }));
  };
  report("rows_up", [&] { CHECK(cudaMemcpy2DAsync(b, pitch, host, width * 4, width * 4, height, cudaMemcpyHostToDevice, stream)); });
  report("half_rows_up", [&] { CHECK(cudaMemcpy2DAsync(b, pitch, host, width * 4, width * 2, height, cudaMemcpyHostToDevice, stream)); });
  report("half_rows_down", [&] { CHECK(cudaMemcpy2DAsync(host, width * 4, b, pitch, width * 2, height, cudaMemcpyDeviceToHost, stream)); });
  report("column_down", [&] { CHECK(cudaMemcpy2DAsync(host, 4, b, pitch, 4, height, cudaMemcpyDeviceToHost, stream)); });
  report("within_8m", [&] { CHECK(cudaMemcpyAsync(a, b, width * height * 4, cudaMemcpyDeviceToDevice, stream)); });
  report("within_64k", [&] { CHECK(cudaMemcpyAsync(a, b, 65536, cudaMemcpyDeviceToDevice, stream)); });
  report("within_rows", [&] { CHECK(cudaMemcpy2DAsync(a, width * 4, b, pitch, width * 4, height, cudaMemcpyDeviceToDevice, stream)); });
  report("clear_8m", [&] { CHECK(cudaMemsetAsync(a, 0, width * height * 4, stream)); });
  report("symbol_1k", [&] { CHECK(cudaMemcpyToSymbolAsync(coefficients, host, sizeof coefficients, 0, cudaMemcpyHostToDevice, stream)); });
  report("symbol_16k", [&] { CHECK(cudaMemcpyToSymbolAsync(table, host, sizeof table, 0, cudaMemcpyHostToDevice, stream)); });
  report("symbol_back", [&] { CHECK(cudaMemcpyFromSymbolAsync(host, table, sizeof table, 0, cudaMemcpyDeviceToHost, stream)); });
  report("fifty_small_up", [&] {
    for (int k = 0; k < 50; ++k) CHECK(cudaMemcpyAsync(a + k * 1024, host + k * 1024, 4096, cudaMemcpyHostToDevice, stream));
  });
  report("fifty_small_down", [&] {
    for (int k = 0; k < 50; ++k) CHECK(cudaMemcpyAsync(host + k * 1024, a + k * 1024, 4096, cudaMemcpyDeviceToHost, stream));
  });
  const double issue = time_us(9, [&] { CHECK(cudaMemcpyAsync(a, host, 1 << 20, cudaMemcpyHostToDevice, stream)); });
  std::printf("issue_1m: %.3f us\n", issue);
}
