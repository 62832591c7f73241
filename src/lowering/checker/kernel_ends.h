#pragma once
#include <optional>

namespace clang {
class FunctionDecl;
class SourceManager;
}  // namespace clang

namespace warpbeam::lowering {

// The line of a kernel's last return before its end, 0 if there is none; nothing if its threads may end anywhere.
std::optional<unsigned> last_early_return(const clang::FunctionDecl& kernel, const clang::SourceManager& sources);

}  // namespace warpbeam::lowering
