// What tools of a toolkit that Warpbeam stands in for say of themselves.
#pragma once
#include <fmt/core.h>

#include <string>
#include <string_view>

#include "compiler/toolchain.h"

namespace warpbeam::compiler {

// `--version`: who calls it looks for the release. `title`: the tool's own first line.
inline std::string stand_in_version(std::string_view title) {
  return fmt::format(
      "{0}\nThis is not it: Warpbeam {1} stands in for it\nCuda compilation tools, release {2}.{3}, V{2}.{3}.{4}\nBuild warpbeam_{1}\n",
      title, kVersion, kCudaMajor, kCudaMinor, kCudaBuild);
}

}  // namespace warpbeam::compiler
