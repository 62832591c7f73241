// The second table: what each technique of the fast engine brings.
#pragma once

#include "cpu/options.h"

namespace bench {

// Techniques that the engine leaves out when WARPBEAM_JIT_WITHOUT names them.
inline constexpr const char* kTechniques[] = {"shapes", "uniform", "atomics", "cache"};

// Runs this program again for each of options.ablate. False when a run failed.
bool print_ablation(const std::vector<Result>& results, const Options& options);

}  // namespace bench
