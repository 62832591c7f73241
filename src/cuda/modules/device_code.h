// Device code as programs hand it over: PTX text, a fat binary or its wrapper, or what cuLinkComplete gave.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/device.h"

namespace warpbeam::cuda {

// The PTX texts to link for `device`. Error::code is a cudaError_t; the message says what the image holds instead.
Result<std::vector<std::string>> read_device_code(const void* image, const model::Device& device);

// Whether `bytes` hold all of the fat binary or the linked code that they begin with; texts end anywhere.
bool holds_whole_image(std::string_view bytes);

// The PTX for `device` that host objects and archives carry in their fat binaries; nothing where there is none.
std::vector<std::string> relocatable_code(std::string_view bytes, const model::Device& device);

}  // namespace warpbeam::cuda
