// ldmatrix and stmatrix: eight rows of 16 bytes, each at an address of its own, to or from a register of 32 lanes. Header only:
// compiled code is made in a library of its own.
#pragma once
#include <cstdint>
#include <cstring>
#include <utility>

namespace warpbeam::vm {

namespace rows {
using Block __attribute__((ext_vector_type(64))) = uint16_t;
// Lane 4g + t holds elements g of rows 2t and 2t + 1. Done twice it changes nothing.
template <int... l>
inline void transpose(const void* from, void* to, std::integer_sequence<int, l...>) {
  Block v;
  std::memcpy(&v, from, sizeof v);
  v = __builtin_shufflevector(v, v, (l % 8 * 8 + l / 8)...);
  std::memcpy(to, &v, sizeof v);
}
}  // namespace rows

inline void load_rows(std::byte* const* row, bool transposed, void* lanes) {
  std::byte block[8][16];
  for (int r = 0; r < 8; ++r) std::memcpy(block[r], row[r], sizeof block[r]);
  if (transposed) rows::transpose(block, lanes, std::make_integer_sequence<int, 64>{});
  else std::memcpy(lanes, block, sizeof block);
}
inline void store_rows(std::byte* const* row, bool transposed, const void* lanes) {
  std::byte block[8][16];
  if (transposed) rows::transpose(lanes, block, std::make_integer_sequence<int, 64>{});
  else std::memcpy(block, lanes, sizeof block);
  for (int r = 0; r < 8; ++r) std::memcpy(row[r], block[r], sizeof block[r]);
}

}  // namespace warpbeam::vm
