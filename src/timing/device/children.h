// When the grids run that a kernel has launched, beside each other and within it.
//
// What a grid launches begins once the grid's last blocks have begun, as on a device, in the order of blocks and launches, as far as the
// device has room; what is behind another one in its stream, or was launched after its block had waited, comes after that. A grid is over when all
// that it has launched is, and what it put into the tail stream comes last.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpbeam::timing::device {

struct Child {
  uint64_t self = 0, parent = 0;  // numbers; a parent that is not among them is the kernel
  uint64_t block = 0;  // of the parent
  uint32_t number = 0;  // among what that block launched
  int64_t behind = -1;  // number of the one before it in its stream
  uint32_t joined = 0;  // the block waited for all with a smaller number first
  bool tail = false;
  double nanoseconds = 0, waves = 1, share = 0;  // with the device to itself; of the multiprocessors
  double begin = 0, end = 0;  // from the kernel's begin on: what is to be found
};

struct ChildCosts {
  double launch = 0;  // until a child may begin
  double each = 0;  // that a block takes for each that it launches
  double end = 0;  // until the kernel is known to be over with all of them
  double gap = 0;  // between two of a stream
  double front = 0;  // between the beginnings of two
  std::size_t at_once = 128;
};

// How long the kernel takes with its children, which are put into the order in which they begin.
double place_children(double nanoseconds, double waves, const ChildCosts& costs, std::vector<Child>& children);

}  // namespace warpbeam::timing::device
