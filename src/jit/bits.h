// A set of small numbers.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

namespace warpbeam::jit {

class Bits {
 public:
  explicit Bits(size_t n = 0) : words_((n + 63) / 64) {}
  bool has(size_t k) const { return words_[k / 64] >> (k % 64) & 1; }
  void add(size_t k) { words_[k / 64] |= uint64_t(1) << (k % 64); }
  void remove(size_t k) { words_[k / 64] &= ~(uint64_t(1) << (k % 64)); }
  // True when something was new.
  bool add(const Bits& other) {
    uint64_t fresh = 0;
    for (size_t k = 0; k < words_.size(); ++k) {
      fresh |= other.words_[k] & ~words_[k];
      words_[k] |= other.words_[k];
    }
    return fresh;
  }
  void remove(const Bits& other) {
    for (size_t k = 0; k < words_.size(); ++k) words_[k] &= ~other.words_[k];
  }
  bool empty() const {
    for (uint64_t w : words_)
      if (w) return false;
    return true;
  }
  bool operator==(const Bits&) const = default;
  template <class F>
  void each(F f) const {
    for (size_t k = 0; k < words_.size(); ++k)
      for (uint64_t left = words_[k]; left; left &= left - 1) f(k * 64 + static_cast<size_t>(std::countr_zero(left)));
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace warpbeam::jit
