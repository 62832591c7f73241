// build: -I../../algorithms
#include <warpbeam/algorithms/device/bitonic.cuh>
#include <warpbeam/algorithms/device/merge_sort.cuh>
#include <warpbeam/algorithms/device/radix_sort.cuh>

#include <numeric>

#include "check.h"

namespace wb = warpbeam;
using check::Array;

template <class Key>
using Codec = wb::RadixKey<Key, wb::SortOrder::ascending>;

// Keys that sort in a known way: no NaNs, both zeros.
template <class Key>
std::vector<Key> random_keys(long long count, int few) {
  auto keys = check::random_bits<Key>(count);
  for (Key& key : keys) {
    if constexpr (wb::RadixKey<Key, wb::SortOrder::ascending>::kFloating)
      key = static_cast<Key>(static_cast<float>(static_cast<int>(check::random_source()() % 2001) - 1000) *
                             (check::random_source()() % 2 ? 0.25f : -0.25f));
    else if (few)
      key = static_cast<Key>(check::random_source()() % few);
  }
  return keys;
}

template <class Key>
void radix(long long count, int few, wb::SortOrder order, int begin_bit, int end_bit) {
  auto host = random_keys<Key>(count, few);
  std::vector<unsigned> order_of(count);
  std::iota(order_of.begin(), order_of.end(), 0u);
  using Word = typename Codec<Key>::Word;
  const Word mask = end_bit - begin_bit >= Codec<Key>::kBits ? static_cast<Word>(~Word{0})
                                                             : static_cast<Word>((Word{1} << (end_bit - begin_bit)) - 1);
  auto word = [&](const Key& key) { return static_cast<Word>(static_cast<Word>(Codec<Key>::encode(key) >> begin_bit) & mask); };
  auto before = order_of;
  std::stable_sort(order_of.begin(), order_of.end(), [&](unsigned a, unsigned b) {
    return order == wb::SortOrder::ascending ? word(host[a]) < word(host[b]) : word(host[b]) < word(host[a]);
  });
  std::vector<Key> want(count);
  for (long long i = 0; i < count; ++i) want[i] = host[order_of[i]];
  Array<Key> in(host), out(count);
  Array<unsigned> values(before), values_out(count);
  CHECK_CUDA(wb::sort_keys(wb::on(), in.data(), out.data(), count, order, begin_bit, end_bit));
  CHECK_EQUAL(out.host(), want);
  CHECK_CUDA(wb::sort_pairs(wb::on(), in.data(), out.data(), values.data(), values_out.data(), count, order, begin_bit, end_bit));
  CHECK_EQUAL(out.host(), want);
  CHECK_EQUAL(values_out.host(), order_of);
  CHECK_EQUAL(in.host(), host);
  if constexpr (std::is_same_v<Key, unsigned>) {
    // Tile counts of 64 bits, which inputs of 2^30 keys and more need.
    if (order != wb::SortOrder::ascending) return;
    using Wide = unsigned long long;
    const wb::NoValue* none = nullptr;
    Array<Key> wide(count);
    CHECK_CUDA((wb::detail::radix_sort<wb::DefaultRadixTuning<Key, wb::NoValue>, Codec<Key>, Wide>(
        wb::on(), in.data(), wide.data(), none, const_cast<wb::NoValue*>(none), count, begin_bit, end_bit)));
    CHECK_EQUAL(wide.host(), want);
    Array<unsigned> wide_values(count);
    CHECK_CUDA((wb::detail::radix_sort<wb::DefaultRadixTuning<Key, unsigned>, Codec<Key>, Wide>(
        wb::on(), in.data(), wide.data(), values.data(), wide_values.data(), count, begin_bit, end_bit)));
    CHECK_EQUAL(wide.host(), want);
    CHECK_EQUAL(wide_values.host(), order_of);
  }
}

// Both orders have kernels of their own, which the fast engine compiles for long: all types go up; each width and each way
// to encode keys also goes down, where radix_all is asked for.
template <class Key>
void radix_up(long long count) {
  constexpr int kBits = 8 * sizeof(Key);
  radix<Key>(count, 0, wb::SortOrder::ascending, 0, kBits);
  radix<Key>(count, 3, wb::SortOrder::ascending, 0, kBits);
}

template <class Key>
void radix_all(long long count) {
  constexpr int kBits = 8 * sizeof(Key);
  radix<Key>(count, 0, wb::SortOrder::ascending, 0, kBits);
  radix<Key>(count, 3, wb::SortOrder::descending, 0, kBits);
}

struct LowBits {
  __host__ __device__ bool operator()(unsigned a, unsigned b) const { return (a & 0xff) < (b & 0xff); }
};

