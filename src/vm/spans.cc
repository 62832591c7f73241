#include "vm/spans.h"

#include <fmt/format.h>

#include "vm/memory.h"

namespace warpbeam::vm {

uint64_t shared_offset(Warp& w, const Insn& i, int lane, uint64_t address) {
  if (address < kWindowBytes) return address;
  if ((address & ~(kWindowBytes - 1)) == kSharedWindow) return address - kSharedWindow;
  w.trap(TrapKind::InvalidAddressSpace, i, lane, fmt::format("{} needs an address in shared memory", i.source->form.row->opcode), address);
}

SharedPlace locate_shared(Warp& w, const Insn& i, int lane, uint64_t address) {
  const uint64_t offset = shared_offset(w, i, lane, address);
  if (offset < kClusterStride) return {w.block, offset};
  const auto& members = w.block->leader->members;
  const uint64_t rank = offset / kClusterStride - 1;
  if (rank >= members.size())
    w.trap(TrapKind::SharedOutOfRange, i, lane,
           fmt::format("the address belongs to block {} of the cluster, which has {}", rank, members.size()), address);
  return {members[rank], offset % kClusterStride};
}

uint64_t reported_offset(const Warp& w, const SharedPlace& place) {
  return place.block == w.block ? place.offset : place.offset + (place.block->cluster_rank + 1) * kClusterStride;
}

SharedPlace shared_span(Warp& w, const Insn& i, int lane, uint64_t address, uint64_t bytes, uint64_t alignment, AccessKind kind) {
  const SharedPlace place = locate_shared(w, i, lane, address);
  const char* verb = kind == AccessKind::Read ? "read" : kind == AccessKind::Write ? "write" : "atomic operation";
  const uint64_t size = place.block->shared_bytes;
  if (place.offset + bytes > size || place.offset + bytes < bytes)
    w.trap(TrapKind::SharedOutOfRange, i, lane, fmt::format("invalid __shared__ {} of size {} bytes", verb, bytes), address,
           fmt::format("the block has {} bytes of shared memory", size));
  if (place.offset % alignment)
    w.trap(TrapKind::MisalignedAddress, i, lane, fmt::format("misaligned {} of size {} bytes", verb, bytes), address,
           fmt::format("the address must be a multiple of {}", alignment));
  return place;
}

std::byte* global_span(Warp& w, const Insn& i, int lane, uint64_t address, uint64_t bytes, uint64_t alignment, AccessKind kind) {
  const uint64_t high = address & ~(kWindowBytes - 1);
  if (high == kSharedWindow || high == kLocalWindow)
    w.trap(TrapKind::InvalidAddressSpace, i, lane, fmt::format("{} needs an address in global memory", i.source->form.row->opcode),
           address);
  if (address % alignment)
    w.trap(TrapKind::MisalignedAddress, i, lane,
           fmt::format("misaligned {} of size {} bytes", kind == AccessKind::Read ? "read" : "write", bytes), address,
           fmt::format("the address must be a multiple of {}", alignment));
  uint64_t lo = 0, hi = 0;
  if (bytes && !w.block->launch->memory->covers(address, bytes, &lo, &hi)) {
    // The first byte that is not there, so that the report says what lies around it.
    uint64_t bad = address;
    if (w.block->launch->memory->covers(address, 1, &lo, &hi)) bad = hi;
    Addresses a;
    for (uint64_t& x : a.at) x = bad;
    check_global(w, i, 1u << lane, a, 1, kind, false);
  }
  return reinterpret_cast<std::byte*>(address);
}

}  // namespace warpbeam::vm
