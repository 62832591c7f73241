// CUB, Thrust and libcu++: which version a source is compiled with.
//
// The one that the command line or WARPBEAM_CCCL names. `fetched` is NVIDIA's CCCL as the script `warpbeam` leaves it beside the kept programs
// (cmake/fetch_cccl.py), `none` what is there without: Debian's CUB and Thrust 1.17, with our own headers below cuda/. Where nothing is
// named, sources of C++17 and later get what was fetched, and those that want what it no longer has what is there without.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/options.h"

namespace warpbeam::compiler {

inline constexpr const char *kNoCccl = "none", *kFetchedCccl = "fetched";

// Where the libraries' folders lie at or below a place: wheels and toolkits have them below include/cccl.
Result<std::string> cccl_directory(const std::string& given);

// The one that was fetched; empty where there is none.
std::string fetched_cccl();

// The folders that are searched for it, the first of them with what clang needs of it (include/warpbeam/cccl).
std::vector<std::string> cccl_places(const std::string& directory);

// How the device pass is told that what lies in a folder is not the program's.
std::string platform_word(const std::string& folder);

// A command's words without these folders; `shared` counts those of them that other commands have, too.
void leave_out_cccl(std::vector<std::string>& words, const std::string& directory, size_t* shared = nullptr);

// Puts the one that is named before our own headers and before the system's. Newer ones than Debian's want C++17.
Result<void> use_cccl(Options& options);

// The same with the one that was fetched, where none is named and it may be.
std::optional<Options> with_fetched_cccl(const Options& options);

}  // namespace warpbeam::compiler
