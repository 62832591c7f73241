// Lines of host code for the return addresses of a recording, by addr2line.
#pragma once
#include "report/check_report.h"

namespace warpbeam::compiler {

void look_up_host_lines(report::CheckReport& report);

}  // namespace warpbeam::compiler
