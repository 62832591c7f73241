// What code that is watched remembers while it is written (emit_watch.cc, emit_words.cc, emit_batches.cc).
#pragma once
#include <llvm/IR/Instructions.h>

#include <array>
#include <map>
#include <memory>

#include "jit/watch.h"
#include "jit/writing.h"
#include "vm/access_places.h"

namespace warpbeam::jit {

struct WordRun {  // of memory, from an address on
  V first = nullptr;
  uint32_t lane = 0, count = 0, each = 1;  // the first one's lane; how many words, of which each lane has so many
  bool many = false;                       // each is read by several lanes
};

using Batch = std::vector<const vm::Insn*>;  // that are told of together

struct Watching {
  vm::AccessPlaces places;
  std::map<const vm::Insn*, std::shared_ptr<const Batch>> batch_of;
  std::map<uint32_t, uint32_t> stretch_of, exit_stretch;  // by node; by instruction
  std::array<llvm::AllocaInst*, 4> staged{};
  V meeting_wants_more = nullptr;
};

}  // namespace warpbeam::jit
