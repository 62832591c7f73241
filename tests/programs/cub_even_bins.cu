// build: --cccl none
// Histograms of even bins: whole numbers whose range the bins do not divide, bytes, floats, ranges wider than their type.
#include <algorithm>
#include <cstdio>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>

int bad = 0;

template <class Sample, class Level>
void expect(const char* name, const std::vector<Sample>& samples, Level lower, Level upper, std::vector<int> want) {
  const int bins = static_cast<int>(want.size());
  Sample* in;
  int* out;
  cudaMallocManaged(&in, samples.size() * sizeof(Sample));
  cudaMallocManaged(&out, (bins + 1) * sizeof(int));
  std::copy(samples.begin(), samples.end(), in);
  out[bins] = -7;  // behind the last bin
  void* storage = nullptr;
  size_t bytes = 0;
  for (int pass = 0; pass < 2; ++pass) {
    cub::DeviceHistogram::HistogramEven(storage, bytes, in, out, bins + 1, lower, upper, static_cast<int>(samples.size()));
    if (pass == 0) cudaMalloc(&storage, bytes);
  }
  const cudaError_t status = cudaDeviceSynchronize();
  want.push_back(-7);
  if (status != cudaSuccess || !std::equal(want.begin(), want.end(), out)) std::printf("%s: %s\n", name, cudaGetErrorString(status)), ++bad;
  cudaFree(in), cudaFree(out), cudaFree(storage);
}

int main() {
  std::vector<int> whole(1009);
  std::iota(whole.begin(), whole.end(), 0);
  expect("a fourth of 1009", whole, 0, 1009, {253, 252, 252, 252});
  expect("many bins", whole, 0, 900, std::vector<int>(300, 3));
  std::vector<unsigned char> bytes(256);
  std::iota(bytes.begin(), bytes.end(), 0);
  expect("a tenth of a byte", bytes, 0, 256, {26, 26, 25, 26, 25, 26, 26, 25, 26, 25});
  expect("shorts", std::vector<short>{-3, -2, -1, 0, 1, 2, 3}, short(-3), short(4), {3, 2, 2});
  expect("all of int", std::vector<int>{-2147483647, 2147483646, 0, -5, 5}, -2147483647 - 1, 2147483647, {2, 3});
  expect("long", std::vector<long long>{0, 1ll << 40, (1ll << 41) - 1}, 0ll, 1ll << 41, {1, 1, 1});
  std::vector<float> hundredths;
  for (int i = 0; i < 1000; ++i) hundredths.push_back(i * 0.01f + 0.001f);
  expect("floats", hundredths, 0.0f, 10.0f, std::vector<int>(10, 100));
  expect("floats between whole levels", hundredths, 0, 10, {250, 250, 250, 250});
  expect("double", std::vector<double>{0.1, 0.5, 0.9, 1.5}, 0.0, 1.0, {1, 2});
  std::puts(bad ? "FAILED" : "PASSED");
  return bad != 0;
}
