// Fat binaries: what compilers embed in host programs. A wrapper in the data segment points at a container; its entries
// are PTX or machine code for one architecture each.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warpbeam::cuda {

struct FatbinWrapper {
  uint32_t magic;
  uint32_t version;
  const void* container;
  // In version 1 a file name. In version 2 the relocatable code of each object that was linked, up to a null: NVIDIA's
  // compiler leaves PTX only there.
  const void* more;
};
inline constexpr uint32_t kWrapperOfLinkedCode = 2;
inline constexpr uint32_t kWrapperMagic = 0x466243b1;
inline constexpr uint32_t kContainerMagic = 0xBA55ED50;

struct FatbinContents {
  enum class Packing { None, Lz4, Zstd };
  struct Ptx {
    int cc;
    Packing packing;
    std::string_view bytes;
    size_t unpacked_size;
  };
  std::vector<Ptx> ptx;
  std::vector<int> machine_code;  // compute capabilities of entries that only the vendor's GPUs can run
};

Result<FatbinContents> read_fatbin(const void* container);

// Whether `bytes` hold the whole container that they begin with.
bool fatbin_fits(std::string_view bytes);

// The PTX written for the newest architecture that a device of compute capability `cc` runs; null if there is none. Where a GPU
// would run machine code of the container's, the oldest of newer PTX stands in: both come from one source.
const FatbinContents::Ptx* best_ptx(const FatbinContents& contents, int cc);

// The entry's text, unpacked if it was compressed.
Result<std::string> ptx_text(const FatbinContents::Ptx& ptx);

}  // namespace warpbeam::cuda
