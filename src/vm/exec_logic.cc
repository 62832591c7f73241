#include "isa/rows/logic.h"
#include "vm/exec_lane.h"

namespace warpbeam::vm {

void add_logic_handlers() { add_lane_chapter(isa::rows::Logic{}); }

}  // namespace warpbeam::vm
