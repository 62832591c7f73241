#include "observe/tools.h"

namespace warpbeam::observe {

std::unique_ptr<Tool> make_profiler() { return std::make_unique<Tool>(); }

}  // namespace warpbeam::observe
