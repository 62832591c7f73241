#include "vm/memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace warpbeam::vm {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kGap = 64 << 10;              // unmapped bytes after every allocation
constexpr uint64_t kMostMargin = 64 << 20;
// A fixed place gives the same addresses in every run. The thread sanitizer leaves programs about one TiB of addresses,
// which contexts share, and says where; the address sanitizer has its shadow where programs have this memory otherwise.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WB_THREAD_SANITIZER
#elif __has_feature(address_sanitizer)
#define WB_ADDRESS_SANITIZER
#endif
#endif
#ifdef WB_THREAD_SANITIZER
constexpr uint64_t kArenaPlace = uint64_t(0x7e90) << 32, kMostArenaBytes = uint64_t(1) << 37, kLeastArenaBytes = uint64_t(1) << 32;
#else
#ifdef WB_ADDRESS_SANITIZER
constexpr uint64_t kArenaPlace = uint64_t(0x20) << 40;
#else
constexpr uint64_t kArenaPlace = uint64_t(0x10) << 40;
#endif
constexpr uint64_t kMostArenaBytes = UINT64_MAX, kLeastArenaBytes = uint64_t(1) << 28;  // clusters limit addresses (ulimit -v)
#endif
constexpr size_t kQuarantineCount = 4096;        // freed ranges that still trap before they are used again
constexpr uint64_t kQuarantineShare = 4;         // at most this part of the address space waits so

uint64_t round_up(uint64_t v, uint64_t unit) { return (v + unit - 1) / unit * unit; }

// WARPBEAM_MARGIN: so many bytes around every allocation may be touched, as on a GPU, whose pages are larger than most
// allocations. Programs that miss by a little there, and never look at what they read, run so.
uint64_t margin() {
  static const uint64_t margin = [] {
    const char* text = std::getenv("WARPBEAM_MARGIN");
    if (!text || !*text) return uint64_t{0};
    char* end = nullptr;
    uint64_t bytes = std::strtoull(text, &end, 10);
    if (*end == 'K') bytes <<= 10, ++end;
    else if (*end == 'M') bytes <<= 20, ++end;
    if (!*end && *text != '-' && bytes <= kMostMargin) return round_up(bytes, kPage);
    fmt::print(stderr, "warpbeam: WARPBEAM_MARGIN={}: a number of bytes up to {}M was needed; there is none\n", text, kMostMargin >> 20);
    return uint64_t{0};
  }();
  return margin;
}

// Programs allocate and free in loops, and fresh pages cost more than clearing old ones. Where mistakes are looked for, no address
// comes back that soon.
bool keeps_pages() {
  static const bool keeps = [] {
    const auto set = [](const char* name) {
      const char* value = std::getenv(name);
      return value && *value;
    };
    return !set("WARPBEAM_STRICT") && !set("WARPBEAM_TOOL") && !margin();
  }();
  return keeps;
}
constexpr uint64_t kMostKept = 4 << 20, kMostKeptTogether = 64 << 20;  // larger ones have huge pages, which are quick to get
constexpr uint64_t kMostLent = 4096;

bool host_mapped(uint64_t address) {
  // msync on an unmapped page fails with ENOMEM and touches nothing.
  return msync(reinterpret_cast<void*>(address & ~(kPage - 1)), kPage, MS_ASYNC) == 0;
}

// The memories of all devices, to tell whose an address is. Lives for ever: kernels may fault while the process ends.
struct Memories {
  std::mutex mutex;
  std::vector<const DeviceMemory*> all;
};

Memories& memories() {
  static auto* memories = new Memories;
  return *memories;
}

}  // namespace

const char* to_string(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::Device: return "device memory";
    case MemoryKind::Pinned: return "pinned host memory";
    case MemoryKind::Registered: return "registered host memory";
    case MemoryKind::Managed: return "managed memory";
    case MemoryKind::Variable: return "a __device__ variable";
    case MemoryKind::Constant: return "constant memory";
  }
  return "";
}

