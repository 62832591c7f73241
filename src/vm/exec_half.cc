#include "isa/rows/half.h"
#include "vm/exec_lane.h"
#include "vm/lane_chapters.h"

namespace warpbeam::vm {

void add_half_handlers() { add_lane_chapter(isa::rows::HalfPrecision{}); }

}  // namespace warpbeam::vm
