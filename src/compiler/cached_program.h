// Programs that the commands `run`, `profile` and `check` compile and start: found in the cache, or built into it.
#pragma once
#include <memory>
#include <string>

#include "compiler/commands.h"
#include "compiler/options.h"
#include "compiler/process.h"
#include "compiler/temporary_directory.h"

namespace warpbeam::compiler {

// Tells a file from what it was before it changed, without reading it.
std::string file_identity(const std::string& path);

// Everything that decides what a build makes, apart from the contents of files.
std::string cache_key(const Arguments& words, int cc);

// Where the user lets headers and libraries be looked for.
std::vector<std::string> searched_directories(const Options& options);

struct CompiledProgram {
  std::string path;
  std::string name;                                // its argv[0]
  std::shared_ptr<TemporaryDirectory> directory;   // that it lies in, when it could not be cached
  std::vector<std::string> files;                  // that were read to build it, when it is cached
};

// Gives an exit status; 0 fills `program`.
int compile_program(Options& options, const std::string& key, bool verbose, CompiledProgram* program);

// The same, and runs it. A second build only when another process cleans the cache between finding and starting it.
int compile_and_run(Options& options, const std::string& key, bool verbose, const Arguments& arguments);

}  // namespace warpbeam::compiler
