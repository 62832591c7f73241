#include "compiler/cccl.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/private_folder.h"
#include "compiler/compile_cache.h"
#include "compiler/toolchain.h"

namespace warpbeam::compiler {

namespace {

namespace fs = std::filesystem;

bool has_libraries(const std::string& directory) {
  std::error_code ignored;
  return fs::exists(directory + "/cub/cub.cuh", ignored) && fs::exists(directory + "/cuda/std/version", ignored);
}

bool is_before_17(const std::string& standard) {
  for (const char* old : {"98", "03", "11", "14"})
    if (standard.ends_with(old)) return true;
  return false;
}

// Makefiles and CMake name the toolkit's own folders, which come last anyway. Before a CCCL our headers below cuda/ would take the place
// of those that it was written for.
void leave_out_own_folders(Options& o) {
  const fs::path own = toolchain().include_directory;
  auto is_own = [&](const std::string& directory) {
    std::error_code none;
    return fs::equivalent(directory, own, none) || fs::equivalent(directory, own / "cccl", none);
  };
  std::vector<std::string> kept;
  for (size_t at = 0; at < o.preprocessor.size(); ++at) {
    const std::string& word = o.preprocessor[at];
    const bool pair = word.starts_with("-i") && at + 1 < o.preprocessor.size();
    const std::string directory = word == "-isystem" && pair ? o.preprocessor[at + 1] : word.starts_with("-I") ? word.substr(2) : "";
    if (directory.empty() || !is_own(directory)) kept.insert(kept.end(), &word, &word + 1 + pair);
    at += pair;
  }
  o.preprocessor = std::move(kept);
}

}  // namespace

Result<std::string> cccl_directory(const std::string& given) {
  if (given == kNoCccl) return given;
  if (given == kFetchedCccl) {
    std::string place = fetched_cccl();
    if (!place.empty()) return place;
    return Error{
        1,
        "CUB, Thrust and libcu++ were to be those that were fetched: there are none (python3 .../fetch_cccl.py ~/.cache/warpbeam/cccl gets them)"};
  }
  for (const char* below : {"", "/cccl", "/include/cccl", "/include", "/cuda/cccl/headers/include"})
    if (has_libraries(given + below)) return given + below;
  return Error{1, fmt::format("CUB, Thrust and libcu++ were to be in '{}': there are no cub/cub.cuh and cuda/std/version below it", given)};
}

std::string fetched_cccl() {
  const std::string root = cache_folder();
  if (root.empty()) return {};
  const std::string place = root + "/cccl/include";
  return is_trusted_folder(place, toolchain().driver) && has_libraries(place) ? place : std::string();
}

Result<void> use_cccl(Options& o) {
  const char* everywhere = std::getenv("WARPBEAM_CCCL");
  if (o.cccl.empty() && everywhere && *everywhere && !is_before_17(o.standard)) {
    auto directory = cccl_directory(everywhere);
    if (!directory) return directory.error();
    o.cccl = *directory;
  }
  if (o.cccl == kNoCccl) o.cccl.clear();
  if (o.cccl.empty()) return {};
  leave_out_own_folders(o);
  o.preprocessor.insert(o.preprocessor.end(), {"-isystem", o.cccl});
  return {};
}

}  // namespace warpbeam::compiler
