// A function's basic blocks.
#pragma once
#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace warpbeam::ptx {

struct Block {
  uint32_t begin = 0, end = 0;  // of Function::body; the last block may be empty: running off the end returns
  bool falls = true;            // its end leads to the block behind it, or off the end
  std::vector<uint32_t> successors;
};

bool ends_block(const Instruction& i);
std::vector<Block> split_blocks(const Function& f);

}  // namespace warpbeam::ptx
