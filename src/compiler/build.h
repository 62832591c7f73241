// One run of the compiler driver: from parsed options to the files they ask for.
#pragma once
#include <string>
#include <vector>

#include "compiler/options.h"

namespace warpbeam::compiler {

// What the compile cache wants to know of a build.
struct BuildRecord {
  std::string messages;            // all that was printed
  std::vector<std::string> files;  // all that was read: sources, headers, libraries
  std::string facts;               // that options.facts asks for
};

// Prints messages to stderr. Gives the exit status; 128 + signal after an interrupt.
int build(const Options& options, BuildRecord* record = nullptr);

// The lines with which --dryrun and --verbose begin, whatever follows.
void show_places();

}  // namespace warpbeam::compiler
