// Copies of a few bytes: one by one, many in a row, gathered into one, in rows.
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

int main() {
  char *pinned, *device, *other;
  CHECK(cudaMallocHost(&pinned, 4 << 20));
  CHECK(cudaMalloc(&device, 4 << 20));
  CHECK(cudaMalloc(&other, 4 << 20));
  std::vector<char> pageable(4 << 20, 1);
  const auto each = [&](const char* name, int n, auto copy) {
    copy(0);
    CHECK(cudaDeviceSynchronize());
    const double t = now_us();
    for (int i = 0; i < n; ++i) copy(i);
    CHECK(cudaDeviceSynchronize());
    std::printf("%s: %.3f us\n", name, (now_us() - t) / n);
  };
  each("int_up", 100, [&](int) { CHECK(cudaMemcpy(device, &pageable[0], 4, cudaMemcpyHostToDevice)); });
  each("int_down", 100, [&](int) { CHECK(cudaMemcpy(&pageable[0], device, 4, cudaMemcpyDeviceToHost)); });
  each("int_up_pinned", 100, [&](int) { CHECK(cudaMemcpy(device, pinned, 4, cudaMemcpyHostToDevice)); });
  each("int_down_pinned", 100, [&](int) { CHECK(cudaMemcpy(pinned, device, 4, cudaMemcpyDeviceToHost)); });
  each("int_up_async", 200, [&](int) { CHECK(cudaMemcpyAsync(device, pinned, 4, cudaMemcpyHostToDevice)); });
  each("int_down_async", 200, [&](int) { CHECK(cudaMemcpyAsync(pinned, device, 4, cudaMemcpyDeviceToHost)); });
  each("kib_up_async", 200, [&](int i) { CHECK(cudaMemcpyAsync(device + 1024 * i, pinned + 1024 * i, 1024, cudaMemcpyHostToDevice)); });
  each("kib_within_device", 200, [&](int i) { CHECK(cudaMemcpyAsync(other + 1024 * i, device + 1024 * i, 1024, cudaMemcpyDeviceToDevice)); });
  each("many_as_one_up", 20, [&](int) { CHECK(cudaMemcpyAsync(device, pinned, 200 * 1024, cudaMemcpyHostToDevice)); });
  each("rows_up", 20, [&](int) { CHECK(cudaMemcpy2DAsync(device, 2048, pinned, 1024, 1024, 1000, cudaMemcpyHostToDevice)); });
  each("rows_down", 20, [&](int) { CHECK(cudaMemcpy2DAsync(pinned, 1024, device, 2048, 1024, 1000, cudaMemcpyDeviceToHost)); });
  each("columns_up", 20, [&](int) { CHECK(cudaMemcpy2DAsync(device, 4096, pinned, 4096, 4, 1000, cudaMemcpyHostToDevice)); });
  return 0;
}
