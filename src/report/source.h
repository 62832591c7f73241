// Counts beside the source: for each launch, the lines that executed something, and the PTX.
#pragma once
#include <iosfwd>

#include "report/recording.h"

namespace warpbeam::report {

enum class Listing { Source, Ptx };

void print_source(std::ostream& out, const Json& recording, Listing listing);
void print_source_csv(std::ostream& out, const Json& recording, Listing listing);

}  // namespace warpbeam::report
