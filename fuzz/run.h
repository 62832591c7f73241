// Runs a random kernel on an engine, and compares what two engines left in memory.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/kernel.h"
#include "vm/machine.h"

namespace warpbeam::fuzz {

enum class Engine : uint8_t { Interpreter, Jit };
std::optional<Engine> engine_named(std::string_view name);

// Before the first kernel runs: lets the process have the fast engine.
void choose_fast_engine();

struct Outcome {
  std::string failure;  // the kernel was refused or trapped: why
  std::vector<std::byte> out;
  bool compiled = false;  // the fast engine took it
  bool operator==(const Outcome& other) const { return failure == other.failure && out == other.out; }
};

// Device memory with the input in place.
class Bench {
 public:
  Bench();
  Outcome run(const Kernel& kernel, Engine engine);

 private:
  vm::DeviceMemory memory_;
  uint64_t in_ = 0;
};

// What the output is made of: an array for each register, the threads' places, the cells.
struct OutputArray {
  std::string name;
  int bytes;  // of an element
  uint64_t offset, count;
};
std::vector<OutputArray> output_arrays(const Kernel& kernel);

// The first difference in words: which thread's which register, or which byte; empty when there is none.
std::string describe_difference(const Kernel& kernel, const std::string& text, const Outcome& a, const Outcome& b);

// The output's arrays by name, each with the digest of its bytes: "%r3 0123456789abcdef".
std::vector<std::pair<std::string, uint64_t>> digests(const Kernel& kernel, const std::vector<std::byte>& out);

}  // namespace warpbeam::fuzz
