// What the driver tells a tool, read. In one place, as a reader of JSON takes long to compile.
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace warpbeam::observe {

// Discarded (no object) where it is none.
nlohmann::ordered_json told_options();

}  // namespace warpbeam::observe
