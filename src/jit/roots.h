// Which pointer parameter an address was made from. Addresses of one root usually lie in one allocation: that is a guess
// which makes checks cheaper, never one that they rest on.
#pragma once
#include <set>

#include "jit/flow.h"

namespace warpbeam::jit {

struct Roots {
  static constexpr int64_t kNone = -1, kUnset = -2;
  std::vector<int64_t> of;         // by variable: the parameter's offset
  std::set<int64_t> loaded;        // roots that the kernel reads through
  bool publishes = false;          // stores or atomics that other threads wait for make earlier stores known
  int64_t access(const Flow& flow, const vm::Insn& insn) const;  // the root of a load's or store's address
};

Roots find_roots(const Flow& flow);

}  // namespace warpbeam::jit
