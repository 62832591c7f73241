// The report as one HTML file: it opens without a network, from anywhere.
#pragma once
#include <iosfwd>

#include "report/recording.h"

namespace warpbeam::report {

// `second` is a recording to compare with, or null. The sources must be embedded.
void write_html(std::ostream& out, const Json& recording, const Json& second);

}  // namespace warpbeam::report
