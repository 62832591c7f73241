// Content hashing for cache keys and unique names: 128 bits of multiply-and-fold. Not meant to resist an attacker.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace warpbeam::compiler {

class Hasher {
 public:
  void add(std::string_view bytes);
  std::string hex() const;        // 32 digits
  std::string short_hex() const;  // 16 digits
 private:
  uint64_t low_ = 0x9e3779b97f4a7c15u;
  uint64_t high_ = 0xc2b2ae3d27d4eb4fu;
};

}  // namespace warpbeam::compiler