DeviceMemory::DeviceMemory(uint64_t capacity_bytes, uint64_t arena_bytes) : capacity_(capacity_bytes) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  for (uint64_t bytes = std::min(arena_bytes, kMostArenaBytes); bytes >= kLeastArenaBytes; bytes /= 2) {
    void* p = MAP_FAILED;
    if (kArenaPlace) p = mmap(reinterpret_cast<void*>(kArenaPlace), bytes, PROT_NONE, kFlags | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == MAP_FAILED) p = mmap(nullptr, bytes, PROT_NONE, kFlags, -1, 0);
    if (p == MAP_FAILED) continue;
    arena_ = reinterpret_cast<uint64_t>(p);
    arena_end_ = arena_ + bytes;
    break;
  }
  next_ = round_up(arena_ + kGap, 2 << 20);  // a gap before the first allocation too
  std::lock_guard lock(memories().mutex);
  memories().all.push_back(this);
}

DeviceMemory::~DeviceMemory() {
  {
    std::lock_guard lock(memories().mutex);
    std::erase(memories().all, this);
  }
  if (arena_) munmap(reinterpret_cast<void*>(arena_), arena_end_ - arena_);
}

// First fit among ranges out of quarantine, else fresh address space.
uint64_t DeviceMemory::place(uint64_t bytes, uint64_t alignment) {
  for (auto it = free_.lower_bound(bytes); it != free_.end(); ++it) {
    if (it->second.base % alignment) continue;
    if (it->first > 2 * bytes + (1 << 20)) break;  // do not waste a large range on a small request
    uint64_t base = it->second.base;
    free_.erase(it);
    return base;
  }
  uint64_t base = round_up(next_, alignment);
  if (base + bytes + kGap > arena_end_) return 0;
  next_ = base + bytes + kGap;
  return base;
}

Result<Allocation> DeviceMemory::allocate(uint64_t size, uint64_t alignment, MemoryKind kind, std::string origin, uint32_t flags) {
  std::unique_lock lock(mutex_);
  const bool counts = kind == MemoryKind::Device || kind == MemoryKind::Variable;
  if (size > capacity_ || (counts && used_.load() + size > capacity_))
    return Error{2, fmt::format("{} bytes do not fit: {} of {} are in use", size, used_.load(), capacity_)};
  const uint64_t accessible = round_up(std::max<uint64_t>(size, 1), kAllocationGranule), pages = round_up(accessible, kPage);
  alignment = std::max<uint64_t>(alignment, pages >= (2 << 20) ? (2 << 20) : kPage);
  const uint64_t before = round_up(margin(), alignment), mapped = before + pages + margin();
  uint64_t begin = 0;
  const bool again = reuse(kind, mapped, before, alignment, &begin);
  if (!again) begin = place(mapped, alignment);
  const uint64_t base = begin + before;
  if (!begin) return Error{2, "the address range for device memory is exhausted"};
  if (again) std::memset(reinterpret_cast<void*>(base), 0, pages);
  else if (mmap(reinterpret_cast<void*>(begin), mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                0) == MAP_FAILED)
    return Error{2, "the host refuses to map more memory"};
  if (!again && mapped >= (4 << 20)) madvise(reinterpret_cast<void*>(begin), mapped, MADV_HUGEPAGE);
  Allocation a{base, size, accessible, kind, 0, flags, ++serial_, std::move(origin)};
  live_[base] = {a, begin, mapped, true};
  if (counts) used_ += size;
  return a;
}

Result<Allocation> DeviceMemory::adopt(void* host, uint64_t size, MemoryKind kind, std::string origin, uint32_t flags, bool foreign) {
  std::unique_lock lock(mutex_);
  const uint64_t base = reinterpret_cast<uint64_t>(host);
  auto next = live_.lower_bound(base);
  if (next != live_.end() && next->first < base + size) return Error{0, "part of the range is device memory already"};
  if (next != live_.begin() && std::prev(next)->first + std::prev(next)->second.allocation.accessible > base)
    return Error{0, "part of the range is device memory already"};
  Allocation a{base, size, size, kind, 0, flags, ++serial_, std::move(origin), true, foreign};
  live_[base] = {a, base, 0, false};
  return a;
}

