// CUB, Thrust and libcu++: which version a source is compiled with.
//
// The one that the command line or WARPBEAM_CCCL names. `fetched` is NVIDIA's CCCL as the script `warpbeam` leaves it beside the kept programs
// (cmake/fetch_cccl.py), `none` what is there without: Debian's CUB and Thrust 1.17, with our own headers below cuda/.
#pragma once
#include <string>

#include "base/result.h"
#include "compiler/options.h"

namespace warpbeam::compiler {

inline constexpr const char *kNoCccl = "none", *kFetchedCccl = "fetched";

// Where the libraries' folders lie at or below a place: wheels and toolkits have them below include/cccl.
Result<std::string> cccl_directory(const std::string& given);

// The one that was fetched; empty where there is none.
std::string fetched_cccl();

// Puts it before our own headers and before the system's. Newer ones than Debian's want C++17.
Result<void> use_cccl(Options& options);

}  // namespace warpbeam::compiler
