// The vendor's assembler, where one is installed, knows how many registers a kernel really gets.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "vm/machine.h"

namespace warpbeam::observe {

class Assembler {
 public:
  // Registers per thread by ptxas; 0 when there is none, or it does not take the program or know its GPU.
  uint32_t registers(const vm::Launch& launch);

 private:
  using Registers = std::map<std::string, uint32_t>;  // by kernel
  std::map<size_t, Registers> known_;                 // by the hash of a text
};

}  // namespace warpbeam::observe
