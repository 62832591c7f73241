// The report as one HTML file: it opens without a network, from anywhere.
#pragma once
#include <iosfwd>
#include <vector>

#include "report/recording.h"

namespace warpbeam::report {

// `second` is a recording to compare with, or null. The sources must be embedded.
// `timelines`: of the same run, if it was on a device's time.
void write_html(std::ostream& out, const Json& recording, const Json& second, const std::vector<Json>& timelines = {});

}  // namespace warpbeam::report
