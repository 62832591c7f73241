#pragma once

#include <string>

namespace warpbeam {

// `_Z4fillPfi` as people write it, `fill(float*, int)`. A name that is not mangled stays as it is: `f` alone is no float.
std::string demangled(const std::string& name);

}  // namespace warpbeam
