// How an instruction reaches memory: addresses of lanes to host pointers, with every bound checked.
#pragma once
#include "vm/warp.h"

namespace warpbeam::vm {

class DeviceMemory;

// A sentence about an address that a kernel may not touch: what is there, or near.
std::string whose_address(const DeviceMemory& memory, uint64_t address);
// The same of one near an allocation that is there.
std::string neighbour_of(const DeviceMemory& memory, uint64_t address);

// Interpreted programs may race; their accesses are theirs, not ours, so the thread sanitizer leaves them out.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WB_RACY __attribute__((no_sanitize("thread")))
#endif
#endif
#ifndef WB_RACY
#define WB_RACY
#endif

struct Addresses {
  uint64_t at[kWarpSize];
};

// Lane addresses of base + offset; inactive lanes repeat an active lane's address, so that whole-warp minima and maxima
// speak of active lanes only. Shared and local memory have addresses of 32 bits: of a wider register the rest is dropped.
inline void lane_addresses(Warp& w, int32_t base, int base_width, int64_t offset, uint32_t mask, Addresses& out,
                           isa::Space space = isa::Space::Global) {
  if (base < 0) {
    for (int l = 0; l < kWarpSize; ++l) out.at[l] = static_cast<uint64_t>(offset);
    return;
  }
  if (base_width == 8) {
    const uint64_t* b = w.lanes<uint64_t>(base);
    for (int l = 0; l < kWarpSize; ++l) out.at[l] = b[l] + static_cast<uint64_t>(offset);
    if (space == isa::Space::Shared || space == isa::Space::SharedCluster || space == isa::Space::Local)
      for (int l = 0; l < kWarpSize; ++l) out.at[l] = static_cast<uint32_t>(out.at[l]);
  } else {
    const uint32_t* b = w.lanes<uint32_t>(base);
    for (int l = 0; l < kWarpSize; ++l) out.at[l] = static_cast<uint32_t>(b[l] + static_cast<uint32_t>(offset));
  }
  if (mask != ~0u) {
    const uint64_t any = out.at[__builtin_ctz(mask)];
    for (int l = 0; l < kWarpSize; ++l) out.at[l] = (mask >> l & 1) ? out.at[l] : any;
  }
}

enum class AccessKind : uint8_t { Read, Write, Atomic };

// Told of reads a little outside of an allocation, which then give what memory has there, as on a GPU. Null: they are faults.
extern void (*outside_read)(Warp& w, const Insn& i, int lane, uint64_t address, uint32_t bytes);
// Whether such a read may be made; tells of it.
bool reads_outside(Warp& w, const Insn& i, int lane, uint64_t address, uint32_t bytes);

// Checks all lanes of a global access of `bytes` each; traps on the first bad lane. `outside`: reads may be reads_outside's.
void check_global(Warp& w, const Insn& i, uint32_t mask, const Addresses& a, uint32_t bytes, AccessKind kind, bool outside = true);
void check_shared(Warp& w, const Insn& i, uint32_t mask, const Addresses& a, uint32_t bytes, AccessKind kind);
[[noreturn]] void misaligned(Warp& w, const Insn& i, uint32_t mask, const Addresses& a, uint32_t bytes, AccessKind kind);

// Host pointers for any space; generic addresses may point to different spaces in different lanes.
void resolve(Warp& w, const Insn& i, uint32_t mask, isa::Space space, const Addresses& a, uint32_t bytes, AccessKind kind,
             std::byte* (&out)[kWarpSize]);

inline bool in_windows(const Addresses& a) {
  uint64_t any = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    const uint64_t high = a.at[l] & ~(kWindowBytes - 1);
    any |= (high == kSharedWindow) | (high == kLocalWindow);
  }
  return any;
}

}  // namespace warpbeam::vm
