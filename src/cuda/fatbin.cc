#include "cuda/fatbin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/unpack.h"

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
    if (entry.kind == kMachineCode) contents.machine_code.push_back(static_cast<int>(entry.cc));
    if (entry.kind == kPtx) {
      using enum FatbinContents::Packing;
      auto packing = entry.flags & kLz4 ? Lz4 : entry.flags & kZstd ? Zstd : None;
      // The payload of a compressed entry is padded; how much of it counts stands in a field of its own.
      size_t bytes = packing == None ? entry.size : std::min<uint64_t>(entry.compressed_size, entry.size);
      contents.ptx.push_back(
          {static_cast<int>(entry.cc), packing, {at + entry.header_size, bytes}, entry.uncompressed_size});
    }
    at += entry.header_size + entry.size;
  }
  return contents;
}

bool fatbin_fits(std::string_view bytes) {
  ContainerHeader container;
  if (bytes.size() < sizeof container) return false;
  std::memcpy(&container, bytes.data(), sizeof container);
  return container.header_size >= sizeof container && container.header_size <= bytes.size() &&
         container.size <= bytes.size() - container.header_size;
}

Result<std::string> ptx_text(const FatbinContents::Ptx& ptx) {
  std::string text;
  if (ptx.packing == FatbinContents::Packing::None) {
    text = ptx.bytes;
  } else {
    auto unpacked = ptx.packing == FatbinContents::Packing::Lz4 ? unpack_lz4(ptx.bytes, ptx.unpacked_size)
                                                                : unpack_zstd(ptx.bytes, ptx.unpacked_size);
    if (!unpacked) return unpacked.error();
    text = std::move(*unpacked);
  }
  if (size_t end = text.find('\0'); end != text.npos) text.resize(end);
  return text;
}

const FatbinContents::Ptx* best_ptx(const FatbinContents& contents, int cc) {
  const FatbinContents::Ptx* best = nullptr;
  for (const auto& ptx : contents.ptx)
    if (ptx.cc <= cc && (!best || ptx.cc > best->cc)) best = &ptx;
  const bool a_gpu_runs_it = std::ranges::any_of(contents.machine_code, [&](int code) { return code / 10 == cc / 10 && code <= cc; });
  if (best || !a_gpu_runs_it) return best;
  for (const auto& ptx : contents.ptx)
    if (!best || ptx.cc < best->cc) best = &ptx;
  return best;
}

}  // namespace warpbeam::cuda
