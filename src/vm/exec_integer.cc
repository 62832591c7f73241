#include "isa/rows/integer.h"
#include "vm/exec_lane.h"

namespace warpbeam::vm {

void add_integer_handlers() { add_lane_chapter(isa::rows::Integer{}); }

}  // namespace warpbeam::vm
