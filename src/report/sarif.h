// What the checker found, in the format that code hosts and editors show beside the source: SARIF 2.1.0.
#pragma once
#include <string>

#include "report/check_report.h"

namespace warpbeam::report {

// Files below `root` are named from there.
std::string sarif(const CheckReport& report, const std::string& root, const std::string& version);

}  // namespace warpbeam::report
