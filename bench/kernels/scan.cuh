// Exclusive and inclusive sums of any length: blocks scan their piece, the blocks' sums are scanned, and added.
#pragma once

#include "cpu/work.h"

namespace bench {

// Scratch space for the sums of blocks, level by level.
class Scan {
 public:
  enum class Kind { Doubling, Balanced };

  Scan(size_t n, Kind kind);
  // out[k] = in[0] + … + in[k], without in[k] for Balanced. May be in place.
  void run(const int* in, int* out);

 private:
  void level(const int* in, int* out, size_t n, size_t depth);

  size_t n_;
  Kind kind_;
  std::vector<std::unique_ptr<DeviceArray<int>>> sums_, scanned_;
};

}  // namespace bench
