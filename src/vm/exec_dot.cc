#include "isa/rows/video.h"
#include "vm/exec_lane.h"
#include "vm/lane_chapters.h"

namespace warpbeam::vm {

void add_dot_handlers() { add_lane_chapter(isa::rows::Dots{}); }

}  // namespace warpbeam::vm
