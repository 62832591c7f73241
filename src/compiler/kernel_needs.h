// What the kernels of a program need of a multiprocessor, from their PTX.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpbeam::ptx {
struct Function;
struct Module;
}  // namespace warpbeam::ptx

namespace warpbeam::compiler {

struct KernelNeeds {
  std::string name, display_name;
  int registers = 0;      // per thread
  bool from_ptxas = false;
  int static_shared = 0;  // bytes per block
  int max_threads = 0;    // __launch_bounds__, or 0
};

// Of a source, which is compiled for the chosen device first, or of a PTX text; in the order in which they stand there.
Result<std::vector<KernelNeeds>> kernels_of(const std::string& file);

// Bytes of shared memory that a block of the kernel has before any dynamic one: its own, and those of what it calls.
uint64_t static_shared_of(const ptx::Module& module, const ptx::Function& kernel);

}  // namespace warpbeam::compiler
