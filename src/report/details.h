// The metrics of each launch: a table for people, CSV for programs.
#pragma once
#include <iosfwd>
#include <vector>

#include "report/select.h"

namespace warpbeam::report {

void print_details(std::ostream& out, const Json& recording, const std::vector<Column>& columns);
// Nsight Compute's "raw" page: names, units, then a row for each launch.
void print_csv(std::ostream& out, const Json& recording, const std::vector<Column>& columns);

// How the launches of a recording are told from each other: "copy(float *, int) (64, 1, 1)x(256, 1, 1)".
std::string launch_title(const Json& launch);
std::string quoted(const std::string& text);

}  // namespace warpbeam::report
