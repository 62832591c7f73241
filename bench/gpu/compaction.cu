// Compaction against CUB and Thrust: copy_if, the partitions, unique.
#include <cub/cub.cuh>
#include <thrust/execution_policy.h>
#include <thrust/partition.h>
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
void at_all_sizes(const std::string& name, Time time, Bytes bytes_of, const bool& right, const char* vendor = "CUB") {
  double ours, theirs;
  time(kFull, &ours, &theirs);
  report(name + ", 2^28", "GB/s", bytes_of(kFull) / ours / 1e6, bytes_of(kFull) / theirs / 1e6, vendor, right);
  for (int power = 16; power <= 25; power += power_step()) {
    time(size_t{1} << power, &ours, &theirs);
    report(name + ", 2^" + std::to_string(power), "us", ours * 1e3, theirs * 1e3, vendor, right);
  }
}

void selects() {
  Array<int> in(kFull), out(kFull), vendor(kFull);
  Array<long long> kept(2);
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
    out.poison();
    median_pair_ms([&] { BENCH_CHECK(wb::copy_if(policy(), in.data(), in.data() + n, out.data(), kept.data(), Odd{})); },
                   [&] { cub::DeviceSelect::If(storage.data, bytes, in.data(), vendor.data(), kept.data() + 1, n, Odd{}); }, ours, theirs);
    chosen = kept.download()[1];
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

// Hands out the storage that everybody uses, piece by piece, so that Thrust does not pay for allocation either.
struct FromStorage {
  using value_type = char;
  size_t used = 0, pieces = 0;
  char* allocate(std::ptrdiff_t bytes) {
    char* piece = static_cast<char*>(storage.data) + used;
    used += (static_cast<size_t>(bytes) + 255) / 256 * 256;
    if (used > storage.bytes) throw std::bad_alloc();
    ++pieces;
    return piece;
  }
  void deallocate(char*, size_t) {
    if (--pieces == 0) used = 0;
  }
};

// CUB's partition puts the rejected items behind the others in reverse, and so does ours when asked to. In their order
// they go to a second place, or else behind the selected ones in two passes; the latter is what Thrust's
// stable_partition does, in place.
void partitions() {
  Array<int> in(kFull), out(kFull), rest(kFull), vendor(kFull);
  Array<long long> kept(2);
  const uint64_t seed = fresh_seed();
  fill(in.data(), kFull, [=] __device__(size_t i) { return static_cast<int>(mix(i ^ seed)); });
  std::vector<int> want, others;
  for (int x : in.download(kChecked)) (Odd{}(x) ? want : others).push_back(x);
  size_t bytes = 0, copying = 0, moving = 0;
  cub::DevicePartition::If(nullptr, bytes, in.data(), vendor.data(), kept.data(), kFull, Odd{});
  wb::partition_copy(wb::on().measure(&copying), in.data(), in.data() + kFull, out.data(), rest.data(), kept.data(), Odd{});
  wb::partition(wb::on().measure(&moving), in.data(), in.data() + kFull, out.data(), kept.data(), Odd{});
  storage.reserve(std::max({bytes, copying, moving, kFull * 5}));

  BENCH_CHECK(wb::partition_copy(policy(), in.data(), in.data() + kChecked, out.data(), rest.data(), kept.data(), Odd{}));
  bool right = out.download(want.size()) == want && rest.download(others.size()) == others;
  auto ours_in_one = [&](size_t n, wb::RestOrder order) {
    BENCH_CHECK(wb::partition(policy(), in.data(), in.data() + n, out.data(), kept.data(), Odd{}, order));
  };
  auto both = want;
  both.insert(both.end(), others.begin(), others.end());
  ours_in_one(kChecked, wb::RestOrder::kept);
  right = right && out.download(kChecked) == both;
  std::copy(others.rbegin(), others.rend(), both.begin() + static_cast<std::ptrdiff_t>(want.size()));
  ours_in_one(kChecked, wb::RestOrder::reversed);
  right = right && out.download(kChecked) == both;

  auto theirs_of = [&](size_t n) { cub::DevicePartition::If(storage.data, bytes, in.data(), vendor.data(), kept.data() + 1, n, Odd{}); };
  auto to_two = [&](size_t n, double* ours, double* theirs) {
    out.poison();
    median_pair_ms([&] { BENCH_CHECK(wb::partition_copy(policy(), in.data(), in.data() + n, out.data(), rest.data(), kept.data(), Odd{})); },
                   [&] { theirs_of(n); }, ours, theirs);
    const auto selected = kept.download();
    right = right && selected[0] == selected[1] && same(out.data(), vendor.data(), selected[1]);
  };
  auto reversed = [&](size_t n, double* ours, double* theirs) {
    out.poison();
    median_pair_ms([&] { ours_in_one(n, wb::RestOrder::reversed); }, [&] { theirs_of(n); }, ours, theirs);
    const auto selected = kept.download();
    right = right && selected[0] == selected[1] && same(out.data(), vendor.data(), n);
  };
  auto stable = [&](size_t n, double* ours, double* theirs) {
    out.poison();
    FromStorage allocator;
    // Thrust's input is gone afterwards, so it gets a new one each time.
    const auto medians = medians_ms(
        20, [&] { cudaMemcpyAsync(vendor.data(), in.data(), n * sizeof(int), cudaMemcpyDeviceToDevice); },
        [&] { ours_in_one(n, wb::RestOrder::kept); },
        [&] { thrust::stable_partition(thrust::cuda::par_nosync(allocator), vendor.data(), vendor.data() + n, Odd{}); });
    *ours = medians[0], *theirs = medians[1];
    right = right && same(out.data(), vendor.data(), n);
  };
  auto bytes_of = [](size_t n) { return n * 8.0; };
  at_all_sizes("partition to two places, int", to_two, bytes_of, right);
  at_all_sizes("partition, rest reversed, int", reversed, bytes_of, right);
  at_all_sizes("partition, order kept, int", stable, bytes_of, right, "Thrust");
  auto distribution = [&](const char* which, auto make) {
    fill(in.data(), kFull, make);
    double ours, theirs;
    reversed(kFull, &ours, &theirs);
    report(std::string("partition, rest reversed, int, 2^28, ") + which, "GB/s", kFull * 8.0 / ours / 1e6, kFull * 8.0 / theirs / 1e6, "CUB", right);
  };
  distribution("first half selected", [] __device__(size_t i) { return i < kFull / 2 ? 1 : 2; });
  distribution("all selected", [] __device__(size_t) { return 1; });
}

// Runs of four equal items on average.
void uniques() {
  Array<int> in(kFull), out(kFull), vendor(kFull);
  Array<long long> kept(2);
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
  long long distinct = 0;
  auto time = [&](size_t n, double* ours, double* theirs) {
    out.poison();
    median_pair_ms([&] { BENCH_CHECK(wb::unique(policy(), in.data(), in.data() + n, out.data(), kept.data())); },
                   [&] { cub::DeviceSelect::Unique(storage.data, bytes, in.data(), vendor.data(), kept.data() + 1, n); }, ours, theirs);
    distinct = kept.download()[1];
    right = right && kept.download()[0] == distinct && same(out.data(), vendor.data(), distinct);
  };
  auto bytes_of = [&](size_t n) { return (n + static_cast<double>(distinct)) * 4.0; };
  at_all_sizes("unique, int", time, bytes_of, right);
  auto distribution = [&](const char* which, auto make) {
    fill(in.data(), kFull, make);
    double ours, theirs;
    time(kFull, &ours, &theirs);
    report(std::string("unique, int, 2^28, ") + which, "GB/s", bytes_of(kFull) / ours / 1e6, bytes_of(kFull) / theirs / 1e6, "CUB", right);
  };
  distribution("constant", [] __device__(size_t) { return 5; });
  distribution("all different", [] __device__(size_t i) { return static_cast<int>(i); });
}

int main() {
  selects();
  partitions();
  uniques();
  return all_right ? 0 : 1;
}
