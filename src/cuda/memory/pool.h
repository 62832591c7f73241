// Pools of stream-ordered allocation. Address space is plentiful here, so an allocation is made at the call; what
// follows stream order is the free. A pool keeps an account of what it would hold, and says which devices see its
// memory.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>

#include "cuda/devices/context.h"
#include "cuda/memory/memory.h"

namespace warpbeam::cuda {

struct Pool {
  Pool(const cudaMemPoolProps& properties, bool is_default);
  ~Pool();
  const cudaMemPoolProps properties;
  const bool is_default;

  std::mutex mutex;  // guards what follows
  uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};  // event dependencies, opportunistic, internal dependencies
  uint64_t used = 0, used_high = 0;  // without what is freed in stream order: it can be had again at once
  uint64_t reserved = 0, reserved_high = 0;
  std::set<int> readers;  // devices that see the memory

  // Memory that other processes may see lies in a file; so does the memory of a pool that another process made.
  int file = -1;
  uint64_t file_end = 0;
  bool imported = false;

  bool on_device() const { return properties.location.type == cudaMemLocationTypeDevice; }
  bool on_device(int device) const { return on_device() && properties.location.id == device; }
  bool managed() const { return properties.allocType == cudaMemAllocationTypeManaged; }
  cudaMemPool_t handle() { return reinterpret_cast<cudaMemPool_t>(this); }

  void count_use(uint64_t bytes);
  uint64_t threshold() const;  // what is kept when nothing uses it, in whole steps
  void keep_at_most(uint64_t bytes);  // of what is reserved and not used
};
using PoolRef = std::shared_ptr<Pool>;

// Where an allocation came from.
struct PoolPart {
  PoolRef pool;
  uint64_t size = 0;
  uint64_t file_offset = 0, file_bytes = 0;  // its place in the pool's file
  bool imported = false;                     // its pages are mapped here for it alone
  bool freed = false;                        // in stream order
};

// Every pool, and what was allocated from them.
struct Pools {
  HandleTable<Pool> all;
  std::mutex mutex;                         // guards what follows
  using Place = std::tuple<int, int, int>;  // allocation type, location type, location
  std::map<Place, PoolRef> standard, current;
  std::map<uint64_t, PoolPart> parts;  // by address
};
Pools& pools();

// The context that pays for a pool's allocations which the caller makes.
Context& owner_of(const Pool& pool, Context& caller);
// Lets the devices that may read the pool see an allocation of it, `owner`'s.
void show_pooled(const Pool& pool, Context& owner, const vm::Allocation& allocation);
// False if the pool cannot have a file.
bool begin_file(Pool& pool);
// Part of the pool's file for an allocation that has just been made.
cudaError_t put_in_file(Pool& pool, const vm::Allocation& allocation, PoolPart* part);
void leave_file(const PoolPart& part, uint64_t address);

// Frees an allocation, and takes it off its pool's account if it came from a pool.
void release_pooled(Context& owner, const vm::Allocation& allocation);
bool is_pooled(uint64_t base);
// The context is being emptied: so are its pools.
void forget_pools(Context& context);

}  // namespace warpbeam::cuda
