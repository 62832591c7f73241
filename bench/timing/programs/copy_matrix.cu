// Rows, planes, columns and symbols that are copied, pinned and pageable.
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

__constant__ float table[4096];

int main() {
  const int n = 1024;
  float *pinned, *device;
  size_t pitch;
  CHECK(cudaMallocHost(&pinned, n * n * sizeof(float)));
  std::vector<float> pageable(n * n, 1.f);
  std::fill(pinned, pinned + n * n, 1.f);
  CHECK(cudaMallocPitch(&device, &pitch, n * sizeof(float), n));
  const auto timed = [&](const char* name, auto work) {
    std::printf("%s: %.3f us\n", name, median_us([&] { work(), CHECK(cudaDeviceSynchronize()); }));
  };
  timed("all_pinned", [&] { CHECK(cudaMemcpy2D(device, pitch, pinned, n * 4, n * 4, n, cudaMemcpyHostToDevice)); });
  timed("all_back", [&] { CHECK(cudaMemcpy2D(pinned, n * 4, device, pitch, n * 4, n, cudaMemcpyDeviceToHost)); });
  timed("all_pageable", [&] { CHECK(cudaMemcpy2D(device, pitch, pageable.data(), n * 4, n * 4, n, cudaMemcpyHostToDevice)); });
  timed("all_back_pageable", [&] { CHECK(cudaMemcpy2D(pageable.data(), n * 4, device, pitch, n * 4, n, cudaMemcpyDeviceToHost)); });
  timed("a_part", [&] { CHECK(cudaMemcpy2D(device, pitch, pinned, n * 4, 256, n, cudaMemcpyHostToDevice)); });
  timed("a_column_back", [&] { CHECK(cudaMemcpy2D(pinned, 4, device, pitch, 4, n, cudaMemcpyDeviceToHost)); });
  timed("one_row", [&] { CHECK(cudaMemcpy(device, pinned, n * 4, cudaMemcpyHostToDevice)); });
  timed("constant", [&] { CHECK(cudaMemcpyToSymbol(table, pageable.data(), sizeof table)); });
  timed("ten_rows_in_a_row", [&] {
    for (int k = 0; k < 10; ++k) CHECK(cudaMemcpyAsync(device + k * n, pinned + k * n, n * 4, cudaMemcpyHostToDevice));
  });
  timed("on_device", [&] { CHECK(cudaMemcpy2D(device, pitch, device, pitch, n * 4, n, cudaMemcpyDeviceToDevice)); });
}
