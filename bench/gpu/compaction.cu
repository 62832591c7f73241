// Compaction against CUB: copy_if, both partitions, unique.
#include <cub/cub.cuh>
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

// Full size, then every size asked for; `bytes_of(n)` are those read and written.
template <class Time, class Bytes>
void at_all_sizes(const std::string& name, Time time, Bytes bytes_of, const bool& right) {
  double ours, theirs;
  time(kFull, &ours, &theirs);
  report(name + ", 2^28", "GB/s", bytes_of(kFull) / ours / 1e6, bytes_of(kFull) / theirs / 1e6, "CUB", right);
  for (int power = 16; power <= 25; power += power_step()) {
    time(size_t{1} << power, &ours, &theirs);
    report(name + ", 2^" + std::to_string(power), "us", ours * 1e3, theirs * 1e3, "CUB", right);
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
  at_all_sizes("copy_if half kept, int", time, [&](size_t n) { return (n + chosen) * 4.0; }, right);

  double ours, theirs;
  auto distribution = [&](const char* name, auto make) {
    fill(in.data(), kFull, make);
    time(kFull, &ours, &theirs);
    report(std::string("copy_if, int, 2^28, ") + name, "GB/s", (kFull + chosen) * 4.0 / ours / 1e6, (kFull + chosen) * 4.0 / theirs / 1e6, "CUB", right);
  };
  distribution("first half kept", [] __device__(size_t i) { return i < kFull / 2 ? 1 : 2; });
  distribution("all kept", [] __device__(size_t) { return 1; });
  distribution("one of 256 kept", [=] __device__(size_t i) { return static_cast<int>((mix(i ^ seed) & 255) == 0); });
}

// CUB's partition puts the rejected items behind the others in reverse; ours keeps their order. In one pass that takes a
// second place for them, or else a second pass.
void partitions() {
  Array<int> in(kFull), out(kFull), rest(kFull), vendor(kFull);
  Array<long long> kept(1);
  const uint64_t seed = fresh_seed();
  fill(in.data(), kFull, [=] __device__(size_t i) { return static_cast<int>(mix(i ^ seed)); });
  std::vector<int> want, others;
  for (int x : in.download(kChecked)) (Odd{}(x) ? want : others).push_back(x);
  size_t bytes = 0, copying = 0, moving = 0;
  cub::DevicePartition::If(nullptr, bytes, in.data(), vendor.data(), kept.data(), kFull, Odd{});
  wb::partition_copy(wb::on().measure(&copying), in.data(), in.data() + kFull, out.data(), rest.data(), kept.data(), Odd{});
  wb::partition(wb::on().measure(&moving), in.data(), in.data() + kFull, out.data(), kept.data(), Odd{});
  storage.reserve(std::max(bytes, std::max(copying, moving)));

  BENCH_CHECK(wb::partition_copy(policy(), in.data(), in.data() + kChecked, out.data(), rest.data(), kept.data(), Odd{}));
  bool right = out.download(want.size()) == want && rest.download(others.size()) == others;
  BENCH_CHECK(wb::partition(policy(), in.data(), in.data() + kChecked, out.data(), kept.data(), Odd{}));
  want.insert(want.end(), others.begin(), others.end());
  right = right && out.download(kChecked) == want;

  auto theirs_of = [&](size_t n) {
    return median_ms([&] { cub::DevicePartition::If(storage.data, bytes, in.data(), vendor.data(), kept.data(), n, Odd{}); });
  };
  auto to_two = [&](size_t n, double* ours, double* theirs) {
    *theirs = theirs_of(n);
    const long long selected = kept.download()[0];
    *ours = median_ms([&] { BENCH_CHECK(wb::partition_copy(policy(), in.data(), in.data() + n, out.data(), rest.data(), kept.data(), Odd{})); });
    right = right && kept.download()[0] == selected && same(out.data(), vendor.data(), selected);
  };
  auto to_one = [&](size_t n, double* ours, double* theirs) {
    *theirs = theirs_of(n);
    const long long selected = kept.download()[0];
    *ours = median_ms([&] { BENCH_CHECK(wb::partition(policy(), in.data(), in.data() + n, out.data(), kept.data(), Odd{})); });
    right = right && kept.download()[0] == selected && same(out.data(), vendor.data(), selected);
  };
  auto bytes_of = [](size_t n) { return n * 8.0; };
  at_all_sizes("partition to two places, int", to_two, bytes_of, right);
  at_all_sizes("partition to one place, int", to_one, bytes_of, right);
}

// Runs of four equal items on average.
void uniques() {
  Array<int> in(kFull), out(kFull), vendor(kFull);
  Array<long long> kept(1);
  const uint64_t seed = fresh_seed();
  fill(in.data(), kFull, [=] __device__(size_t i) { return static_cast<int>(mix((i / 4) ^ seed) & 0xffff); });
  auto want = in.download(kChecked);
  want.erase(std::unique(want.begin(), want.end()), want.end());
  size_t bytes = 0, mine = 0;
  cub::DeviceSelect::Unique(nullptr, bytes, in.data(), vendor.data(), kept.data(), kFull);
  wb::unique(wb::on().measure(&mine), in.data(), in.data() + kFull, out.data(), kept.data());
  storage.reserve(std::max(bytes, mine));
  BENCH_CHECK(wb::unique(policy(), in.data(), in.data() + kChecked, out.data(), kept.data()));
  bool right = kept.download()[0] == static_cast<long long>(want.size()) && out.download(want.size()) == want;
  auto time = [&](size_t n, double* ours, double* theirs) {
    *theirs = median_ms([&] { cub::DeviceSelect::Unique(storage.data, bytes, in.data(), vendor.data(), kept.data(), n); });
    const long long distinct = kept.download()[0];
    out.poison();
    *ours = median_ms([&] { BENCH_CHECK(wb::unique(policy(), in.data(), in.data() + n, out.data(), kept.data())); });
    right = right && kept.download()[0] == distinct && same(out.data(), vendor.data(), distinct);
  };
  at_all_sizes("unique, int", time, [](size_t n) { return n * 5.0; }, right);
}

int main() {
  selects();
  partitions();
  uniques();
  return all_right ? 0 : 1;
}
