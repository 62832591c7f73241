// The parts of the HTML report, from the files in page/.
#pragma once
#include <string_view>

namespace warpbeam::report {

extern const std::string_view kPage, kStyle, kRules, kScript;

}  // namespace warpbeam::report
