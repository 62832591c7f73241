// The parts of the HTML report and of the timeline's page, from the files in page/.
#pragma once
#include <string_view>

namespace warpbeam::report {

extern const std::string_view kPage, kStyle, kRules, kScript;
extern const std::string_view kTimelinePage, kTimelineStyle, kTimelineScript;

}  // namespace warpbeam::report
