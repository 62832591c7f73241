// Arithmetic on the elements of messages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nccl.h"

namespace warpbeam::nccl {

size_t bytes_of(ncclDataType_t type);

// A user's operation multiplies each rank's values by this before they are added.
struct Factor {
  alignas(8) std::byte bits[8];  // of the message's type
};

// Takes the ranks' values in their order; types of 16 and 8 bits are added up as floats and rounded once.
void reduce(ncclDataType_t type, ncclRedOp_t op, const std::vector<const std::byte*>& parts, std::byte* out, size_t count);
void multiply(ncclDataType_t type, const Factor& factor, std::byte* values, size_t count);

}  // namespace warpbeam::nccl
