// Finished programs of `warpbeam run`, and what else costs a compilation, kept so that an unchanged source starts at once.
//
// A key stands for the command: options, names of the sources, environment, compiler and this toolchain. For each key
// a manifest lists, per result, every file that was read when it was made. A result is used when all of them are as
// they were: same size and modification time, or else same contents; when no file of such a name has appeared where the
// compiler looks earlier; and when it is, byte for byte, what was stored. Results are directories that hold the program
// and the compiler's messages; they appear by a rename, so concurrent runs never see half of one.
//
// Like every cache of this kind it cannot see a header appear that the source asked for with __has_include.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/hash.h"

namespace warpbeam::compiler {

// Where the compiler looks for headers beside what options say.
constexpr const char* kHeaderVariables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"};

// XDG_CACHE_HOME/warpbeam or ~/.cache/warpbeam; empty where neither is set.
std::string cache_folder();

// The directories that options of clang and the environment name as places of headers and libraries, as full paths.
std::vector<std::string> searched_directories(const std::vector<std::string>& words);

struct CachedProgram {
  std::string path;
  std::string messages;
  std::vector<std::string> files;  // that were read to build it
};

class CompileCache {
 public:
  // Nothing when the cache's folder cannot be written.
  static std::optional<CompileCache> open();
  // What was filed away when this toolchain was built, with its own directory as XDG_CACHE_HOME; to look into only.
  static CompileCache of_toolchain();

  std::optional<CachedProgram> find(const std::string& key);

  // Is what pays from its second use on worth making now? It is when it was asked for before, and at once for the first program of a toolchain that has
  // nothing made ahead (packages): the next program, which is of the same kind as a rule, is to start soon.
  bool worth_making(const std::string& key);

  // Where a program is to be built; its parent becomes the result. Empty on failure.
  std::string begin();
  bool can_start_programs() const;  // what is kept for the compiler is of use where nothing can be started, too
  bool has_room() const;  // on its disk; a build that fails without may have failed of that
  // Files away what was built under the directory given by begin(). `name` is the program's file name in it, `searched`
  // the directories in which the user lets headers and libraries be looked for.
  std::optional<CachedProgram> store(const std::string& key, const std::string& directory, const std::string& name,
                                     const std::vector<std::string>& files, const std::string& messages, std::vector<std::string> searched);

  const std::string& path() const { return root_; }

 private:
  explicit CompileCache(std::string root) : root_(std::move(root)) {}
  bool asked_before(const std::string& key);
  void shrink();
  std::string root_;
};

}  // namespace warpbeam::compiler
