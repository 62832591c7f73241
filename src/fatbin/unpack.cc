#include "fatbin/unpack.h"

#include <dlfcn.h>

namespace warpbeam::fatbin {

namespace {

constexpr size_t kMostBytes = size_t{1} << 30;  // a size beyond this is damage
constexpr size_t kLeastMatch = 4;

// A length of 15 goes on in the following bytes until one is not 255.
bool extend(std::string_view packed, size_t& at, size_t& length) {
  if (length != 15) return true;
  unsigned char more;
  do {
    if (at >= packed.size()) return false;
    more = static_cast<unsigned char>(packed[at++]);
    length += more;
  } while (more == 255);
  return true;
}

}  // namespace

Result<std::string> unpack_lz4(std::string_view packed, size_t size) {
  const Error damaged{0, "a fat binary's LZ4 data is damaged"};
  if (size > kMostBytes) return damaged;
  std::string text;
  text.reserve(size);
  for (size_t at = 0; at < packed.size();) {
    auto token = static_cast<unsigned char>(packed[at++]);
    size_t literals = token >> 4, match = token & 15;
    if (!extend(packed, at, literals) || literals > packed.size() - at || literals > size - text.size()) return damaged;
    text.append(packed.substr(at, literals));
    at += literals;
    if (at == packed.size()) break;  // the last sequence has no match
    if (packed.size() - at < 2) return damaged;
    size_t distance = static_cast<unsigned char>(packed[at]) | static_cast<unsigned char>(packed[at + 1]) << 8;
    at += 2;
    if (!extend(packed, at, match)) return damaged;
    match += kLeastMatch;
    if (distance == 0 || distance > text.size() || match > size - text.size()) return damaged;
    // A match may overlap what it writes.
    for (size_t i = 0; i < match; ++i) text.push_back(text[text.size() - distance]);
  }
  if (text.size() != size) return damaged;
  return text;
}

Result<std::string> unpack_zstd(std::string_view packed, size_t size) {
  using Decompress = size_t (*)(void*, size_t, const void*, size_t);
  static const auto decompress = [] {
    void* library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    return library ? reinterpret_cast<Decompress>(dlsym(library, "ZSTD_decompress")) : nullptr;
  }();
  if (!decompress) return Error{0, "a fat binary is compressed with Zstandard, and libzstd.so.1 (package libzstd1) is missing"};
  if (size > kMostBytes) return Error{0, "a fat binary's Zstandard data is damaged"};
  std::string text(size, '\0');
  if (decompress(text.data(), size, packed.data(), packed.size()) != size) return Error{0, "a fat binary's Zstandard data is damaged"};
  return text;
}

}  // namespace warpbeam::fatbin
