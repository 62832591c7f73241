// Memory that is allocated and freed.
#include <algorithm>
#include <cmath>

#include "observe/clock/call_state.h"
#include "observe/clock/device_clock.h"
#include "observe/clock/time_functions.h"

namespace warpbeam::observe {

namespace {

using model::kMiB;
constexpr uint64_t kSmallAllocation = 1 << 20, kGrain = 512;  // bytes
constexpr double kBlock = 2 * kMiB;
constexpr int kPreferredLocation = 3;       // cudaMemoryAdvise
constexpr double kQuickAdvice = 0.2;        // of what other advice takes
constexpr uint32_t kWriteCombined = 4;      // cudaHostAllocWriteCombined
// Of what it takes otherwise: allocating what was freed last, and freeing what was allocated last (its addresses and page tables are at hand).
constexpr double kAgain = 0.79, kSmallAgain = 0.5;
constexpr double kNewRange = 2;  // times what managed memory takes, besides, of blocks of its own that were not freed last
// Of cudaMalloc, besides: an allocation when the host has done other things since the last one; what that leaves to the next one.
constexpr double kColdAllocation = 0.25, kColdSmall = 0.1, kWarmed = 0.3;

// Of cudaMallocAsync and cudaFreeAsync.
bool in_order(const vm::Allocation& allocation) { return allocation.origin.find("Async") != allocation.origin.npos; }

bool is_on_device(vm::MemoryKind kind) {
  return kind == vm::MemoryKind::Device || kind == vm::MemoryKind::Managed || kind == vm::MemoryKind::Variable;
}

}  // namespace

// Small allocations lie in blocks of 2 MiB: whether one needs a new block, or the last one in its block has gone.
bool DeviceClock::SmallBlocks::take(uint64_t base, uint64_t bytes) {
  if (bytes > kSmallAllocation) return false;
  const double size = static_cast<double>((bytes + kGrain - 1) / kGrain * kGrain);
  const bool fits = !sizes.empty() && used + size <= held;
  if (!fits) held += kBlock;
  used += size;
  sizes[base] = size;
  return fits;
}

bool DeviceClock::SmallBlocks::give(uint64_t base) {
  auto found = sizes.find(base);
  if (found == sizes.end()) return false;
  used -= found->second;
  sizes.erase(found);
  const bool stays = used > held - kBlock;
  if (!stays) held -= kBlock;
  return stays;
}

double DeviceClock::Pool::give_back_free(double keeps) {
  const double needed = std::max(keeps, std::ceil(used / kPoolBlock) * kPoolBlock);
  const double before = held;
  held = std::min(held, needed);
  return before - held;
}

double DeviceClock::pools_give_back(bool all) {
  double given = 0;
  for (Pool& pool : pools_) given += pool.give_back_free(all ? 0 : pool.keeps);
  return given;
}

void DeviceClock::pool_keeps(uint64_t bytes, bool own) {
  std::lock_guard lock(mutex_);
  pools_[own].keeps = static_cast<double>(bytes);
}

void DeviceClock::allocate_in_order(const vm::Allocation& allocation) {
  Pool& pool = pool_of(allocation);
  pool.used += static_cast<double>(allocation.size);
  charge_first(&model::Link::pool_first);
  if (pool.used <= pool.held) {
    if (pool.freed) --pool.freed;
    else if (pool.waited) --pool.waited, charge(link_.allocate_in_order_again);
    return charge(link_.allocate_in_order_call);
  }
  charge(std::ceil((pool.used - pool.held) / kPoolBlock) * (link_.pool_call + link_.pool_mib * kPoolBlock / kMiB));
  pool.held = std::ceil(pool.used / kPoolBlock) * kPoolBlock;
}

// Whether the allocation is what was freed last, and nothing has been allocated since.
bool DeviceClock::LastOne::take(const vm::Allocation& allocation) {
  const bool again = freed == allocation.size && kind == allocation.kind;
  freed = 0, kind = allocation.kind, base = allocation.base;
  return again;
}

bool DeviceClock::LastOne::give(const vm::Allocation& allocation) {
  const bool newest = base == allocation.base;
  freed = newest ? allocation.size : 0, kind = allocation.kind, base = 0;
  return newest;
}

void DeviceClock::charge_cold_allocation(bool small) {
  charge((small ? kColdSmall : kColdAllocation) * link_.allocate_call * this_call.cold_memory);
  this_call.cold_memory *= kWarmed, this_call.allocates = true;
}

double DeviceClock::pinned_share(const vm::Allocation& allocation) const {
  return allocation.flags & kWriteCombined ? link_.write_combined : 1;
}

void DeviceClock::allocated(const vm::Allocation& allocation, int ordinal) {
  std::lock_guard lock(mutex_);
  device(ordinal);
  const double mib = static_cast<double>(allocation.size) / kMiB;
  switch (allocation.kind) {
    case vm::MemoryKind::Managed: {
      const bool again = last_one_.take(allocation);
      const bool own_blocks = static_cast<double>(allocation.size) >= kBlock;
      charge(link_.managed_call * (own_blocks && !again ? 1 + kNewRange : 1));
      charge_first(&model::Link::managed_first);
      break;
    }
    case vm::MemoryKind::Device:
      if (!in_order(allocation)) {
        const bool again = last_one_.take(allocation);
        const bool small = small_blocks_.take(allocation.base, allocation.size);
        charge_cold_allocation(small);
        if (small) {
          charge(link_.allocate_small_call * (again ? kSmallAgain : 1));
          break;
        }
        charge(link_.allocate_call * (again ? kAgain : 1) + link_.allocate_mib * mib);
        charge_first(&model::Link::allocate_first);
        if (device(ordinal).model.unfinished()) charge(link_.allocate_beside);
        break;
      }
      allocate_in_order(allocation);
      break;
    case vm::MemoryKind::Registered: charge(link_.register_call + link_.register_mib * mib); break;
    case vm::MemoryKind::Pinned: charge(link_.pin_call + link_.pin_mib * (1 + std::max(0.0, mib - 1) * pinned_share(allocation))); break;
    case vm::MemoryKind::Variable:
    case vm::MemoryKind::Constant: break;
  }
  far_.allocated(allocation);
  watches_pages_ = far_.watches();
  predictor_.keep_visits(far_.any(), far_.any_managed());  // of launches from here on
  if (timeline_ && is_on_device(allocation.kind)) timeline_->memory(host_now(), ordinal, static_cast<int64_t>(allocation.size));
  redirect_time();  // in modules that were loaded since
}

void DeviceClock::freed(const vm::Allocation& allocation, int ordinal) {
  std::lock_guard lock(mutex_);
  if (timeline_ && is_on_device(allocation.kind)) timeline_->memory(host_now(), ordinal, -static_cast<int64_t>(allocation.size));
  const double touched = far_.freed(allocation.base);
  predictor_.keep_visits(far_.any(), far_.any_managed());
  const double mib = static_cast<double>(allocation.size) / kMiB;
  switch (allocation.kind) {
    case vm::MemoryKind::Managed:
      // Of small ones the block that they share stays as it is.
      last_one_.give(allocation);
      charge(link_.managed_call);
      if (touched > 0 && static_cast<double>(allocation.size) >= kBlock)
        charge(link_.managed_used + link_.managed_used_mib * touched / kMiB);
      break;
    case vm::MemoryKind::Registered: charge(link_.unregister_call + link_.unregister_mib * mib); break;
    case vm::MemoryKind::Pinned:
      charge(link_.unpin_call + link_.unpin_mib * (1 + std::max(0.0, mib - 1) * pinned_share(allocation)));
      break;
    default:
      if (in_order(allocation)) {
        Pool& pool = pool_of(allocation);
        pool.used = std::max(0.0, pool.used - static_cast<double>(allocation.size));
        charge(link_.free_in_order_call);
        ++pool.freed;
        break;
      }
      const bool newest = last_one_.give(allocation);
      const bool small = small_blocks_.give(allocation.base);
      charge_cold_allocation(small);
      if (small) {
        charge(link_.allocate_small_call * (newest ? kSmallAgain : 1));
        break;
      }
      charge(link_.free_call * (newest ? kAgain : 1) + link_.free_mib * mib);
      charge_first(&model::Link::free_first);
  }
}

bool DeviceClock::wants_pages(uint64_t base, uint64_t bytes, int device) {
  std::lock_guard lock(mutex_);
  wanted_pages_ = {far_.prefetch(base, bytes, device), device >= 0};
  return true;
}

void DeviceClock::advised(uint64_t base, uint64_t bytes, int advice, int device) {
  std::lock_guard lock(mutex_);
  const bool quick = advice == kPreferredLocation && device >= 0;
  charge(link_.advise_call * (quick ? kQuickAdvice : 1) + link_.advise_mib * far_.advise(base, bytes, advice, device) / kMiB);
}

}  // namespace warpbeam::observe
