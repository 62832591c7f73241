// What stands in a container.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warpbeam::fatbin {

struct Contents {
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

// Of a container in memory, whose size it tells itself.
Result<Contents> read(const void* container);

// All containers of a section, one after the other: linked objects hold several. Zero bytes may stand between them.
Result<std::vector<Contents>> read_section(std::string_view bytes);

// Whether `bytes` hold the whole container that they begin with.
bool fits(std::string_view bytes);

// The PTX written for the newest architecture that a device of compute capability `cc` runs; null if there is none. Where a GPU
// would run machine code of the container's, the oldest of newer PTX stands in: both come from one source.
const Contents::Ptx* best_ptx(const Contents& contents, int cc);

// The entry's text, unpacked if it was compressed.
Result<std::string> text_of(const Contents::Ptx& ptx);

}  // namespace warpbeam::fatbin
