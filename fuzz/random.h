// Choices that are the same for the same seed on every machine.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/values.h"

namespace warpbeam::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(mix(seed)) {}
  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }
  int between(int low, int high) { return low + static_cast<int>(below(static_cast<uint32_t>(high - low + 1))); }
  bool chance(int percent) { return below(100) < static_cast<uint32_t>(percent); }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[below(static_cast<uint32_t>(list.size()))];
  }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<uint32_t>(list.size()))];
  }

 private:
  uint64_t state_;
};

}  // namespace warpbeam::fuzz
