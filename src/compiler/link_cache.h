// Links without the compiler. What clang makes of the words of a link is one command for the linker, the same for all programs
// but for the names of files; starting clang takes as long as the linker does. It is asked for that command once for each set
// of words, from the second one on.
#pragma once
#include "compiler/process.h"

namespace warpbeam::compiler {

// As run_commands for one link, whose Command::varying names its files.
Outcome run_link(const Command& link);

}  // namespace warpbeam::compiler
