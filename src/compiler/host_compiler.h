// `-ccbin mpicxx` and the like: wrappers that call g++ or clang++ with flags of their own. clang does their work, with those flags.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace warpbeam::compiler {

// gcc, g++, clang, clang++, with a version or the machine's name, or a directory of them.
bool is_replaceable_compiler(const std::string& path);

struct WrapperFlags {
  std::vector<std::string> preprocessor, host, linker;
};

// What a wrapper adds; it is asked for that. An error where it calls no compiler that clang can stand in for.
Result<WrapperFlags> flags_of_wrapper(const std::string& path);

}  // namespace warpbeam::compiler
