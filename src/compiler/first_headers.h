// What sources include, seen without a preprocessor.
#pragma once
#include <string_view>

#include "compiler/options.h"

namespace warpbeam::compiler {

// Whether headers of Thrust's or CUB's could as well be read before the source: it includes some before it says anything else, and
// nothing of it sets what they go by.
bool begins_with_libraries(std::string_view text);

// Whether one of the sources, or a header of the program's that it includes, includes headers of Thrust's or CUB's.
bool asks_for_libraries(const Options& options);

}  // namespace warpbeam::compiler
