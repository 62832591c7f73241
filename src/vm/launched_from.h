// Where in device code a grid was launched, for watchers.
#pragma once
#include <cstdint>

namespace warpbeam::vm {

struct LaunchedFrom {
  uint64_t parent = 0;  // Launch::grid_id of the grid whose code launched it
  uint64_t block = 0;   // of that one
  uint32_t number = 0;  // among what that block launched
  int64_t behind = -1;  // the number of the grid before it in its stream
  uint32_t joined = 0;  // what has a smaller number was waited for before
  bool tail = false;    // behind all else that its parent launched
};

// Of the launch for which the calling thread asks an observer now (Observer::child).
const LaunchedFrom& launched_from();

}  // namespace warpbeam::vm
