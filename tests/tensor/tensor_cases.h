// Kernels around single tensor-core instructions with the numbers they are given: the same cases are recorded on a real
// device and replayed on our machine. Plain C++ without libraries, because the recorder is built where the device is.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace warpbeam::tensor_test {

enum class Format : uint8_t { Bits, F16, BF16, TF32, F32, F64, E4M3, E5M2, Index, Meta, MetaTF32 };

struct Region {
  Format format = Format::Bits;
  int words = 0;         // 32-bit words per thread, or of the whole block
  bool shared = false;   // one copy for the block, behind the threads' words
  int element_bits = 0;  // Index: width of the elements that count upwards
};

struct TensorCase {
  std::string name;    // the statement, and what else tells it from others
  std::string kernel;  // entry name
  std::string text;    // of the entry
  int threads = 32, trials = 1;
  std::vector<Region> inputs;
  int output_words = 0;  // per thread

  int thread_words() const;
  int trial_words() const;  // of the input
  // What the block `trial` finds behind its input pointer.
  std::vector<uint32_t> input(int trial) const;
};

std::vector<TensorCase> tensor_cases();
// The head of the module that holds all entries.
std::string tensor_module_header();

uint64_t digest(const uint32_t* words, size_t count);

}  // namespace warpbeam::tensor_test
