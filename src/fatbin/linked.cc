#include "fatbin/linked.h"

#include <cstdint>
#include <cstring>

namespace warpbeam::fatbin {

namespace {

// Then for each text its length in eight bytes and its characters.
struct Header {
  char magic[8];
  uint64_t texts;
};
constexpr char kMagic[8] = {'W', 'B', 'L', 'I', 'N', 'K', 'E', 'D'};

std::string_view bytes_of(const auto& value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

}  // namespace

bool is_linked(const void* image) {
  // One byte at a time: a short text ends before the magic number does.
  for (size_t i = 0; i < sizeof kMagic; ++i)
    if (static_cast<const char*>(image)[i] != kMagic[i]) return false;
  return true;
}

std::string pack_linked(const std::vector<std::string>& texts) {
  Header header;
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.texts = texts.size();
  std::string packed(bytes_of(header));
  for (const std::string& text : texts) {
    packed += bytes_of(uint64_t{text.size()});
    packed += text;
  }
  return packed;
}

std::vector<std::string> unpack_linked(const void* image) {
  const char* at = static_cast<const char*>(image);
  Header header;
  std::memcpy(&header, at, sizeof header);
  at += sizeof header;
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < header.texts; ++i) {
    uint64_t length;
    std::memcpy(&length, at, sizeof length);
    texts.emplace_back(at + sizeof length, length);
    at += sizeof length + length;
  }
  return texts;
}

bool linked_fits(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  for (uint64_t i = 0, length = 0; i < header.texts; ++i) {
    if (bytes.size() < sizeof length) return false;
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes.remove_prefix(sizeof length);
    if (bytes.size() < length) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

}  // namespace warpbeam::fatbin
