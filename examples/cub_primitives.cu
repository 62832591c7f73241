// needs: /usr/include/cub/version.cuh
// cub_primitives: CUB as Debian packages it (libcub-dev): device-wide sort, scan, reduce, select and histogram, and the
// same building blocks for one block and one warp.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

int failures = 0;
void report(const char* what, bool right) {
  std::printf("%-28s %s\n", what, right ? "right" : "WRONG");
  failures += !right;
}

// Device-wide functions are called twice: first for the size of their temporary memory.
template <class Body>
void device_wide(Body body) {
  size_t bytes = 0;
  void* memory = nullptr;
  CHECK(body(memory, bytes));
  CHECK(cudaMalloc(&memory, bytes));
  CHECK(body(memory, bytes));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(memory));
}

template <class T>
std::vector<T> fetch(const T* from, int n) {
  std::vector<T> values(n);
  CHECK(cudaMemcpy(values.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

__global__ void block_and_warp(const int* in, int* sum, int* scan, int* warp_scan) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::BlockScan<int, 128>;
  using WarpScan = cub::WarpScan<int>;
  __shared__ union {
    Reduce::TempStorage reduce;
    Scan::TempStorage scan;
    WarpScan::TempStorage warps[4];
  } memory;
  int value = in[threadIdx.x], total = Reduce(memory.reduce).Sum(value), before, inside;
  if (threadIdx.x == 0) *sum = total;
  __syncthreads();
  Scan(memory.scan).ExclusiveSum(value, before);
  scan[threadIdx.x] = before;
  __syncthreads();
  WarpScan(memory.warps[threadIdx.x / 32]).InclusiveSum(value, inside);
  warp_scan[threadIdx.x] = inside;
}

struct Small {
  __host__ __device__ bool operator()(int x) const { return x < 100; }
};

int main() {
  const int n = 3000;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = (i * 7919 + 13) % 503;
  int *in, *out, *count;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  CHECK(cudaMalloc(&count, 512 * sizeof(int)));
  CHECK(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  device_wide([&](void* m, size_t& b) { return cub::DeviceRadixSort::SortKeys(m, b, in, out, n); });
  std::vector<int> sorted = host;
  std::sort(sorted.begin(), sorted.end());
  report("DeviceRadixSort", fetch(out, n) == sorted);

  device_wide([&](void* m, size_t& b) { return cub::DeviceReduce::Sum(m, b, in, count, n); });
  report("DeviceReduce::Sum", fetch(count, 1)[0] == std::accumulate(host.begin(), host.end(), 0));
  device_wide([&](void* m, size_t& b) { return cub::DeviceReduce::Max(m, b, in, count, n); });
  report("DeviceReduce::Max", fetch(count, 1)[0] == *std::max_element(host.begin(), host.end()));

  device_wide([&](void* m, size_t& b) { return cub::DeviceScan::InclusiveSum(m, b, in, out, n); });
  std::vector<int> sums(n);
  std::partial_sum(host.begin(), host.end(), sums.begin());
  report("DeviceScan", fetch(out, n) == sums);

  device_wide([&](void* m, size_t& b) { return cub::DeviceSelect::If(m, b, in, out, count, n, Small()); });
  std::vector<int> small;
  std::copy_if(host.begin(), host.end(), std::back_inserter(small), Small());
  report("DeviceSelect::If", fetch(count, 1)[0] == int(small.size()) && fetch(out, int(small.size())) == small);

  device_wide([&](void* m, size_t& b) { return cub::DeviceHistogram::HistogramEven(m, b, in, count, 11, 0, 510, n); });
  std::vector<int> bins(10);
  for (int v : host) ++bins[v / 51];
  report("DeviceHistogram", fetch(count, 10) == bins);

  int* warps = out + 1000;
  block_and_warp<<<1, 128>>>(in, count, out, warps);
  CHECK(cudaDeviceSynchronize());
  report("BlockReduce", fetch(count, 1)[0] == sums[127]);
  bool scan_right = true, warp_right = true;
  auto scan = fetch(out, 128), warp = fetch(warps, 128);
  for (int i = 0; i < 128; ++i) {
    scan_right = scan_right && scan[i] == (i ? sums[i - 1] : 0);
    warp_right = warp_right && warp[i] == sums[i] - (i >= 32 ? sums[i / 32 * 32 - 1] : 0);
  }
  report("BlockScan", scan_right);
  report("WarpScan", warp_right);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFree(count));
  return failures;
}
