// What an instruction reads and writes, in terms of slots of the interpreter's frame. The decoder has already said where
// everything is; this gives names to the slots: registers become variables, the rest are constants, special registers and
// addresses known when a block begins.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "jit/known_rows.h"
#include "vm/engine.h"

namespace warpbeam::jit {

// Bytes of a lane; 0: a predicate.
using Width = uint8_t;

struct Slot {
  int32_t at = -1;  // frame offset, or a key of kParamKeys and above for a part of a call's parameters
  Width bytes = 0;
  bool written = false;
  bool read = false;
};

// Parameters of calls live in local memory; those that are only stored, passed and loaded whole are variables here.
inline constexpr int32_t kParamKeys = 0x20000000;

// The slots of an instruction, its guard included. A destination under a guard or of unknown meaning counts as read too.
std::vector<Slot> slots_of(const vm::Insn& insn, const vm::FunctionCode& code);

// A load or store that others need not see in any order, nor as often as it is written.
bool is_weak_access(const vm::Insn& insn);

}  // namespace warpbeam::jit
