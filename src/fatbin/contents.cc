#include "fatbin/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fatbin/format.h"
#include "fatbin/unpack.h"

namespace warpbeam::fatbin {

Result<Contents> read(const void* bytes) {
  ContainerHeader container;
  std::memcpy(&container, bytes, sizeof container);
  if (container.magic != kMagic) return Error{0, fmt::format("a fat binary starts with {:#x}, not {:#x}", container.magic, kMagic)};
  if (container.header_size < sizeof container) return Error{0, "a fat binary's header is cut short"};
  Contents contents;
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
      using enum Contents::Packing;
      auto packing = entry.flags & kLz4 ? Lz4 : entry.flags & kZstd ? Zstd : None;
      // The payload of a compressed entry is padded; how much of it counts stands in a field of its own.
      size_t bytes = packing == None ? entry.size : std::min<uint64_t>(entry.compressed_size, entry.size);
      contents.ptx.push_back({static_cast<int>(entry.cc), packing, {at + entry.header_size, bytes}, entry.uncompressed_size});
    }
    at += entry.header_size + entry.size;
  }
  return contents;
}

Result<std::vector<Contents>> read_section(std::string_view bytes) {
  std::vector<Contents> all;
  while (true) {
    while (!bytes.empty() && bytes[0] == 0) bytes.remove_prefix(1);
    if (bytes.empty()) return all;
    if (!fits(bytes)) return Error{0, "a fat binary runs past its section"};
    auto contents = read(bytes.data());
    if (!contents) return contents.error();
    all.push_back(std::move(*contents));
    ContainerHeader container;
    std::memcpy(&container, bytes.data(), sizeof container);
    bytes.remove_prefix(container.header_size + container.size);
  }
}

bool fits(std::string_view bytes) {
  ContainerHeader container;
  if (bytes.size() < sizeof container) return false;
  std::memcpy(&container, bytes.data(), sizeof container);
  return container.header_size >= sizeof container && container.header_size <= bytes.size() &&
         container.size <= bytes.size() - container.header_size;
}

Result<std::string> text_of(const Contents::Ptx& ptx) {
  std::string text;
  if (ptx.packing == Contents::Packing::None) {
    text = ptx.bytes;
  } else {
    auto unpacked =
        ptx.packing == Contents::Packing::Lz4 ? unpack_lz4(ptx.bytes, ptx.unpacked_size) : unpack_zstd(ptx.bytes, ptx.unpacked_size);
    if (!unpacked) return unpacked.error();
    text = std::move(*unpacked);
  }
  if (size_t end = text.find('\0'); end != text.npos) text.resize(end);
  return text;
}

const Contents::Ptx* best_ptx(const Contents& contents, int cc) {
  const Contents::Ptx* best = nullptr;
  for (const auto& ptx : contents.ptx)
    if (ptx.cc <= cc && (!best || ptx.cc > best->cc)) best = &ptx;
  const bool a_gpu_runs_it = std::ranges::any_of(contents.machine_code, [&](int code) { return code / 10 == cc / 10 && code <= cc; });
  if (best || !a_gpu_runs_it) return best;
  for (const auto& ptx : contents.ptx)
    if (!best || ptx.cc < best->cc) best = &ptx;
  return best;
}

}  // namespace warpbeam::fatbin
