// Device memory: one reserved range of host address space in which every allocation lives at its own place with
// unmapped gaps around it. A device address IS the host address of its backing, so copies and kernels use it directly;
// pages are committed by the kernel of the host when first touched, so a huge allocation costs nothing until used.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "vm/images.h"

namespace warpbeam::vm {

enum class MemoryKind : uint8_t {
  Device,      // cudaMalloc: kernels only
  Pinned,      // cudaMallocHost, cudaHostAlloc: host and kernels
  Registered,  // cudaHostRegister: the user's own host pages
  Managed,     // cudaMallocManaged, __managed__: host and kernels
  Variable,    // __device__ variables of a loaded program
  Constant,    // __constant__ variables and launch parameters
};

const char* to_string(MemoryKind kind);

struct Allocation {
  uint64_t base = 0;
  uint64_t size = 0;        // as asked for
  uint64_t accessible = 0;  // size rounded up to kAllocationGranule: what a kernel may touch
  MemoryKind kind = MemoryKind::Device;
  int device = 0;
  uint32_t flags = 0;       // free for the owner of the allocation (cudaHostAlloc flags …)
  uint64_t serial = 0;      // counts allocations; never reused
  std::string origin;       // what made it, for messages: "cudaMalloc", "__device__ table"
  bool adopted = false;     // pages of somebody else, who may have written them
  bool foreign = false;     // another device's, which lets this one's kernels in
};

struct MemoryFault {  // what is around an address that no allocation covers
  std::optional<Allocation> nearest;
  bool freed = false;       // `nearest` was freed and still holds the address
  bool other_device = false;  // `nearest` holds the address, but belongs to another device
  bool host_pointer = false;  // the address is mapped in the host process outside device memory
};

class DeviceMemory {
 public:
  static constexpr uint64_t kAllocationGranule = 512;
  static constexpr uint64_t kGpuPage = 2 << 20;  // what a GPU lets kernels into at once

  static constexpr uint64_t kArenaBytes = uint64_t(4) << 40;  // address space, not memory

  explicit DeviceMemory(uint64_t capacity_bytes, uint64_t arena_bytes = kArenaBytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Fails with an empty code when `capacity` would be exceeded. Fresh pages read as zero.
  Result<Allocation> allocate(uint64_t size, uint64_t alignment, MemoryKind kind, std::string origin, uint32_t flags = 0);
  // Makes host pages that somebody else owns visible to kernels at their own address.
  Result<Allocation> adopt(void* host, uint64_t size, MemoryKind kind, std::string origin, uint32_t flags = 0, bool foreign = false);
  // Frees the allocation that starts exactly at `base`; false if there is none.
  bool free(uint64_t base);
  // Small constant memory for as long as a launch runs: what one gives back the next gets.
  Result<Allocation> borrow(uint64_t size, std::string origin);
  void give_back(uint64_t base);
  // Somebody has put other pages behind the allocation, which goes when it is freed.
  void pages_replaced(uint64_t base);
  // It will be freed when work that is queued is done: from now on it takes up no capacity. False if it is promised
  // already or no allocation starts at `base`.
  bool promise_free(uint64_t base);

  // The allocation holding `address` (any offset inside), if there is one.
  std::optional<Allocation> find(uint64_t address) const;
  // True when [address, address + size) lies inside one allocation; gives the accessible range for caching.
  bool covers(uint64_t address, uint64_t size, uint64_t* lo, uint64_t* hi) const;
  // Makes [address, address + size) readable if it lies outside of all allocations, where none has been, and nearer to one than a
  // GPU's page; false where it does not.
  bool open_gap(uint64_t address, uint64_t size) const;
  MemoryFault explain(uint64_t address) const;

  uint64_t capacity() const { return capacity_; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  // Changes whenever an allocation goes away: cached ranges of an older epoch are void.
  uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }
  std::vector<Allocation> live() const;

  // What textures and surfaces over this memory are called.
  ImageTable images;

 private:
  struct Extent {
    uint64_t base, bytes;
  };
  uint64_t place(uint64_t bytes, uint64_t alignment);

  uint64_t capacity_;
  uint64_t arena_ = 0, arena_end_ = 0, next_ = 0;  // the reserved range and the first never-used address
  std::atomic<uint64_t> used_{0}, epoch_{1};
  uint64_t serial_ = 0;
  mutable std::shared_mutex mutex_;
  struct Live {
    Allocation allocation;
    uint64_t mapped_base, mapped_bytes;
    bool owned, promised = false, replaced = false;
  };
  bool reuse(MemoryKind kind, uint64_t mapped, uint64_t before, uint64_t alignment, uint64_t* begin);
  void unmap(Live live);
  static bool counts(const Live& live);  // against the capacity
  std::map<uint64_t, Live> live_;          // by base
  std::deque<Live> kept_;                  // freed, with its pages, for the next one of its size
  uint64_t kept_bytes_ = 0;
  std::vector<uint64_t> lent_;             // given back
  std::deque<Live> quarantine_;            // freed, unmapped, not yet reused
  uint64_t quarantined_bytes_ = 0;
  std::multimap<uint64_t, Extent> free_;   // by size: ranges that may be used again
};

}  // namespace warpbeam::vm
