// libFuzzer target of one format, which the name of the program ends with.
#include <cstdint>

#include "formats.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const auto& format : warpbeam::fuzz::formats())
    if (format.name == WARPBEAM_FORMAT) format.read({reinterpret_cast<const char*>(data), size});
  return 0;
}
