// Cases for a real device, and what came back.
#pragma once
#include <cstdint>
#include <string>

#include "fuzz/run.h"

namespace warpbeam::fuzz {

// Writes into `directory`: input.bin; a case<seed>.ptx each; manifest.txt, a line for each case: seed, grid, block,
// bytes of output and of cells at its end, then the arrays of the output: name, offset, bytes of an element, elements.
bool emit_cases(const std::string& directory, uint64_t seed, uint64_t count);

// Reads gpu_runner's lines "seed name digest", runs the same kernels on `engine`, and prints what differs. With
// gpu_runner's raw output as well, the first differing elements of each array.
bool compare_cases(const std::string& path, const std::string& raw, Engine engine);

}  // namespace warpbeam::fuzz
