// Value vectors: a kernel per statement that loads operands, executes the statement once per thread and stores what the
// destination holds. The same text runs on a device, which records, and on our machine, which must agree bit for bit.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/statements.h"
#include "fuzz/values.h"

namespace warpbeam::isa_test {

inline constexpr uint32_t kThreads = 1024;  // of a case, in blocks of one warp
inline constexpr int kInputs = 5;           // pointers a kernel gets before the output's

struct VectorCase {
  fuzz::Statement statement;
  std::string kernel;            // the entry's name
  std::string text;              // the entry
  isa::Type inputs[kInputs]{};   // None: not read
};

// Statements whose result depends on the operands alone, or on those of the warp's lanes.
std::vector<VectorCase> vector_cases();
// The part of them that moves data: memory_vectors.cc.
void add_memory_cases(std::vector<VectorCase>& cases);
// Module variables that the cases name, for module_header's text.
inline constexpr const char* kVectorVariables = ".global .align 16 .b8 cells[16384];\n";

// Two numbers per thread: the destination's bits; the second predicate or the carry flag.
uint64_t digest(const std::vector<uint64_t>& outputs);

}  // namespace warpbeam::isa_test
