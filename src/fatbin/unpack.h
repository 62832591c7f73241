// The two compressions of fat binaries. Both refuse damaged input.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpbeam::fatbin {

// An LZ4 block (https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md).
Result<std::string> unpack_lz4(std::string_view packed, size_t size);
// A Zstandard frame, through libzstd.so.1.
Result<std::string> unpack_zstd(std::string_view packed, size_t size);

}  // namespace warpbeam::fatbin
