// What a JSON document has to look like before anybody reads it. A shape in words:
//   s text   b true or false   n number   i whole number   u whole number from 0 on   * anything
//   [x] a list of x            (x y) a list that begins with x and y; what follows is anything
//   {name:x other?:y} an object with at least these; `?` may be absent     <x> an object whose values are x
// Names that a shape does not have are let be: a newer version may have written them.
#pragma once
#include <string_view>

#include "base/result.h"
#include "report/recording.h"

namespace warpbeam::report {

// The error names the first place that does not fit: `launches[3].grid[0] is text; a whole number from 0 on was needed`.
Result<void> fits_shape(const Json& document, std::string_view shape);

// Of a recording of the profiler: its shape, and that its numbers of files, functions and instructions are of such.
Result<void> fits_recording(const Json& recording);

}  // namespace warpbeam::report
