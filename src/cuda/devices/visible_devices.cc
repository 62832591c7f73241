#include "cuda/devices/visible_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "cuda/notes.h"

namespace warpbeam::cuda {

namespace {

constexpr std::string_view kName = "CUDA_VISIBLE_DEVICES";

std::vector<int>& places() {
  static auto* places = new std::vector<int>;
  return *places;
}

std::optional<std::string> value_at_start() {
  std::ifstream file("/proc/self/environ", std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');)
    if (entry.starts_with(std::string(kName) + "=")) return entry.substr(kName.size() + 1);
  return std::nullopt;
}

std::string text_of(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

// A number, or the beginning of one device's identity; -1 for anything else.
int named_device(std::string_view name, const std::string& key, int count) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!name.empty() && blank(name.front())) name.remove_prefix(1);
  while (!name.empty() && blank(name.back())) name.remove_suffix(1);
  int found = -1;
  if (name.starts_with("GPU-")) {
    for (int place = 0; place < count; ++place)
      if (text_of(uuid_of(key, place)).starts_with(name)) {
        if (found >= 0) return -1;
        found = place;
      }
    return found;
  }
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), found);
  return error == std::errc() && end == name.data() + name.size() && found < count ? found : -1;
}

}  // namespace

std::vector<int> visible_devices(const std::string& key, int count, bool asked) {
  std::vector<int> all(static_cast<size_t>(count));
  for (int place = 0; place < count; ++place) all[static_cast<size_t>(place)] = place;
  const char* list = std::getenv(kName.data());
  if (!list) return places() = all;
  std::vector<int> seen;
  // The first entry that names no device, or one for the second time, ends the list.
  for (std::string_view rest = list;;) {
    const size_t comma = rest.find(',');
    const int place = named_device(rest.substr(0, comma), key, count);
    if (place < 0 || std::ranges::find(seen, place) != seen.end()) break;
    seen.push_back(place);
    if (comma == rest.npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (seen.empty() && !asked && value_at_start() == list) {
    note_once("visible devices", [&] {
      return fmt::format("CUDA_VISIBLE_DEVICES={} names none of the {} devices here and is not heeded (with WARPBEAM_DEVICES it is)", list,
                         count);
    });
    seen = all;
  }
  return places() = seen;
}

int place_of_device(int ordinal) {
  const size_t at = static_cast<size_t>(ordinal);
  return at < places().size() ? places()[at] : ordinal;
}

cudaUUID_t uuid_of(const std::string& key, int place) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : fmt::format("{}/{}", key, place)) hash = (hash ^ c) * 0x100000001b3;
  cudaUUID_t uuid;
  for (int i = 0; i < 16; ++i) {
    hash = (hash ^ i) * 0x100000001b3;
    uuid.bytes[i] = static_cast<char>(hash >> 56);
  }
  return uuid;
}

}  // namespace warpbeam::cuda
