#include "isa/rows/float.h"
#include "vm/exec_lane.h"

namespace warpbeam::vm {

void add_float_handlers() { add_lane_chapter(isa::rows::Float{}); }

}  // namespace warpbeam::vm
