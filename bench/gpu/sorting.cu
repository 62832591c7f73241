// Radix sort, merge sort and histograms against CUB.
#include <cub/cub.cuh>
#include <warpbeam/algorithms/device/histogram.cuh>
#include <warpbeam/algorithms/device/merge_sort.cuh>
#include <warpbeam/algorithms/device/radix_sort.cuh>

#include "harness.cuh"
#include "report.h"

using namespace bench;
namespace wb = warpbeam;

constexpr size_t kFull = size_t{1} << 28;
constexpr size_t kChecked = (size_t{1} << 22) + 17;
Storage storage;
wb::Policy policy() { return wb::on().with_storage(storage.data, storage.bytes); }

void radix_and_merge() {
  Array<uint32_t> keys(kFull), values(kFull), out(kFull), values_out(kFull), vendor(kFull), vendor_values(kFull);
  uint64_t seed = fresh_seed();
  fill(keys.data(), kFull, [=] __device__(size_t i) { return static_cast<uint32_t>(mix(i ^ seed)); });
  fill(values.data(), kFull, [] __device__(size_t i) { return static_cast<uint32_t>(i); });
  size_t bytes = 0, mine = 0, merging = 0, merging_mine = 0;
  cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys.data(), out.data(), values.data(), values_out.data(), kFull);
  wb::sort_pairs(wb::on().measure(&mine), keys.data(), out.data(), values.data(), values_out.data(), static_cast<long long>(kFull));
  cub::DeviceMergeSort::SortKeysCopy(nullptr, merging, keys.data(), out.data(), kFull, wb::Less{});
  wb::merge_sort_keys(wb::on().measure(&merging_mine), keys.data(), out.data(), static_cast<long long>(kFull));
  storage.reserve(std::max(std::max(bytes, mine), std::max(merging, merging_mine)));

  auto host = keys.download(kChecked);
  std::vector<uint32_t> order(kChecked), sorted(kChecked);
  for (size_t i = 0; i < kChecked; ++i) order[i] = static_cast<uint32_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return host[a] < host[b]; });
  for (size_t i = 0; i < kChecked; ++i) sorted[i] = host[order[i]];
  out.poison();
  BENCH_CHECK(wb::sort_keys(policy(), keys.data(), out.data(), static_cast<long long>(kChecked)));
  bool keys_right = out.download(kChecked) == sorted;
  out.poison();
  BENCH_CHECK(wb::sort_pairs(policy(), keys.data(), out.data(), values.data(), values_out.data(), static_cast<long long>(kChecked)));
  bool pairs_right = out.download(kChecked) == sorted && values_out.download(kChecked) == order;
  out.poison();
  BENCH_CHECK(wb::merge_sort_keys(policy(), keys.data(), out.data(), static_cast<long long>(kChecked)));
  bool merge_right = out.download(kChecked) == sorted;

  auto sort_keys = [&](size_t n, double* ours, double* theirs) {
    out.poison();
    median_pair_ms([&] { BENCH_CHECK(wb::sort_keys(policy(), keys.data(), out.data(), static_cast<long long>(n))); },
                   [&] { cub::DeviceRadixSort::SortKeys(storage.data, bytes, keys.data(), vendor.data(), n); }, ours, theirs);
    keys_right = keys_right && same(out.data(), vendor.data(), n);
  };
  double ours, theirs;
  sort_keys(kFull, &ours, &theirs);
  report("radix sort keys, uint32, 2^28", "Gkey/s", kFull / ours / 1e6, kFull / theirs / 1e6, "CUB", keys_right);
  for (int power = 16; power <= 25; power += power_step()) {
    sort_keys(size_t{1} << power, &ours, &theirs);
    report("radix sort keys, uint32, 2^" + std::to_string(power), "us", ours * 1e3, theirs * 1e3, "CUB", keys_right);
  }
  auto sort_pairs = [&](size_t n) {
    out.poison();
    values_out.poison();
    median_pair_ms(
        [&] { BENCH_CHECK(wb::sort_pairs(policy(), keys.data(), out.data(), values.data(), values_out.data(), static_cast<long long>(n))); },
        [&] { cub::DeviceRadixSort::SortPairs(storage.data, bytes, keys.data(), vendor.data(), values.data(), vendor_values.data(), n); },
        &ours, &theirs);
    pairs_right = pairs_right && same(out.data(), vendor.data(), n) && same(values_out.data(), vendor_values.data(), n);
  };
  sort_pairs(kFull);
  report("radix sort pairs, uint32 + uint32, 2^28", "Gpair/s", kFull / ours / 1e6, kFull / theirs / 1e6, "CUB", pairs_right);
  for (int power = 16; power <= 25; power += power_step()) {
    sort_pairs(size_t{1} << power);
    report("radix sort pairs, uint32 + uint32, 2^" + std::to_string(power), "us", ours * 1e3, theirs * 1e3, "CUB", pairs_right);
  }

  auto merge_sort = [&](size_t n) {
    out.poison();
    median_pair_ms([&] { BENCH_CHECK(wb::merge_sort_keys(policy(), keys.data(), out.data(), static_cast<long long>(n))); },
                   [&] { cub::DeviceMergeSort::SortKeysCopy(storage.data, merging, keys.data(), vendor.data(), n, wb::Less{}); }, &ours, &theirs);
    merge_right = merge_right && same(out.data(), vendor.data(), n);
  };
  merge_sort(kFull);
  report("merge sort keys, uint32, 2^28", "Gkey/s", kFull / ours / 1e6, kFull / theirs / 1e6, "CUB", merge_right);
  for (int power = 16; power <= 25; power += power_step()) {
    merge_sort(size_t{1} << power);
    report("merge sort keys, uint32, 2^" + std::to_string(power), "us", ours * 1e3, theirs * 1e3, "CUB", merge_right);
  }

  // Other distributions.
  auto distribution = [&](const char* name, auto make) {
    fill(keys.data(), kFull, make);
    const std::string which = std::string(", uint32, 2^28, ") + name;
    sort_keys(kFull, &ours, &theirs);
    report("radix sort keys" + which, "Gkey/s", kFull / ours / 1e6, kFull / theirs / 1e6, "CUB", keys_right);
    sort_pairs(kFull);
    report("radix sort pairs" + which, "Gpair/s", kFull / ours / 1e6, kFull / theirs / 1e6, "CUB", pairs_right);
    merge_sort(kFull);
    report("merge sort keys" + which, "Gkey/s", kFull / ours / 1e6, kFull / theirs / 1e6, "CUB", merge_right);
  };
  distribution("constant", [] __device__(size_t) { return 12345u; });
  distribution("sorted", [] __device__(size_t i) { return static_cast<uint32_t>(i * 16); });
  distribution("skewed", [=] __device__(size_t i) { return static_cast<uint32_t>(mix(i ^ seed) & mix(i + seed) & mix(i * 3 + seed)); });
}

