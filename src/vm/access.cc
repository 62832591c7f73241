#include "vm/access.h"

#include <fmt/format.h>

#include "vm/memory.h"
#include "vm/spans.h"

namespace warpbeam::vm {
namespace {

constexpr uint64_t kGpuPage = DeviceMemory::kGpuPage, kMarginStep = 64 << 10;

const char* verb(AccessKind k) { return k == AccessKind::Read ? "read" : k == AccessKind::Write ? "write" : "atomic operation"; }

std::string plural(uint32_t bytes) { return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"); }

}  // namespace

std::string neighbour_of(const DeviceMemory& memory, uint64_t address) {
  const MemoryFault fault = memory.explain(address);
  if (!fault.nearest) return "no device memory is allocated";
  const Allocation& a = *fault.nearest;
  const bool after = address >= a.base;
  const uint64_t distance = after ? address - (a.base + a.size) : a.base - address;
  return fmt::format("the address is {} bytes {} the nearest allocation, {} bytes at {:#x} ({})", distance + after,
                     after ? "after" : "before", a.size, a.base, a.origin);
}

std::string whose_address(const DeviceMemory& memory, uint64_t address) {
  const MemoryFault fault = memory.explain(address);
  std::string detail;
  if (address < 4096) {
    detail = "the address is null or nearly so";
  } else if (fault.freed) {
    detail = fmt::format("the address is {} bytes into memory of {} bytes at {:#x} that was freed ({})", address - fault.nearest->base,
                         fault.nearest->size, fault.nearest->base, fault.nearest->origin);
  } else if (fault.other_device) {
    detail = fmt::format("the address is in memory of another device ({} bytes at {:#x}, {}): cudaDeviceEnablePeerAccess lets kernels in",
                         fault.nearest->size, fault.nearest->base, fault.nearest->origin);
  } else if (fault.host_pointer) {
    detail = "the address belongs to the host program: copy the data with cudaMemcpy, or use cudaMallocManaged or cudaHostAlloc";
  } else if (fault.nearest) {
    const Allocation& a = *fault.nearest;
    const bool after = address >= a.base;
    const uint64_t distance = after ? address - (a.base + a.size) : a.base - address;
    detail = neighbour_of(memory, address);
    if (distance < kGpuPage)
      detail += fmt::format("\na GPU, whose pages are 2 MiB, may not notice that; with WARPBEAM_MARGIN={}K Warpbeam does not either",
                            (distance / kMarginStep + 1) * (kMarginStep >> 10));
    if (distance > 0xffffffffu) detail = "the address is far from every allocation";
  } else {
    detail = "no device memory is allocated";
  }
  return detail;
}

namespace {

[[noreturn]] void bad_global(Warp& w, const Insn& i, int lane, uint64_t address, uint32_t bytes, AccessKind kind) {
  const std::string detail = whose_address(*w.block->launch->memory, address);
  w.trap(TrapKind::IllegalAddress, i, lane, fmt::format("invalid __global__ {} of size {}", verb(kind), plural(bytes)), address, detail);
}

// Generic addresses, space by space.
void report_generic(Warp& w, const Insn& i, uint32_t mask, const Addresses& a, uint32_t bytes, AccessKind kind) {
  for (const auto& [space, window] :
       {std::pair{isa::Space::Shared, kSharedWindow}, {isa::Space::Local, kLocalWindow}, {isa::Space::Global, uint64_t(0)}}) {
    Access access;
    access.space = space;
    access.kind = kind;
    access.generic = true;
    access.bytes = bytes;
    for (int l = 0; l < kWarpSize; ++l) {
      const uint64_t high = a.at[l] & ~(kWindowBytes - 1);
      const bool here = window ? high == window : high != kSharedWindow && high != kLocalWindow;
      access.mask |= static_cast<uint32_t>((mask >> l & 1) && here) << l;
      access.address[l] = a.at[l] - window;
    }
    if (access.mask) w.block->observer->access(w, i, access);
  }
}

}  // namespace

void misaligned(Warp& w, const Insn& i, uint32_t mask, const Addresses& a, uint32_t bytes, AccessKind kind) {
  for (int l = 0; l < kWarpSize; ++l)
    if ((mask >> l & 1) && (a.at[l] & (bytes - 1)))
      w.trap(TrapKind::MisalignedAddress, i, l, fmt::format("misaligned {} of size {}", verb(kind), plural(bytes)), a.at[l],
             fmt::format("the address must be a multiple of {}", bytes));
  __builtin_unreachable();
}

void (*outside_read)(Warp&, const Insn&, int, uint64_t, uint32_t) = nullptr;

bool reads_outside(Warp& w, const Insn& i, int lane, uint64_t address, uint32_t bytes) {
  if (!outside_read) return false;
  // Blocks at a border read there again and again.
  constexpr uint64_t kPage = 4096;
  struct Opened {
    const DeviceMemory* memory = nullptr;
    uint64_t epoch = 0, page = 0;
  };
  static thread_local Opened last;
  const DeviceMemory* memory = w.block->launch->memory;
  const Opened now{memory, memory->epoch(), address / kPage};
  const bool opened =
      last.memory == now.memory && last.epoch == now.epoch && last.page == now.page && (address + bytes - 1) / kPage == now.page;
  if (!opened && !memory->open_gap(address, bytes)) return false;
  last = now;
  outside_read(w, i, lane, address, bytes);
  return true;
}

void check_global(Warp& w, const Insn& i, uint32_t mask, const Addresses& a, uint32_t bytes, AccessKind kind, bool outside) {
  AccessRange& cached = w.block->ranges[i.cache];
  uint64_t lo = a.at[0], hi = a.at[0], low_bits = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    lo = a.at[l] < lo ? a.at[l] : lo;
    hi = a.at[l] > hi ? a.at[l] : hi;
    low_bits |= a.at[l];
  }
  if (low_bits & (bytes - 1)) [[unlikely]]
    misaligned(w, i, mask, a, bytes, kind);
  if (lo >= cached.lo && hi + bytes <= cached.hi && hi + bytes > hi) [[likely]]
    return;
  const DeviceMemory& memory = *w.block->launch->memory;
  AccessRange r;
  if (memory.covers(lo, hi - lo + bytes, &r.lo, &r.hi)) {
    cached = r;
    return;
  }
  // Lanes may lie in different allocations: each is asked for once, for all lanes that lie there.
  r = cached;
  for (uint32_t left = mask;;) {
    uint32_t there = 0;
    for (int l = 0; l < kWarpSize; ++l)
      there |= static_cast<uint32_t>(a.at[l] >= r.lo && a.at[l] + bytes <= r.hi && a.at[l] + bytes > a.at[l]) << l;
    left &= ~there;
    if (!left) return;
    const int l = __builtin_ctz(left);
    if (memory.covers(a.at[l], bytes, &r.lo, &r.hi)) continue;
    r = {1, 0};
    left &= ~(1u << l);
    if (kind != AccessKind::Read || !outside || !reads_outside(w, i, l, a.at[l], bytes)) bad_global(w, i, l, a.at[l], bytes, kind);
  }
}

void check_shared(Warp& w, const Insn& i, uint32_t mask, const Addresses& a, uint32_t bytes, AccessKind kind) {
  uint64_t hi = 0, low_bits = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    hi = a.at[l] > hi ? a.at[l] : hi;
    low_bits |= a.at[l];
  }
  const uint64_t size = w.block->shared_bytes;
  if (hi + bytes > size || hi + bytes < hi) [[unlikely]] {
    for (int l = 0; l < kWarpSize; ++l)
      if ((mask >> l & 1) && (a.at[l] + bytes > size || a.at[l] + bytes < bytes))
        w.trap(TrapKind::SharedOutOfRange, i, l, fmt::format("invalid __shared__ {} of size {}", verb(kind), plural(bytes)), a.at[l],
               fmt::format("the block has {} of shared memory", plural(static_cast<uint32_t>(size))));
  }
  if (low_bits & (bytes - 1)) [[unlikely]]
    misaligned(w, i, mask, a, bytes, kind);
}