bool DeviceMemory::counts(const Live& live) {
  const MemoryKind kind = live.allocation.kind;
  return live.owned && !live.promised && (kind == MemoryKind::Device || kind == MemoryKind::Variable);
}

bool DeviceMemory::promise_free(uint64_t base) {
  std::unique_lock lock(mutex_);
  auto it = live_.find(base);
  if (it == live_.end() || it->second.promised) return false;
  if (counts(it->second)) used_ -= it->second.allocation.size;
  it->second.promised = true;
  return true;
}

bool DeviceMemory::free(uint64_t base) {
  std::unique_lock lock(mutex_);
  auto it = live_.find(base);
  if (it == live_.end()) return false;
  Live live = it->second;
  live_.erase(it);
  std::erase(lent_, base);
  epoch_.fetch_add(1, std::memory_order_acq_rel);
  if (!live.owned) return true;  // adopted memory is on nobody's account
  if (counts(live)) used_ -= live.allocation.size;
  const bool by_program = live.allocation.kind != MemoryKind::Constant && live.allocation.kind != MemoryKind::Variable;
  if (!keeps_pages() || !by_program || live.replaced || live.mapped_bytes > kMostKept) {
    unmap(std::move(live));
    return true;
  }
  kept_bytes_ += live.mapped_bytes;
  kept_.push_back(std::move(live));
  while (kept_bytes_ > kMostKeptTogether) {
    Live old = std::move(kept_.front());
    kept_.pop_front();
    kept_bytes_ -= old.mapped_bytes;
    unmap(std::move(old));
  }
  return true;
}

// The one that was freed last goes first: it is in the host's caches.
bool DeviceMemory::reuse(MemoryKind kind, uint64_t mapped, uint64_t before, uint64_t alignment, uint64_t* begin) {
  const auto fits = [&](const Live& l) {
    return l.allocation.kind == kind && l.mapped_bytes == mapped && (l.mapped_base + before) % alignment == 0;
  };
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), fits);
  if (found == kept_.rend()) return false;
  *begin = found->mapped_base;
  kept_bytes_ -= mapped;
  kept_.erase(std::next(found).base());
  return true;
}

Result<Allocation> DeviceMemory::borrow(uint64_t size, std::string origin) {
  if (!keeps_pages() || size > kMostLent) return allocate(size, 256, MemoryKind::Constant, std::move(origin));
  {
    std::unique_lock lock(mutex_);
    while (!lent_.empty()) {
      const auto it = live_.find(lent_.back());
      lent_.pop_back();
      if (it == live_.end()) continue;
      it->second.allocation.origin = std::move(origin);
      std::memset(reinterpret_cast<void*>(it->first), 0, kMostLent);
      return it->second.allocation;
    }
  }
  return allocate(kMostLent, 256, MemoryKind::Constant, std::move(origin));
}

void DeviceMemory::give_back(uint64_t base) {
  {
    std::unique_lock lock(mutex_);
    const auto it = live_.find(base);
    if (it == live_.end()) return;
    if (keeps_pages() && it->second.allocation.size == kMostLent) {
      lent_.push_back(base);
      return;
    }
  }
  free(base);
}

void DeviceMemory::pages_replaced(uint64_t base) {
  std::unique_lock lock(mutex_);
  if (const auto it = live_.find(base); it != live_.end()) it->second.replaced = true;
}

void DeviceMemory::unmap(Live live) {
  // The pages go back to the host at once; the addresses stay unmapped for a while so that a use after free traps.
  mmap(reinterpret_cast<void*>(live.mapped_base), live.mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
  quarantined_bytes_ += live.mapped_bytes;
  quarantine_.push_back(std::move(live));
  while (quarantine_.size() > kQuarantineCount || quarantined_bytes_ > (arena_end_ - arena_) / kQuarantineShare) {
    Live& old = quarantine_.front();
    quarantined_bytes_ -= old.mapped_bytes;
    free_.emplace(old.mapped_bytes, Extent{old.mapped_base, old.mapped_bytes});
    quarantine_.pop_front();
  }
}

std::optional<Allocation> DeviceMemory::find(uint64_t address) const {
  std::shared_lock lock(mutex_);
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) return std::nullopt;
  const Allocation& a = std::prev(it)->second.allocation;
  if (address >= a.base + std::max<uint64_t>(a.size, 1)) return std::nullopt;
  return a;
}