// Few items are merged without tiles; these make tiles of few items instead, cut beforehand or by themselves.
using SmallTiles = wb::MergeTuning<64, 5, 1, wb::MergeBy::cuts>;
using SmallTilesOwnCuts = wb::MergeTuning<64, 5, 1, wb::MergeBy::own_cuts>;

template <class Key, class Compare>
void merges(long long count, Compare less) {
  auto host = check::random_bits<Key>(count);
  std::vector<unsigned> order_of(count);
  std::iota(order_of.begin(), order_of.end(), 0u);
  auto before = order_of;
  std::stable_sort(order_of.begin(), order_of.end(), [&](unsigned a, unsigned b) { return less(host[a], host[b]); });
  std::vector<Key> want(count);
  for (long long i = 0; i < count; ++i) want[i] = host[order_of[i]];
  Array<Key> in(host), out(count);
  Array<unsigned> values(before), values_out(count);
  CHECK_CUDA(wb::merge_sort_keys(wb::on(), in.data(), out.data(), count, less));
  CHECK_EQUAL(out.host(), want);
  CHECK_CUDA(wb::merge_sort_pairs(wb::on(), in.data(), out.data(), values.data(), values_out.data(), count, less));
  CHECK_EQUAL(out.host(), want);
  CHECK_EQUAL(values_out.host(), order_of);
  Array<Key> small_out(count);
  Array<unsigned> small_values_out(count);
  auto in_tiles = [&](auto tuning) {
    using Tuning = decltype(tuning);
    CHECK_CUDA(wb::merge_sort_keys<Tuning>(wb::on(), in.data(), small_out.data(), count, less));
    CHECK_EQUAL(small_out.host(), want);
    CHECK_CUDA(wb::merge_sort_pairs<Tuning>(wb::on(), in.data(), small_out.data(), values.data(), small_values_out.data(), count, less));
    CHECK_EQUAL(small_out.host(), want);
    CHECK_EQUAL(small_values_out.host(), order_of);
  };
  in_tiles(SmallTiles{});
  in_tiles(SmallTilesOwnCuts{});

  const long long split = count / 3;
  auto a = std::vector<Key>(host.begin(), host.begin() + split), b = std::vector<Key>(host.begin() + split, host.end());
  std::stable_sort(a.begin(), a.end(), less);
  std::stable_sort(b.begin(), b.end(), less);
  Array<Key> da(a), db(b);
  std::merge(a.begin(), a.end(), b.begin(), b.end(), want.begin(), less);
  CHECK_CUDA(wb::merge(wb::on(), da.data(), static_cast<long long>(a.size()), db.data(), static_cast<long long>(b.size()), out.data(), less));
  CHECK_EQUAL(out.host(), want);
}

void bitonic(long long count) {
  constexpr int kTile = 512;
  auto host = check::random_bits<unsigned>(count);
  Array<unsigned> keys(host);
  for (int sorted : {1, 64}) {
    auto start = host, want = host;
    for (long long i = 0; i < count; i += sorted) std::sort(start.begin() + i, start.begin() + std::min(count, i + sorted));
    for (long long i = 0; i < count; i += kTile) std::sort(want.begin() + i, want.begin() + std::min(count, i + kTile));
    Array<unsigned> tiles(start);
    CHECK_CUDA(wb::bitonic_merge_tiles<kTile>(wb::on(), tiles.data(), count, sorted, ~0u));
    CHECK_EQUAL(tiles.host(), want);
  }
}

int main() {
  for (long long count : check::kSizes) {
    radix_all<unsigned>(count);
    radix_up<int>(count);
    radix_all<float>(count);
    radix_all<unsigned char>(count);
    radix_all<short>(count);
    radix_all<long long>(count);
    radix_all<double>(count);
    radix<unsigned>(count, 0, wb::SortOrder::ascending, 3, 17);
    radix<long long>(count, 0, wb::SortOrder::descending, 5, 40);
    radix<float>(count, 0, wb::SortOrder::descending, 16, 32);
    radix<unsigned>(count, 0, wb::SortOrder::ascending, 5, 5);
    merges<unsigned>(count, wb::Less{});
    merges<unsigned>(count, LowBits{});
    merges<long long>(count, wb::Less{});
    bitonic(count);
  }
  for (long long count : {0LL, 1LL, 31LL, 4097LL}) {
    radix_up<__half>(count);
    radix_up<signed char>(count);
    radix_up<unsigned short>(count);
    radix_up<unsigned long long>(count);
  }
  radix_all<unsigned>(check::kLarge);
  merges<unsigned>(check::kLarge, wb::Less{});
  return check::result("sort");
}
