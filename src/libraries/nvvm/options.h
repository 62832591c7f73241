#pragma once
#include <string>

#include "libraries/nvvm/compile.h"

namespace warpbeam::nvvm {

// Reads libnvvm's options; where one is wrong, says so in the log.
bool read_options(const char* const* words, int count, Options* options, std::string* log);

}  // namespace warpbeam::nvvm
