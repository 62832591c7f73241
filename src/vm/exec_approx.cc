#include "isa/rows/approx.h"
#include "vm/exec_lane.h"
#include "vm/lane_chapters.h"

namespace warpbeam::vm {

void add_approx_handlers() { add_lane_chapter(isa::rows::Approx{}); }

}  // namespace warpbeam::vm
