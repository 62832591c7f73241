// Reduction and scans against CUB.
#include <cub/cub.cuh>
#include <warpbeam/algorithms/device/reduce.cuh>
#include <warpbeam/algorithms/device/scan.cuh>

#include "harness.cuh"
#include "report.h"

using namespace bench;
namespace wb = warpbeam;

constexpr size_t kFull = size_t{1} << 28;
constexpr size_t kChecked = (size_t{1} << 24) + 17;
Storage storage;
wb::Policy policy() { return wb::on().with_storage(storage.data, storage.bytes); }

template <class T>
void random_fill(T* data, size_t count) {
  uint64_t seed = fresh_seed();
  fill(data, count, [=] __device__(size_t i) { return static_cast<T>(static_cast<int>(mix(i ^ seed) % 17) - 8); });
}

void copy_ceiling() {
  Array<int> a(kFull), b(kFull);
  random_fill(a.data(), kFull);
  double ms = median_ms([&] { cudaMemcpyAsync(b.data(), a.data(), kFull * 4, cudaMemcpyDeviceToDevice); });
  report("device-to-device copy, 2^28 x 4 bytes", "GB/s", kFull * 8 / ms / 1e6, kFull * 8 / ms / 1e6, "copy", true);
}

void reduces() {
  Array<int> in(kFull), out(2);
  random_fill(in.data(), kFull);
  auto host = in.download(kChecked);
  int want = 0;
  for (int x : host) want += x;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, in.data(), out.data(), kFull);
  storage.reserve(std::max<size_t>(bytes, 1 << 20));
  BENCH_CHECK(wb::reduce_sum(policy(), in.data(), in.data() + kChecked, out.data()));
  bool right = out.download()[0] == want;
  auto time = [&](size_t n, double* ours, double* theirs) {
    median_pair_ms([&] { BENCH_CHECK(wb::reduce_sum(policy(), in.data(), in.data() + n, out.data())); },
                   [&] { cub::DeviceReduce::Sum(storage.data, bytes, in.data(), out.data() + 1, n); }, ours, theirs);
    const auto sums = out.download();
    right = right && sums[0] == sums[1];
  };
  double ours, theirs;
  time(kFull, &ours, &theirs);
  report("reduce sum, int, 2^28", "GB/s", kFull * 4 / ours / 1e6, kFull * 4 / theirs / 1e6, "CUB", right);
  for (int power = 16; power <= 25; power += power_step()) {
    time(size_t{1} << power, &ours, &theirs);
    report("reduce sum, int, 2^" + std::to_string(power), "us", ours * 1e3, theirs * 1e3, "CUB", right);
  }
}

template <class T>
void scans(const char* name) {
  Array<T> in(kFull), out(kFull), vendor(kFull);
  random_fill(in.data(), kFull);
  auto host = in.download(kChecked);
  std::vector<T> want(kChecked);
  T sum = 0;
  for (size_t i = 0; i < kChecked; ++i) want[i] = sum, sum += host[i];
  size_t bytes = 0, mine = 0;
  cub::DeviceScan::ExclusiveSum(nullptr, bytes, in.data(), out.data(), kFull);
  wb::exclusive_sum(wb::on().measure(&mine), in.data(), in.data() + kFull, out.data());
  storage.reserve(std::max(bytes, mine));
  out.poison();
  BENCH_CHECK(wb::exclusive_sum(policy(), in.data(), in.data() + kChecked, out.data()));
  bool right = out.download(kChecked) == want;
  auto time = [&](size_t n, double* ours, double* theirs) {
    out.poison();
    median_pair_ms([&] { BENCH_CHECK(wb::exclusive_sum(policy(), in.data(), in.data() + n, out.data())); },
                   [&] { cub::DeviceScan::ExclusiveSum(storage.data, bytes, in.data(), vendor.data(), n); }, ours, theirs);
    right = right && same(out.data(), vendor.data(), n);
  };
  double ours, theirs;
  time(kFull, &ours, &theirs);
  std::string title = std::string("exclusive scan, ") + name + ", 2^";
  report(title + "28", "GB/s", kFull * 2.0 * sizeof(T) / ours / 1e6, kFull * 2.0 * sizeof(T) / theirs / 1e6, "CUB", right);
  for (int power = 16; power <= 25; power += power_step()) {
    time(size_t{1} << power, &ours, &theirs);
    report(title + std::to_string(power), "us", ours * 1e3, theirs * 1e3, "CUB", right);
  }
}

int main() {
  copy_ceiling();
  reduces();
  scans<int>("int");
  scans<float>("float");
  scans<int64_t>("int64");
  return all_right ? 0 : 1;
}
