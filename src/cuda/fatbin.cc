#include "cuda/fatbin.h"

#include <fmt/format.h>

#include <cstring>

namespace warpbeam::cuda {

namespace {

struct ContainerHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_size;
  uint64_t size;  // of the entries
};

struct EntryHeader {
  uint16_t kind;
  uint16_t version;
  uint32_t header_size;
  uint64_t size;  // of the payload with its padding
  uint32_t compressed_size;
  uint32_t options_offset;
  uint16_t ptx_minor, ptx_major;
  uint32_t cc;
  uint32_t name_offset, name_length;
  uint64_t flags;
  uint64_t reserved;
  uint64_t uncompressed_size;
};
static_assert(sizeof(ContainerHeader) == 16 && sizeof(EntryHeader) == 64);

constexpr uint16_t kPtx = 1, kMachineCode = 2;
constexpr uint64_t kLz4 = 0x2000, kZstd = 0x8000;

}  // namespace

Result<FatbinContents> read_fatbin(const void* bytes) {
  ContainerHeader container;
  std::memcpy(&container, bytes, sizeof container);
  if (container.magic != kContainerMagic)
    return Error{0, fmt::format("a fat binary starts with {:#x}, not {:#x}", container.magic, kContainerMagic)};
  if (container.header_size < sizeof container) return Error{0, "a fat binary's header is cut short"};
  FatbinContents contents;
  const char* at = static_cast<const char*>(bytes) + container.header_size;
  const char* end = at + container.size;
  while (at < end) {
    EntryHeader entry;
    if (static_cast<size_t>(end - at) < sizeof entry) return Error{0, "a fat binary's entry is cut short"};
    std::memcpy(&entry, at, sizeof entry);
    size_t room = end - at;
    if (entry.header_size < sizeof entry || entry.header_size > room || entry.size > room - entry.header_size)
      return Error{0, "a fat binary's entry runs past its container"};
    if (entry.kind == kMachineCode) ++contents.machine_code;
    if (entry.kind == kPtx && (entry.flags & (kLz4 | kZstd))) ++contents.compressed;
    if (entry.kind == kPtx && !(entry.flags & (kLz4 | kZstd))) {
      std::string_view text(at + entry.header_size, entry.size);
      contents.ptx.push_back({static_cast<int>(entry.cc), text.substr(0, text.find('\0'))});
    }
    at += entry.header_size + entry.size;
  }
  return contents;
}

const FatbinContents::Ptx* best_ptx(const FatbinContents& contents, int cc) {
  const FatbinContents::Ptx* best = nullptr;
  for (const auto& ptx : contents.ptx)
    if (ptx.cc <= cc && (!best || ptx.cc > best->cc)) best = &ptx;
  return best;
}

}  // namespace warpbeam::cuda
