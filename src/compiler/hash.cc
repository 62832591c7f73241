#include "compiler/hash.h"

#include <fmt/format.h>

#include <cstring>

namespace warpbeam::compiler {

namespace {

uint64_t mix(uint64_t a, uint64_t b) {
  unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

void Hasher::add(std::string_view bytes) {
  // The length goes in as well, so that ("ab", "c") and ("a", "bc") differ.
  uint64_t length = bytes.size();
  low_ = mix(low_ ^ length, 0xa0761d6478bd642fu);
  high_ = mix(high_ ^ length, 0xe7037ed1a0b428dbu);
  auto fold = [&](size_t count) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), count);
    low_ = mix(low_ ^ word, 0x8ebc6af09c88c6e3u);
    high_ = mix(high_ + word, 0x589965cc75374cc3u) ^ word;
    bytes.remove_prefix(count);
  };
  while (bytes.size() >= 8) fold(8);
  if (!bytes.empty()) fold(bytes.size());
}

std::string Hasher::hex() const { return fmt::format("{:016x}{:016x}", high_, low_); }
std::string Hasher::short_hex() const { return fmt::format("{:016x}", mix(low_ ^ 0x1d8e4e27c47d124fu, high_)); }

}  // namespace warpbeam::compiler
