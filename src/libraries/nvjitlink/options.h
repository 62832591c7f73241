// What a link was asked for.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "model/device.h"
#include "nvJitLink.h"
#include "libraries/nvvm/compile.h"

namespace warpbeam::nvjitlink {

struct Options {
  std::optional<model::Device> target;  // of -arch: the facts of the architecture, under its name
  bool lto = false, ptx = false, verbose = false;
  nvvm::Options code;  // for what is compiled while linking
};

// Reads them all; what is wrong goes to `log`, and the first mistake is the result.
nvJitLinkResult read_options(std::span<const char* const> words, Options* options, std::string* log);

}  // namespace warpbeam::nvjitlink
