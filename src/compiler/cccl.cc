#include "compiler/cccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/private_folder.h"
#include "compiler/compile_cache.h"
#include "compiler/split.h"
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

bool is_own_folder(const std::string& directory) {
  const fs::path own = toolchain().include_directory;
  std::error_code none;
  return fs::equivalent(directory, own, none) || fs::equivalent(directory, own / "cccl", none);
}

// Makefiles and CMake name the toolkit's own folders, which come last anyway. Before a CCCL our headers below cuda/ would take the place
// of those that it was written for.
void leave_out_own_folders(Options& o) {
  std::vector<std::string> kept;
  for (size_t at = 0; at < o.preprocessor.size(); ++at) {
    const std::string& word = o.preprocessor[at];
    const bool pair = word.starts_with("-i") && at + 1 < o.preprocessor.size();
    const std::string directory = word == "-isystem" && pair ? o.preprocessor[at + 1] : word.starts_with("-I") ? word.substr(2) : "";
    if (directory.empty() || !is_own_folder(directory)) kept.insert(kept.end(), &word, &word + 1 + pair);
    at += pair;
  }
  o.preprocessor = std::move(kept);
}

// What clang needs of a newer CCCL, before it.
std::string our_part() { return toolchain().include_directory + "/warpbeam/cccl"; }

// A source's own CCCL, which the words name as a folder like others: our part goes before it. Is there one?
bool goes_before_one(std::vector<std::string>& words) {
  for (size_t at = 0; at < words.size(); ++at) {
    const bool pair = words[at] == "-isystem" && at + 1 < words.size();
    const std::string directory = pair ? words[at + 1] : words[at].starts_with("-I") ? words[at].substr(2) : "";
    if (directory.empty() || !has_libraries(directory) || is_own_folder(directory)) continue;
    if (pair) words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), {"-isystem", our_part()});
    else words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), "-I" + our_part());
    return true;
  }
  return false;
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

std::vector<std::string> cccl_places(const std::string& directory) { return {our_part(), directory}; }

void leave_out_cccl(std::vector<std::string>& words, const std::string& directory, size_t* shared) {
  auto leave_out = [&](std::string_view option, const std::string& value) {
    const auto found = std::ranges::find(words, value);
    if (found == words.end() || found == words.begin() || found[-1] != option) return;
    if (shared && static_cast<size_t>(found - words.begin()) < *shared) *shared -= 2;
    words.erase(found - 1, found + 1);
  };
  for (const std::string& place : cccl_places(directory)) leave_out("-isystem", place);
  leave_out("-mllvm", platform_word(directory));
}

std::string platform_word(const std::string& folder) { return "-warpbeam-platform=" + folder + "/"; }

Result<void> use_cccl(Options& o) {
  const char* everywhere = std::getenv("WARPBEAM_CCCL");
  const bool open = o.cccl.empty() && !is_before_17(o.standard);
  if (open && everywhere && *everywhere) {
    auto directory = cccl_directory(everywhere);
    if (!directory) return directory.error();
    o.cccl = *directory;
  } else {
    o.cccl_open = open && !goes_before_one(o.preprocessor);
  }
  if (o.cccl == kNoCccl) o.cccl.clear();
  if (o.cccl.empty()) return {};
  leave_out_own_folders(o);
  for (const std::string& place : cccl_places(o.cccl)) append(o.preprocessor, {"-isystem", place});
  return {};
}

std::optional<Options> with_fetched_cccl(const Options& options) {
  if (!options.cccl_open) return std::nullopt;
  Options with = options;
  with.cccl = fetched_cccl();
  if (with.cccl.empty()) return std::nullopt;
  leave_out_own_folders(with);
  for (const std::string& place : cccl_places(with.cccl)) append(with.preprocessor, {"-isystem", place});
  return with;
}

}  // namespace warpbeam::compiler
