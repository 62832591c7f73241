// Fat binaries: what compilers embed in host programs. A wrapper in the data segment points at a container: one header, then
// one entry for each architecture, with a header of its own and PTX or machine code behind it.
#pragma once
#include <cstdint>

namespace warpbeam::fatbin {

struct Wrapper {
  uint32_t magic;
  uint32_t version;
  const void* container;
  // In version 1 a file name. In version 2 the relocatable code of each object that was linked, up to a null: NVIDIA's
  // compiler leaves PTX only there.
  const void* more;
};
inline constexpr uint32_t kWrapperMagic = 0x466243b1;
inline constexpr uint32_t kWrapperOfLinkedCode = 2;

struct ContainerHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_size;
  uint64_t size;  // of all entries, without this header
};
inline constexpr uint32_t kMagic = 0xBA55ED50;

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

// Of entries: their kinds and flags.
inline constexpr uint16_t kPtx = 1, kMachineCode = 2;
inline constexpr uint64_t k64Bit = 0x1, kLinux = 0x10, kLz4 = 0x2000, kZstd = 0x8000;

}  // namespace warpbeam::fatbin
