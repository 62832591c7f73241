#include "observe/told.h"

#include <nlohmann/json.hpp>

#include "observe/tool.h"

namespace warpbeam::observe {

nlohmann::ordered_json told_options() { return nlohmann::ordered_json::parse(tool_options(), nullptr, false); }

}  // namespace warpbeam::observe
