#pragma once

namespace clang {
class Preprocessor;
}

namespace warpbeam::lowering {

// From here on the compiler's warnings of variables that are used before they have a value are facts. Whoever compiles gets
// the messages that he would get without that.
void watch_warnings_of_unset_variables(clang::Preprocessor& preprocessor);

}  // namespace warpbeam::lowering
