// Words of 4 bytes in 32 banks. Header only: compiled code is watched by a library of its own.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace warpbeam::model {

// How many different words a warp's lanes want, in the bank that has most of them and altogether.
struct BankWords {
  unsigned most = 0, all = 0;
};

// Lanes within as many rows of banks as Bits has bits, wherever these rows begin: a bit for each.
template <class Bits, class At>
BankWords bank_words_of_rows(const At* at) {
  constexpr unsigned kRows = 8 * sizeof(Bits);
  alignas(64) Bits rows[32] = {};
  for (size_t l = 0; l < 32; ++l) rows[at[l] >> 2 & 31] |= Bits{1} << (at[l] >> 7 & (kRows - 1));
  BankWords words;
  for (const Bits row : rows) {
    const auto here = static_cast<unsigned>(std::popcount(row));
    words.most = std::max(words.most, here);
    words.all += here;
  }
  return words;
}

template <class At>
[[gnu::noinline]] BankWords bank_words_anywhere(const At* at) {
  std::array<At, 32> sorted;  // by bank
  for (size_t l = 0; l < 32; ++l) sorted[l] = std::rotr(at[l] >> 2, 5);
  std::ranges::sort(sorted);
  constexpr int kBank = 8 * sizeof(At) - 5;
  BankWords words;
  unsigned here = 0;
  for (size_t l = 0; l < 32; ++l) {
    if (l && sorted[l] == sorted[l - 1]) continue;
    here = l && sorted[l] >> kBank == sorted[l - 1] >> kBank ? here + 1 : 1;
    words.most = std::max(words.most, here);
    ++words.all;
  }
  return words;
}

// Lanes that take no part repeat one that does.
template <class At>
BankWords bank_words(const At* at) {
  using Lanes __attribute__((ext_vector_type(32))) = At;
  Lanes row;
  std::memcpy(&row, at, sizeof row);
  row >>= 7;
  const At rows = __builtin_reduce_max(row) - __builtin_reduce_min(row);
  if (rows < 32) return bank_words_of_rows<uint32_t>(at);
  if (rows < 64) return bank_words_of_rows<uint64_t>(at);
  return bank_words_anywhere(at);
}

}  // namespace warpbeam::model
