// nvcc: no
// build: --extended-lambda
// Members of versions of CUB newer than toolkit 13.0's: DeviceTopK, DeviceTransform::Fill, Generate and TransformIf.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

static int wrong = 0;
static void expect(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++wrong;
}

template <class F>
void in_two_steps(F algorithm) {
  size_t bytes = 0;
  CHECK(algorithm(nullptr, bytes));
  void* storage;
  CHECK(cudaMalloc(&storage, bytes ? bytes : 1));
  CHECK(algorithm(storage, bytes));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(storage));
}

int main() {
  constexpr int n = 5003, k = 37;
  float *keys, *best;
  int *values, *of_best;
  CHECK(cudaMallocManaged(&keys, n * sizeof(float)));
  CHECK(cudaMallocManaged(&best, n * sizeof(float)));
  CHECK(cudaMallocManaged(&values, n * sizeof(int)));
  CHECK(cudaMallocManaged(&of_best, n * sizeof(int)));
  for (int i = 0; i < n; ++i) keys[i] = (i * 7919 % n) * 0.25f - 300, values[i] = i;
  std::vector<float> sorted(keys, keys + n);
  std::sort(sorted.begin(), sorted.end());

  in_two_steps([&](void* t, size_t& b) { return cub::DeviceTopK::MinKeys(t, b, keys, best, n, k); });
  std::sort(best, best + k);
  expect(std::equal(best, best + k, sorted.begin()), "MinKeys");
  in_two_steps([&](void* t, size_t& b) { return cub::DeviceTopK::MaxPairs(t, b, keys, best, values, of_best, n, k); });
  bool right = true;
  for (int i = 0; i < k; ++i) right &= keys[of_best[i]] == best[i];
  std::sort(best, best + k);
  expect(right && std::equal(best, best + k, sorted.end() - k), "MaxPairs");
  in_two_steps([&](void* t, size_t& b) { return cub::DeviceTopK::MaxKeys(t, b, keys, best, 20, 100); });
  std::sort(best, best + 20);
  std::vector<float> few(keys, keys + 20);
  std::sort(few.begin(), few.end());
  expect(std::equal(best, best + 20, few.begin()), "MaxKeys of fewer than k");

  CHECK(cub::DeviceTransform::Fill(values, n, 7));
  CHECK(cub::DeviceTransform::Generate(best, n, [] __device__() { return 1.5f; }));
  CHECK(cub::DeviceTransform::TransformIf(keys, best, n, [] __device__(float x) { return x < 0; }, [] __device__(float x) { return -x; }));
  CHECK(cudaDeviceSynchronize());
  right = true;
  for (int i = 0; i < n; ++i) right &= values[i] == 7 && best[i] == (keys[i] < 0 ? -keys[i] : 1.5f);
  expect(right, "Fill, Generate, TransformIf");
  std::printf(wrong ? "FAILED\n" : "PASSED\n");
  return wrong != 0;
}
