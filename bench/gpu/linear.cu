// Reduction, scans and compaction against CUB.
#include <cub/cub.cuh>
#include <warpbeam/algorithms/device/reduce.cuh>
#include <warpbeam/algorithms/device/scan.cuh>
#include <warpbeam/algorithms/device/select.cuh>

#include "harness.cuh"
#include "report.h"

using namespace bench;
namespace wb = warpbeam;

constexpr size_t kFull = size_t{1} << 28;
constexpr size_t kChecked = (size_t{1} << 24) + 17;
Storage storage;
wb::Policy policy() { return wb::on().with_storage(storage.data, storage.bytes); }

struct Odd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};

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
    *theirs = median_ms([&] { cub::DeviceReduce::Sum(storage.data, bytes, in.data(), out.data(), n); });
    int vendor = out.download()[0];
    *ours = median_ms([&] { BENCH_CHECK(wb::reduce_sum(policy(), in.data(), in.data() + n, out.data())); });
    right = right && out.download()[0] == vendor;
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
    *theirs = median_ms([&] { cub::DeviceScan::ExclusiveSum(storage.data, bytes, in.data(), vendor.data(), n); });
    out.poison();
    *ours = median_ms([&] { BENCH_CHECK(wb::exclusive_sum(policy(), in.data(), in.data() + n, out.data())); });
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

void selects() {
  Array<int> in(kFull), out(kFull), vendor(kFull);
  Array<long long> kept(1);
  uint64_t seed = fresh_seed();
  fill(in.data(), kFull, [=] __device__(size_t i) { return static_cast<int>(mix(i ^ seed)); });
  auto host = in.download(kChecked);
  std::vector<int> want;
  for (int x : host)
    if (Odd{}(x)) want.push_back(x);
  size_t bytes = 0, mine = 0;
  cub::DeviceSelect::If(nullptr, bytes, in.data(), out.data(), kept.data(), kFull, Odd{});
  wb::copy_if(wb::on().measure(&mine), in.data(), in.data() + kFull, out.data(), kept.data(), Odd{});
  storage.reserve(std::max(bytes, mine));
  BENCH_CHECK(wb::copy_if(policy(), in.data(), in.data() + kChecked, out.data(), kept.data(), Odd{}));
  bool right = kept.download()[0] == static_cast<long long>(want.size()) && out.download(want.size()) == want;
  size_t chosen = 0;
  auto time = [&](size_t n, double* ours, double* theirs) {
    *theirs = median_ms([&] { cub::DeviceSelect::If(storage.data, bytes, in.data(), vendor.data(), kept.data(), n, Odd{}); });
    chosen = kept.download()[0];
    out.poison();
    *ours = median_ms([&] { BENCH_CHECK(wb::copy_if(policy(), in.data(), in.data() + n, out.data(), kept.data(), Odd{})); });
    right = right && kept.download()[0] == static_cast<long long>(chosen) && same(out.data(), vendor.data(), chosen);
  };
  double ours, theirs;
  time(kFull, &ours, &theirs);
  report("copy_if half kept, int, 2^28", "GB/s", (kFull + chosen) * 4.0 / ours / 1e6, (kFull + chosen) * 4.0 / theirs / 1e6, "CUB", right);
  for (int power = 16; power <= 25; power += power_step()) {
    time(size_t{1} << power, &ours, &theirs);
    report("copy_if half kept, int, 2^" + std::to_string(power), "us", ours * 1e3, theirs * 1e3, "CUB", right);
  }

  auto distribution = [&](const char* name, auto make) {
    fill(in.data(), kFull, make);
    time(kFull, &ours, &theirs);
    report(std::string("copy_if, int, 2^28, ") + name, "GB/s", (kFull + chosen) * 4.0 / ours / 1e6, (kFull + chosen) * 4.0 / theirs / 1e6, "CUB", right);
  };
  distribution("first half kept", [] __device__(size_t i) { return i < kFull / 2 ? 1 : 2; });
  distribution("all kept", [] __device__(size_t) { return 1; });
  distribution("one of 256 kept", [=] __device__(size_t i) { return static_cast<int>((mix(i ^ seed) & 255) == 0); });
}

int main() {
  copy_ceiling();
  reduces();
  scans<int>("int");
  scans<float>("float");
  scans<int64_t>("int64");
  selects();
  return all_right ? 0 : 1;
}
