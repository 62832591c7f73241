// How many different words of shared memory a warp's lanes want, in the bank that has most of them and altogether.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "jit/watch.h"

namespace warpbeam::jit {
namespace {

using Lanes __attribute__((ext_vector_type(32))) = uint32_t;

constexpr int kRow = 7;  // banks of 4 bytes, 32 to a row

struct Words {
  uint32_t most = 0, all = 0;
};

// Lanes within 32 rows, wherever these begin: a bit for each.
Words of_rows(const uint32_t* places) {
  alignas(64) uint32_t rows[32] = {};
  for (size_t l = 0; l < 32; ++l) rows[places[l] >> 2 & 31] |= 1u << (places[l] >> kRow & 31);
  Words words;
  for (const uint32_t row : rows) {
    const auto n = static_cast<uint32_t>(std::popcount(row));
    words.most = std::max(words.most, n);
    words.all += n;
  }
  return words;
}

Words of_any(const uint32_t* places) {
  std::array<uint32_t, 32> sorted;  // by bank
  for (size_t l = 0; l < 32; ++l) sorted[l] = std::rotr(places[l] >> 2, 5);
  std::ranges::sort(sorted);
  Words words;
  uint32_t here = 0;
  for (size_t l = 0; l < 32; ++l) {
    if (l && sorted[l] == sorted[l - 1]) continue;
    here = l && sorted[l] >> 27 == sorted[l - 1] >> 27 ? here + 1 : 1;
    words.most = std::max(words.most, here);
    ++words.all;
  }
  return words;
}

}  // namespace

extern "C" void wb_count_banks(uint64_t* counters, const uint32_t* places) {
  Lanes at;
  std::memcpy(&at, places, sizeof at);
  const Lanes row = at >> kRow;
  const Words words = __builtin_reduce_max(row) - __builtin_reduce_min(row) < 32 ? of_rows(places) : of_any(places);
  counters[0] += 1;
  counters[1] += words.most;
  counters[2] += words.all;
}

}  // namespace warpbeam::jit