bool DeviceMemory::covers(uint64_t address, uint64_t size, uint64_t* lo, uint64_t* hi) const {
  std::shared_lock lock(mutex_);
  const auto holds = [&](const Live& live) {
    const Allocation& a = live.allocation;
    const uint64_t around = live.owned ? margin() : 0;
    if (address < a.base - around || address + size > a.base + a.accessible + around || address + size < address) return false;
    *lo = a.base - around;
    *hi = a.base + a.accessible + around;
    return true;
  };
  const auto next = live_.upper_bound(address);
  return (next != live_.begin() && holds(std::prev(next)->second)) || (margin() && next != live_.end() && holds(next->second));
}

bool DeviceMemory::open_gap(uint64_t address, uint64_t size) const {
  std::shared_lock lock(mutex_);
  const uint64_t end = address + size;
  if (address < arena_ || end > arena_end_ || end < address) return false;
  const auto touches = [&](uint64_t base, uint64_t bytes) { return address < base + bytes && end > base; };
  const auto gone = [&](const Live& l) { return touches(l.mapped_base, l.mapped_bytes); };
  if (std::ranges::any_of(quarantine_, gone) || std::ranges::any_of(kept_, gone)) return false;
  if (std::ranges::any_of(free_, [&](const auto& gone) { return touches(gone.second.base, gone.second.bytes); })) return false;
  const auto near = [&](const Live& live) {
    return live.owned && end + kGpuPage > live.mapped_base && address < live.mapped_base + live.mapped_bytes + kGpuPage;
  };
  const auto next = live_.upper_bound(address);
  const bool before = next != live_.begin() && near(std::prev(next)->second), after = next != live_.end() && near(next->second);
  if (!before && !after) return false;
  for (uint64_t page = address / kPage * kPage; page < end; page += kPage) {
    const auto holds = [&](const Live& live) {
      return live.owned && page >= live.mapped_base && page < live.mapped_base + live.mapped_bytes;
    };
    if ((next != live_.begin() && holds(std::prev(next)->second)) || (next != live_.end() && holds(next->second))) continue;
    if (mprotect(reinterpret_cast<void*>(page), kPage, PROT_READ) != 0) return false;
  }
  return true;
}

MemoryFault DeviceMemory::explain(uint64_t address) const {
  MemoryFault fault;
  {
    std::lock_guard lock(memories().mutex);
    for (const DeviceMemory* other : memories().all) {
      if (other == this || address < other->arena_ || address >= other->arena_end_) continue;
      fault.nearest = other->find(address);
      fault.other_device = fault.nearest.has_value();
      if (fault.other_device) return fault;
    }
  }
  std::shared_lock lock(mutex_);
  for (const auto* gone : {&kept_, &quarantine_})
    for (auto it = gone->rbegin(); it != gone->rend(); ++it)
      if (address >= it->allocation.base && address < it->mapped_base + it->mapped_bytes) {
        fault.nearest = it->allocation;
        fault.freed = true;
        return fault;
      }
  uint64_t best = ~uint64_t(0);
  auto consider = [&](const Allocation& a) {
    uint64_t distance = address < a.base ? a.base - address : address - (a.base + a.size) + 1;
    if (distance < best) {
      best = distance;
      fault.nearest = a;
    }
  };
  auto it = live_.upper_bound(address);
  if (it != live_.end()) consider(it->second.allocation);
  if (it != live_.begin()) consider(std::prev(it)->second.allocation);
  fault.host_pointer = address > kPage && (address < arena_ || address >= arena_end_) && host_mapped(address);
  return fault;
}

std::vector<Allocation> DeviceMemory::live() const {
  std::shared_lock lock(mutex_);
  std::vector<Allocation> all;
  for (auto& [base, live] : live_) all.push_back(live.allocation);
  return all;
}

}  // namespace warpbeam::vm
