// Which rows of the instruction table random kernels have had.
#pragma once
#include <string>
#include <vector>

#include "fuzz/kernel.h"

namespace warpbeam::fuzz {

class Coverage {
 public:
  Coverage();
  void add(const Kernel& kernel);
  size_t covered() const;
  // "1203 of 1410 rows …", and a line for each row that is missing, with what tests it instead.
  std::string report() const;

 private:
  std::vector<uint64_t> times_;  // by Row::id
};

}  // namespace warpbeam::fuzz
