#include "driver/fatbin.h"

#include <fmt/format.h>

#include <cstring>

namespace warpbeam::driver {

namespace {

constexpr uint32_t kMagic = 0xBA55ED50;
constexpr uint16_t kKindPtx = 1;
constexpr uint64_t kFlag64Bit = 0x01;
constexpr uint64_t kFlagLinux = 0x10;
constexpr uint64_t kFlagCompressed = 0x2000;

struct ContainerHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_size;
  uint64_t size;  // of all entries, without this header
};
static_assert(sizeof(ContainerHeader) == 16);

struct EntryHeader {
  uint16_t kind;
  uint16_t version;
  uint32_t header_size;
  uint64_t size;  // of the payload with its padding
  uint32_t compressed_size;
  uint32_t options_offset;
  uint16_t minor;
  uint16_t major;
  uint32_t arch;
  uint32_t name_offset;
  uint32_t name_length;
  uint64_t flags;
  uint64_t reserved;
  uint64_t uncompressed_size;
};
static_assert(sizeof(EntryHeader) == 64);

template <class T>
void append_bytes(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::string write_fatbin(const std::vector<FatbinEntry>& entries) {
  std::string body;
  for (const auto& entry : entries) {
    EntryHeader header{};
    header.kind = kKindPtx;
    header.version = 0x0101;
    header.header_size = sizeof header;
    header.size = (entry.text.size() + 1 + 7) / 8 * 8;
    // The PTX version stands here in the vendor's containers.
    header.major = 8;
    header.minor = 5;
    header.arch = entry.cc;
    header.flags = kFlag64Bit | kFlagLinux;
    append_bytes(body, header);
    body += entry.text;
    body.append(header.size - entry.text.size(), '\0');
  }
  std::string bytes;
  append_bytes(bytes, ContainerHeader{kMagic, 1, sizeof(ContainerHeader), body.size()});
  return bytes + body;
}

Result<std::vector<FatbinEntry>> read_fatbins(std::string_view bytes) {
  std::vector<FatbinEntry> entries;
  auto damaged = [](std::string_view what) { return Error{1, fmt::format("damaged fat binary: {}", what)}; };
  while (true) {
    // Sections are padded between containers.
    while (!bytes.empty() && bytes[0] == 0) bytes.remove_prefix(1);
    if (bytes.empty()) return entries;
    ContainerHeader container;
    if (bytes.size() < sizeof container) return damaged("the header is cut short");
    std::memcpy(&container, bytes.data(), sizeof container);
    if (container.magic != kMagic) return damaged("wrong magic number");
    if (container.header_size < sizeof container || container.header_size > bytes.size() ||
        container.size > bytes.size() - container.header_size)
      return damaged("the size runs past the section");
    std::string_view body = bytes.substr(container.header_size, container.size);
    bytes.remove_prefix(container.header_size + container.size);
    while (!body.empty()) {
      EntryHeader header;
      if (body.size() < sizeof header) return damaged("an entry is cut short");
      std::memcpy(&header, body.data(), sizeof header);
      if (header.header_size < sizeof header || header.header_size > body.size() ||
          header.size > body.size() - header.header_size)
        return damaged("an entry runs past the container");
      FatbinEntry entry{header.kind == kKindPtx, static_cast<int>(header.arch), ""};
      if (entry.is_ptx && !(header.flags & kFlagCompressed)) {
        entry.text = body.substr(header.header_size, header.size);
        if (auto end = entry.text.find('\0'); end != std::string::npos) entry.text.resize(end);
      }
      entries.push_back(std::move(entry));
      body.remove_prefix(header.header_size + header.size);
    }
  }
}

}  // namespace warpbeam::driver
