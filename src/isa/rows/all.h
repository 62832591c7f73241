// The list of chapters. A new chapter is added here and, if its rows are lane rows, in vm/exec_lane_*.cc.
#pragma once
#include "isa/rows/approx.h"
#include "isa/rows/async.h"
#include "isa/rows/compare.h"
#include "isa/rows/convert.h"
#include "isa/rows/engine.h"
#include "isa/rows/float.h"
#include "isa/rows/half.h"
#include "isa/rows/integer.h"
#include "isa/rows/logic.h"
#include "isa/rows/memory.h"
#include "isa/rows/tensor.h"
#include "isa/rows/texture.h"
#include "isa/rows/video.h"
#include "isa/rows/wgmma.h"

namespace warpbeam::isa {

template <class F>
void for_each_chapter(F f) {
  f(rows::Integer{});
  f(rows::Logic{});
  f(rows::Float{});
  f(rows::HalfPrecision{});
  f(rows::Approx{});
  f(rows::Dots{});
  f(rows::Video{});
  f(rows::Compare{});
  f(rows::Convert{});
  f(rows::Moves{});
  f(rows::MemoryRows{});
  f(rows::ControlRows{});
  f(rows::WarpRows{});
  f(rows::MiscRows{});
  f(rows::TensorRows{});
  f(rows::AsyncRows{});
  f(rows::WgmmaRows{});
  f(rows::Images{});
}

}  // namespace warpbeam::isa
