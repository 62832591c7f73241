// build: --extended-lambda
// Algorithms of newer versions of CUB than Debian's: DeviceFor, DeviceTransform, DeviceCopy, DeviceMemcpy, DeviceMerge.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <cuda/functional>
#include <cuda/std/tuple>
#include <utility>
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

struct Square {
  __device__ void operator()(int& item) const { item *= item; }
};
struct Weighted {
  __host__ __device__ int operator()(int a, short b, int c) const { return a * b + c; }
};

template <class T>
T* managed(size_t n) {
  T* items;
  CHECK(cudaMallocManaged(&items, n * sizeof(T)));
  return items;
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
  constexpr int n = 5000;
  int *a = managed<int>(n), *b = managed<int>(n), *out = managed<int>(2 * n), *tags = managed<int>(2 * n);
  short* weights = managed<short>(n);

  CHECK(cub::DeviceFor::Bulk(n, [=] __device__(int i) { a[i] = i; }));
  CHECK(cub::DeviceFor::ForEach(a, a + n, Square{}));
  CHECK(cub::DeviceFor::ForEachCopyN(a, n, [=] __device__(int item) { out[item % n] = 1; }));
  in_two_steps([&](void* storage, size_t& bytes) { return cub::DeviceFor::ForEachN(storage, bytes, a + 1, 1, Square{}); });
  CHECK(cub::DeviceFor::Bulk(0, [=] __device__(int i) { a[i] = -1; }));
  CHECK(cudaDeviceSynchronize());
  bool right = true;
  for (int i = 0; i < n; ++i) right &= a[i] == i * i;
  expect(right && out[4] == 1, "DeviceFor");

  for (int i = 0; i < n; ++i) weights[i] = static_cast<short>(i % 7), b[i] = -i;
  CHECK(cub::DeviceTransform::Transform(cuda::std::make_tuple(a, weights, b), out, n, Weighted{}));
  CHECK(cub::DeviceTransform::Transform(b, tags, n, [] __device__(int item) { return -item; }));
  CHECK(cudaDeviceSynchronize());
  right = true;
  for (int i = 0; i < n; ++i) right &= out[i] == a[i] * (i % 7) - i && tags[i] == i;
  expect(right, "DeviceTransform");

  int** from = managed<int*>(3);
  int** to = managed<int*>(3);
  size_t* sizes = managed<size_t>(3);
  for (int k = 0; k < 3; ++k) from[k] = a + 1000 * k, to[k] = out + 1500 * (2 - k), sizes[k] = 300 * k + 7;
  CHECK(cudaMemset(out, 0, 2 * n * sizeof(int)));
  in_two_steps([&](void* storage, size_t& bytes) { return cub::DeviceCopy::Batched(storage, bytes, from, to, sizes, 3); });
  expect(out[3006] == 36 && out[3007] == 0 && out[606] == 2606 * 2606 && out[607] == 0, "DeviceCopy");
  CHECK(cudaMemset(out, 0, 2 * n * sizeof(int)));
  in_two_steps([&](void* storage, size_t& bytes) { return cub::DeviceMemcpy::Batched(storage, bytes, from, to, sizes, 3); });
  int part = 1001 * 1001;
  expect(out[1501] == part && out[3000] == 0 && out[3001] == (1 & 0xffffff), "DeviceMemcpy");

  std::vector<std::pair<int, int>> wanted;
  for (int i = 0; i < n; ++i) {
    a[i] = i / 3, b[i] = i / 5;
    out[i] = i, tags[i] = 100000 + i;
    wanted.push_back({a[i], i});
  }
  for (int i = 0; i < n; ++i) wanted.push_back({b[i], 100000 + i});
  std::stable_sort(wanted.begin(), wanted.end(), [](auto x, auto y) { return x.first < y.first; });
  int *keys = managed<int>(2 * n), *values = managed<int>(2 * n);
  in_two_steps([&](void* storage, size_t& bytes) { return cub::DeviceMerge::MergePairs(storage, bytes, a, out, n, b, tags, n, keys, values); });
  right = true;
  for (int i = 0; i < 2 * n; ++i) right &= keys[i] == wanted[i].first && values[i] == wanted[i].second;
  expect(right, "DeviceMerge::MergePairs");
  in_two_steps([&](void* storage, size_t& bytes) { return cub::DeviceMerge::MergeKeys(storage, bytes, a, n, b, n, values); });
  expect(std::equal(keys, keys + 2 * n, values), "DeviceMerge::MergeKeys");

  std::printf(wrong ? "FAILED\n" : "PASSED\n");
  return wrong != 0;
}
