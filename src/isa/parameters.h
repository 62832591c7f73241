// Spaces of parameters, of kernels and of functions.
#pragma once
#include "isa/mods.h"

namespace warpbeam::isa {

constexpr bool is_parameter(Space s) { return s == Space::Param || s == Space::ParamEntry || s == Space::ParamFunc; }

}  // namespace warpbeam::isa
