// Two engines on every launch: both begin with the same memory, and must leave the same behind. Where they do not, the
// launch is repeated with recording code in its PTX until the first differing register is known.
//
// Blocks run one at a time and in order on both sides, so that what blocks tell each other is the same. A launch that
// takes or frees memory in the kernel is not compared: its addresses depend on the first run.
#pragma once
#include <functional>
#include <string>

#include "vm/machine.h"

namespace warpbeam::vm {

// Whether WARPBEAM_ENGINE asks for it.
bool lockstep_wanted();

using RunLaunch = std::function<LaunchResult(Launch)>;

struct LockstepResult {
  LaunchResult result;     // of the second engine, whose memory stays
  std::string difference;  // a paragraph; empty when there is none
};
LockstepResult run_in_lockstep(const Launch& launch, const RunLaunch& first, const RunLaunch& second);

// The machine's part: the fast engine first, the interpreter second, on a thread of its own; launches wait for each
// other. At the first difference the process prints it and ends with kLockstepStatus.
inline constexpr int kLockstepStatus = 125;
std::shared_ptr<Grid> start_in_lockstep(Launch launch, std::function<void(LaunchResult&&)> done);

}  // namespace warpbeam::vm