void resolve(Warp& w, const Insn& i, uint32_t mask, isa::Space space, const Addresses& a, uint32_t bytes, AccessKind kind,
             std::byte* (&out)[kWarpSize]) {
  using isa::Space;
  // What functions like printf and sincos touch is known nowhere else.
  if (w.block->observer && i.source->form.row->cls == isa::Class::Call) report_generic(w, i, mask, a, bytes, kind);
  auto shared = [&](uint32_t lanes, uint64_t window) {
    if (space != Space::Shared && !w.block->leader->members.empty()) {
      // Lanes that look into other blocks of the cluster.
      for (uint32_t left = lanes; left; left &= left - 1) {
        const int l = __builtin_ctz(left);
        if (a.at[l] - window < kClusterStride) continue;
        out[l] = shared_span(w, i, l, a.at[l] - window, bytes, bytes, kind).data();
        lanes &= ~(1u << l);
      }
      if (!lanes) return;
    }
    Addresses offsets;
    const uint64_t first = a.at[__builtin_ctz(lanes)] - window;
    for (int l = 0; l < kWarpSize; ++l) offsets.at[l] = (lanes >> l & 1) ? a.at[l] - window : first;
    check_shared(w, i, lanes, offsets, bytes, kind);
    for (int l = 0; l < kWarpSize; ++l)
      if (lanes >> l & 1) out[l] = w.block->shared.data() + offsets.at[l];
  };
  auto local = [&](uint32_t lanes, uint64_t window) {
    for (int l = 0; l < kWarpSize; ++l) {
      if (!(lanes >> l & 1)) continue;
      const uint64_t offset = a.at[l] - window;
      if (offset + bytes > w.local_limit || offset + bytes < offset)
        w.trap(TrapKind::IllegalAddress, i, l, fmt::format("invalid __local__ {} of size {}", verb(kind), plural(bytes)), a.at[l],
               fmt::format("the thread has {} of local memory", plural(w.local_limit)));
      if (offset & (bytes - 1)) misaligned(w, i, lanes, a, bytes, kind);
      out[l] = w.local(l) + offset;
    }
  };
  auto global = [&](uint32_t lanes) {
    Addresses only = a;
    const uint64_t first = a.at[__builtin_ctz(lanes)];
    for (int l = 0; l < kWarpSize; ++l)
      if (!(lanes >> l & 1)) only.at[l] = first;
    check_global(w, i, lanes, only, bytes, kind);
    for (int l = 0; l < kWarpSize; ++l)
      if (lanes >> l & 1) out[l] = reinterpret_cast<std::byte*>(a.at[l]);
  };
  switch (space) {
    case Space::Shared:
    case Space::SharedCluster: return shared(mask, 0);
    case Space::Local: return local(mask, 0);
    case Space::Global:
    case Space::Const: return global(mask);
    default: break;
  }
  uint32_t in_shared = 0, in_local = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    const uint64_t high = a.at[l] & ~(kWindowBytes - 1);
    in_shared |= static_cast<uint32_t>(high == kSharedWindow) << l;
    in_local |= static_cast<uint32_t>(high == kLocalWindow) << l;
  }
  if (uint32_t m = mask & in_shared) shared(m, kSharedWindow);
  if (uint32_t m = mask & in_local) local(m, kLocalWindow);
  if (uint32_t m = mask & ~in_shared & ~in_local) global(m);
}

}  // namespace warpbeam::vm
