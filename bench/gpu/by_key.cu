// Scan by key and segmented reduction against CUB.
#include <cub/cub.cuh>
#include <warpbeam/algorithms/device/by_key.cuh>

#include "harness.cuh"
#include "report.h"

using namespace bench;
namespace wb = warpbeam;

constexpr size_t kFull = size_t{1} << 28;
constexpr size_t kChecked = (size_t{1} << 24) + 17;
Storage storage;
wb::Policy policy() { return wb::on().with_storage(storage.data, storage.bytes); }

void random_fill(int* data, size_t count) {
  const uint64_t seed = fresh_seed();
  fill(data, count, [=] __device__(size_t i) { return static_cast<int>(mix(i ^ seed) % 17) - 8; });
}

// Segments of 64 items on average.
template <bool kInclusive>
void scans_by_key(const std::string& name) {
  Array<int> keys(kFull), in(kFull), out(kFull), vendor(kFull);
  random_fill(in.data(), kFull);
  const uint64_t seed = fresh_seed();
  fill(keys.data(), kFull, [=] __device__(size_t i) {
    const size_t half = i / 64 * 64;  // a segment ends at a random place in every 64 items
    return static_cast<int>(i / 64 + (i - half > mix(half ^ seed) % 64));
  });
  const auto host = in.download(kChecked), segments = keys.download(kChecked);
  std::vector<int> want(kChecked);
  for (size_t i = 0, sum = 0; i < kChecked; ++i) {
    if (i > 0 && segments[i] != segments[i - 1]) sum = 0;
    want[i] = static_cast<int>(kInclusive ? sum + host[i] : sum);
    sum += host[i];
  }
  auto mine_of = [&](const wb::Policy& with, size_t n) {
    if (kInclusive) return wb::inclusive_scan_by_key(with, keys.data(), keys.data() + n, in.data(), out.data(), wb::Plus{});
    return wb::exclusive_scan_by_key(with, keys.data(), keys.data() + n, in.data(), out.data(), 0, wb::Plus{});
  };
  auto theirs_of = [&](void* memory, size_t& bytes, size_t n) {
    if (kInclusive) return cub::DeviceScan::InclusiveSumByKey(memory, bytes, keys.data(), in.data(), vendor.data(), n);
    return cub::DeviceScan::ExclusiveSumByKey(memory, bytes, keys.data(), in.data(), vendor.data(), n);
  };
  size_t bytes = 0, mine = 0;
  theirs_of(nullptr, bytes, kFull);
  mine_of(wb::on().measure(&mine), kFull);
  storage.reserve(std::max(bytes, mine));
  out.poison();
  BENCH_CHECK(mine_of(policy(), kChecked));
  bool right = out.download(kChecked) == want;
  auto time = [&](size_t n, double* ours, double* theirs) {
    out.poison();
    median_pair_ms([&] { BENCH_CHECK(mine_of(policy(), n)); }, [&] { theirs_of(storage.data, bytes, n); }, ours, theirs);
    right = right && same(out.data(), vendor.data(), n);
  };
  double ours, theirs;
  time(kFull, &ours, &theirs);
  report(name + ", 2^28", "GB/s", kFull * 12.0 / ours / 1e6, kFull * 12.0 / theirs / 1e6, "CUB", right);
  for (int power = 16; power <= 25; power += power_step()) {
    time(size_t{1} << power, &ours, &theirs);
    report(name + ", 2^" + std::to_string(power), "us", ours * 1e3, theirs * 1e3, "CUB", right);
  }
  auto distribution = [&](const char* which, auto make) {
    fill(keys.data(), kFull, make);
    time(kFull, &ours, &theirs);
    report(name + ", 2^28, " + which, "GB/s", kFull * 12.0 / ours / 1e6, kFull * 12.0 / theirs / 1e6, "CUB", right);
  };
  distribution("one segment", [] __device__(size_t) { return 7; });
  distribution("all different", [] __device__(size_t i) { return static_cast<int>(i); });
}

// Segments of random lengths between 0 and twice the average.
void segmented(long long average) {
  Array<int> in(kFull);
  random_fill(in.data(), kFull);
  const auto host = in.download(kChecked);
  const size_t most = kFull / average;
  Array<int> offsets(most + 1), out(most), vendor(most);
  const uint64_t seed = fresh_seed();
  fill(offsets.data(), most + 1, [=] __device__(size_t i) {
    if (i == 0 || i == most) return static_cast<int>(i * average);
    return static_cast<int>(i * average + mix(i ^ seed) % average);
  });
  const auto places = offsets.download();
  size_t bytes = 0;
  cub::DeviceSegmentedReduce::Sum(nullptr, bytes, in.data(), vendor.data(), static_cast<long long>(most), offsets.data(), offsets.data() + 1);
  storage.reserve(std::max<size_t>(bytes, 1 << 20));
  bool right = true;
  auto time = [&](size_t n, double* ours, double* theirs) {
    const long long segments = static_cast<long long>(n) / average;
    out.poison();
    median_pair_ms(
        [&] { BENCH_CHECK(wb::segmented_reduce(policy(), in.data(), static_cast<long long>(n), offsets.data(), segments, out.data(), 0, wb::Plus{})); },
        [&] { cub::DeviceSegmentedReduce::Sum(storage.data, bytes, in.data(), vendor.data(), segments, offsets.data(), offsets.data() + 1); },
        ours, theirs);
    right = right && same(out.data(), vendor.data(), segments);
    const auto got = out.download(segments);
    for (long long s = 0; s < segments && static_cast<size_t>(places[s + 1]) <= kChecked; ++s) {
      int sum = 0;
      for (int i = places[s]; i < places[s + 1]; ++i) sum += host[i];
      right = right && got[s] == sum;
    }
  };
  const std::string name = "segmented reduce, int, segments of " + std::to_string(average) + ", 2^";
  double ours, theirs;
  time(kFull, &ours, &theirs);
  report(name + "28", "GB/s", kFull * 4.0 / ours / 1e6, kFull * 4.0 / theirs / 1e6, "CUB", right);
  for (int power = 16; power <= 25; power += power_step()) {
    if ((size_t{1} << power) < static_cast<size_t>(average)) continue;
    time(size_t{1} << power, &ours, &theirs);
    report(name + std::to_string(power), "us", ours * 1e3, theirs * 1e3, "CUB", right);
  }
}

int main() {
  scans_by_key<true>("inclusive scan by key, int");
  scans_by_key<false>("exclusive scan by key, int");
  segmented(16);
  segmented(256);
  segmented(1 << 14);
  return all_right ? 0 : 1;
}
