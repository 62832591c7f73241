// Runs of bytes that one lane's instruction touches, for copies larger than a register: bounds checked, in any state
// space that such copies know. Shared memory may be that of another block of the cluster.
#pragma once
#include "vm/access.h"

namespace warpbeam::vm {

// Addresses of a cluster's shared memory: (rank + 1) in the upper eight bits; without, the block's own.
inline constexpr uint64_t kClusterStride = uint64_t{1} << 24;

struct SharedPlace {
  Block* block = nullptr;
  uint64_t offset = 0;
  std::byte* data() const { return block->shared.data() + offset; }
};

// The offset by which an observer of `w` is told of the place.
uint64_t reported_offset(const Warp& w, const SharedPlace& place);

// `address` is an offset in the shared window (of the block or of the cluster); generic addresses lose their window
// first.
uint64_t shared_offset(Warp& w, const Insn& i, int lane, uint64_t address);
SharedPlace locate_shared(Warp& w, const Insn& i, int lane, uint64_t address);
SharedPlace shared_span(Warp& w, const Insn& i, int lane, uint64_t address, uint64_t bytes, uint64_t alignment, AccessKind kind);
std::byte* global_span(Warp& w, const Insn& i, int lane, uint64_t address, uint64_t bytes, uint64_t alignment, AccessKind kind);

}  // namespace warpbeam::vm
