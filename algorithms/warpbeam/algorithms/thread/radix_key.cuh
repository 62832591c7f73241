// Keys as unsigned words whose numeric order is the order of the sort.
#pragma once

#include <cuda_fp16.h>

#include "../config.cuh"

namespace warpbeam {

enum class SortOrder { ascending, descending };

namespace detail {

template <size_t kBytes>
struct WordOf;
template <>
struct WordOf<1> {
  using type = uint8_t;
};
template <>
struct WordOf<2> {
  using type = uint16_t;
};
template <>
struct WordOf<4> {
  using type = uint32_t;
};
template <>
struct WordOf<8> {
  using type = unsigned long long;
};

}  // namespace detail

template <class Key, SortOrder kOrder>
struct RadixKey {
  using Word = typename detail::WordOf<sizeof(Key)>::type;
  static constexpr int kBits = 8 * sizeof(Key);
  static constexpr bool kFloating = std::is_floating_point_v<Key> || std::is_same_v<Key, __half>;
  // Whether keys with equal words are equal bit by bit.
  static constexpr bool kDistinct = !kFloating;
  static constexpr Word kSign = static_cast<Word>(Word{1} << (kBits - 1));

  __host__ __device__ static Word encode(Key key) {
    Word word;
    __builtin_memcpy(&word, &key, sizeof(Key));
    if constexpr (kFloating) {
      // Minus zero and zero are equal, so they must be one word or stability would separate them.
      if (word == kSign) word = 0;
      word ^= word & kSign ? static_cast<Word>(~Word{0}) : kSign;
    } else if constexpr (std::is_signed_v<Key>) {
      word ^= kSign;
    }
    return kOrder == SortOrder::descending ? static_cast<Word>(~word) : word;
  }

  // A key whose word is all ones: nothing sorts behind it.
  __host__ __device__ static Key last() {
    Word word = kOrder == SortOrder::descending ? Word{0} : static_cast<Word>(~Word{0});
    if constexpr (kFloating) {
      word ^= word & kSign ? kSign : static_cast<Word>(~Word{0});
    } else if constexpr (std::is_signed_v<Key>) {
      word ^= kSign;
    }
    Key key;
    __builtin_memcpy(&key, &word, sizeof(Key));
    return key;
  }
};

}  // namespace warpbeam
