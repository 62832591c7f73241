#pragma once

namespace warpbeam::observe {

// Leads the program's questions for the time to HostClock, in all modules that are loaded now.
void redirect_time();

}  // namespace warpbeam::observe