void histograms() {
  Array<unsigned char> samples(kFull);
  Array<unsigned> counts(256), vendor(256);
  uint64_t seed = fresh_seed();
  size_t bytes = 0;
  cub::DeviceHistogram::HistogramEven(nullptr, bytes, samples.data(), vendor.data(), 257, 0, 256, kFull);
  storage.reserve(bytes);
  auto run = [&](const std::string& name, size_t n, bool time_only) {
    double ours, theirs;
    counts.poison();
    median_pair_ms([&] { BENCH_CHECK(wb::histogram_even(wb::on(), samples.data(), static_cast<long long>(n), counts.data(), 256, 0, 256)); },
                   [&] { cub::DeviceHistogram::HistogramEven(storage.data, bytes, samples.data(), vendor.data(), 257, 0, 256, n); }, &ours, &theirs);
    auto host = samples.download(n);
    std::vector<unsigned> want(256);
    for (unsigned char x : host) ++want[x];
    bool right = counts.download() == want;
    if (time_only) {
      report(name, "us", ours * 1e3, theirs * 1e3, "CUB", right);
    } else {
      report(name, "GB/s", n / ours / 1e6, n / theirs / 1e6, "CUB", right);
    }
  };
  fill(samples.data(), kFull, [=] __device__(size_t i) { return static_cast<unsigned char>(mix(i ^ seed) >> 9); });
  run("histogram, 256 bins, uniform bytes, 2^28", kFull, false);
  for (int power = 16; power <= 25; power += power_step())
    run("histogram, 256 bins, uniform bytes, 2^" + std::to_string(power), size_t{1} << power, true);
  fill(samples.data(), kFull, [=] __device__(size_t i) { return static_cast<unsigned char>(mix(i ^ seed) & mix(i + seed) & mix(i * 5 + seed)); });
  run("histogram, 256 bins, skewed bytes, 2^28", kFull, false);
  fill(samples.data(), kFull, [] __device__(size_t) { return static_cast<unsigned char>(77); });
  run("histogram, 256 bins, constant bytes, 2^28", kFull, false);
}

int main() {
  radix_and_merge();
  histograms();
  return all_right ? 0 : 1;
}
