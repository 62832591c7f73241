// What a source includes before anything else.
#pragma once
#include <string_view>

namespace warpbeam::compiler {

// Whether headers of Thrust's or CUB's could as well be read before the source: it includes some before it says anything else, and
// nothing of it sets what they go by.
bool begins_with_libraries(std::string_view text);

}  // namespace warpbeam::compiler
