// Virtual memory management: address ranges without memory, memory without an address, and the two brought together.
//
// A range is host address space that nothing is mapped to; memory is an anonymous file. Mapping shows a part of the
// file at a part of the range. What a device's kernels may touch are runs: neighbouring mappings with access for that
// device count as one allocation, so that copies and vector accesses may go across them.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "cuda/driver/edge.h"
#include "cuda/memory/shared_file.h"

namespace warpbeam::cuda::driver {

namespace {

constexpr uint64_t kGranule = 2 << 20;  // of memory, addresses and mappings

struct Physical {
  Physical(int file, uint64_t size, const CUmemAllocationProp& properties) : file(file), size(size), properties(properties) {}
  ~Physical() {
    close(file);
    process().contexts[properties.location.id]->created_bytes -= counted;
  }
  const int file;
  const uint64_t size;
  const CUmemAllocationProp properties;
  uint64_t counted = 0;  // against its device's memory; imported memory is the exporter's
  int references = 1;    // handles given out; guarded by Space::mutex
};
using PhysicalRef = std::shared_ptr<Physical>;

struct Mapping {
  uint64_t size;
  PhysicalRef memory;
  uint64_t offset;
  std::map<int, CUmemAccess_flags> access;  // by device
};

struct Range {
  uint64_t size;
  std::map<uint64_t, Mapping> mappings;  // by address
  std::map<uint64_t, uint64_t> runs;     // what kernels may touch: address and size
};

struct Space {
  std::mutex mutex;
  std::map<uint64_t, Range> ranges;  // by address
  HandleTable<Physical> memory;
};

Space& space() {
  static auto* space = new Space;
  return *space;
}

bool whole(uint64_t value) { return value % kGranule == 0; }

CUmemGenericAllocationHandle handle_of(const PhysicalRef& memory) { return reinterpret_cast<CUmemGenericAllocationHandle>(memory.get()); }

CUresult check(const CUmemAllocationProp* properties) {
  if (!properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  if (properties->location.id < 0 || properties->location.id >= device_count()) return CUDA_ERROR_INVALID_DEVICE;
  if (properties->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  return CUDA_SUCCESS;
}

// The range around [address, address + size), or null.
std::pair<const uint64_t, Range>* range_around(uint64_t address, uint64_t size) {
  auto& ranges = space().ranges;
  auto after = ranges.upper_bound(address);
  if (after == ranges.begin()) return nullptr;
  auto& found = *std::prev(after);
  uint64_t inside = address - found.first;
  return inside <= found.second.size && size <= found.second.size - inside ? &found : nullptr;
}

// The mappings that make up [address, address + size) without a gap; empty if something else is there.
std::vector<std::map<uint64_t, Mapping>::iterator> mappings_in(Range& range, uint64_t address, uint64_t size) {
  std::vector<std::map<uint64_t, Mapping>::iterator> found;
  uint64_t at = address;
  for (auto it = range.mappings.find(address); it != range.mappings.end() && at < address + size; ++it) {
    if (it->first != at) return {};
    found.push_back(it);
    at += it->second.size;
  }
  return at == address + size ? found : decltype(found){};
}

// Makes contexts see what the range's mappings and their access say. Kernels may be running on what stays.
void show_runs(Range& range) {
  std::map<uint64_t, std::pair<uint64_t, std::map<int, CUmemAccess_flags>>> wanted;
  uint64_t last = 0;
  for (const auto& [address, mapping] : range.mappings) {
    if (mapping.access.empty()) continue;
    auto run = wanted.find(last);
    if (run != wanted.end() && last + run->second.first == address && run->second.second == mapping.access) {
      run->second.first += mapping.size;
    } else {
      wanted[address] = {mapping.size, mapping.access};
      last = address;
    }
  }
  std::vector<uint64_t> gone;
  for (const auto& [address, size] : range.runs) {
    auto still = wanted.find(address);
    if (still == wanted.end() || still->second.first != size) gone.push_back(address);
  }
  if (!gone.empty()) for_each_context([](Context& context) { context.synchronize(); });
  for (uint64_t address : gone) {
    if (auto place = locate(pointer(address))) release(*place->owner, address);
    range.runs.erase(address);
  }
  for (const auto& [address, run] : wanted) {
    const auto& [size, access] = run;
    Context* owner = nullptr;
    if (auto place = locate(pointer(address))) owner = place->owner;
    for_each_context([&](Context& context) {
      auto allowed = access.find(context.ordinal);
      if (allowed == access.end()) return;
      if (!owner) owner = &context;
      show_mapping(*owner, context, address, size);
    });
    range.runs[address] = size;
  }
}

template <class Body>
CUresult in_space(Body&& body) {
  return call([&] {
    std::lock_guard lock(space().mutex);
    return result_of(body());
  });
}

CUresult reserve(CUdeviceptr* address, size_t size, size_t alignment) {
  if (!address || size == 0 || !whole(size) || (alignment & (alignment - 1))) return CUDA_ERROR_INVALID_VALUE;
  alignment = std::max<size_t>(alignment, kGranule);
  if (size > (uint64_t{1} << 46)) return CUDA_ERROR_OUT_OF_MEMORY;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* more = mmap(nullptr, size + alignment, PROT_NONE, kFlags, -1, 0);
  if (more == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  uint64_t first = driver::address(more), aligned = (first + alignment - 1) / alignment * alignment;
  if (aligned != first) munmap(more, aligned - first);
  munmap(pointer(aligned + size), first + alignment - aligned);
  space().ranges[aligned].size = size;
  *address = aligned;
  return CUDA_SUCCESS;
}

CUresult create(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* properties) {
  if (!handle || size == 0 || !whole(size)) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = check(properties); result != CUDA_SUCCESS) return result;
  Context& context = *process().contexts[properties->location.id];
  if (size > context.memory.capacity() - std::min(memory_in_use(context.ordinal), context.memory.capacity()))
    return CUDA_ERROR_OUT_OF_MEMORY;
  if (!host_can_give(size, "cuMemCreate")) return CUDA_ERROR_OUT_OF_MEMORY;
  int file = make_shared_file(SharedKind::Physical, size);
  if (file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  auto memory = std::make_shared<Physical>(file, size, *properties);
  memory->counted = size;
  context.created_bytes += size;
  *handle = handle_of(memory);
  space().memory.add(std::move(memory));
  return CUDA_SUCCESS;
}

CUresult map(uint64_t address, uint64_t size, uint64_t offset, CUmemGenericAllocationHandle handle) {
  auto memory = space().memory.find(pointer(handle));
  auto* range = range_around(address, size);
  if (!memory || !range || size == 0 || !whole(address) || !whole(size) || !whole(offset) || offset > memory->size ||
      size > memory->size - offset)
    return CUDA_ERROR_INVALID_VALUE;
  auto& mappings = range->second.mappings;
  auto next = mappings.lower_bound(address);
  bool taken = next != mappings.end() && next->first < address + size;
  if (next != mappings.begin()) {
    auto before = std::prev(next);
    taken |= before->first + before->second.size > address;
  }
  if (taken) return CUDA_ERROR_INVALID_VALUE;
  if (mmap(pointer(address), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->file, static_cast<off_t>(offset)) == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  mappings[address] = {size, std::move(memory), offset, {}};
  return CUDA_SUCCESS;
}

CUresult unmap(uint64_t address, uint64_t size) {
  auto* range = range_around(address, size);
  if (!range || size == 0) return CUDA_ERROR_INVALID_VALUE;
  auto found = mappings_in(range->second, address, size);
  if (found.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (auto it : found) range->second.mappings.erase(it);
  show_runs(range->second);
  mmap(pointer(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return CUDA_SUCCESS;
}

CUresult set_access(uint64_t address, uint64_t size, const CUmemAccessDesc* wishes, size_t count) {
  auto* range = range_around(address, size);
  if (!range || size == 0 || !wishes || count == 0) return CUDA_ERROR_INVALID_VALUE;
  auto found = mappings_in(range->second, address, size);
  if (found.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    if (wishes[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    if (wishes[i].location.id < 0 || wishes[i].location.id >= device_count()) return CUDA_ERROR_INVALID_DEVICE;
  }
  for (size_t i = 0; i < count; ++i)
    for (auto it : found) {
      auto& access = it->second.access;
      if (wishes[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE) access.erase(wishes[i].location.id);
      else access[wishes[i].location.id] = wishes[i].flags;
    }
  show_runs(range->second);
  return CUDA_SUCCESS;
}

// The mapping that holds an address, or null.
Mapping* mapping_at(uint64_t address) {
  auto* range = range_around(address, 1);
  if (!range) return nullptr;
  auto after = range->second.mappings.upper_bound(address);
  if (after == range->second.mappings.begin()) return nullptr;
  auto& [base, mapping] = *std::prev(after);
  return address - base < mapping.size ? &mapping : nullptr;
}

CUresult import(CUmemGenericAllocationHandle* handle, int given) {
  int file = fcntl(given, F_DUPFD_CLOEXEC, 0);
  uint64_t bytes = 0;
  if (file < 0 || !is_shared_file(SharedKind::Physical, file, &bytes)) {
    if (file >= 0) close(file);
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  auto memory = std::make_shared<Physical>(file, bytes, properties);
  *handle = handle_of(memory);
  space().memory.add(std::move(memory));
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" {

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t size, size_t alignment, CUdeviceptr, unsigned long long flags) {
  return in_space([&] { return flags ? CUDA_ERROR_INVALID_VALUE : reserve(address, size, alignment); });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size) {
  return in_space([&] {
    auto found = space().ranges.find(address);
    if (found == space().ranges.end() || found->second.size != size || !found->second.mappings.empty()) return CUDA_ERROR_INVALID_VALUE;
    munmap(pointer(address), size);
    space().ranges.erase(found);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* properties, unsigned long long flags) {
  return in_space([&] { return flags ? CUDA_ERROR_INVALID_VALUE : create(handle, size, properties); });
}

// Memory lives on while it is mapped.
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return in_space([&] {
    auto memory = space().memory.find(pointer(handle));
    if (!memory) return CUDA_ERROR_INVALID_VALUE;
    if (--memory->references == 0) space().memory.remove(pointer(handle));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return in_space([&] { return flags ? CUDA_ERROR_INVALID_VALUE : map(address, size, offset, handle); });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
  return in_space([&] { return unmap(address, size); });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc* wishes, size_t count) {
  return in_space([&] { return set_access(address, size, wishes, count); });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  return in_space([&] {
    const Mapping* mapping = mapping_at(address);
    if (!flags || !location || !mapping || location->type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    auto allowed = mapping->access.find(location->id);
    *flags = allowed == mapping->access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : allowed->second;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags option) {
  return in_space([&]() -> CUresult {
    if (!granularity || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult result = check(properties); result != CUDA_SUCCESS) return result;
    *granularity = kGranule;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  return in_space([&] {
    auto memory = space().memory.find(pointer(handle));
    if (!properties || !memory) return CUDA_ERROR_INVALID_VALUE;
    *properties = memory->properties;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return in_space([&] {
    const Mapping* mapping = mapping_at(driver::address(address));
    if (!handle || !mapping) return CUDA_ERROR_INVALID_VALUE;
    // A handle that was released is given out again.
    if (mapping->memory->references++ == 0) space().memory.add(mapping->memory);
    *handle = handle_of(mapping->memory);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                      unsigned long long flags) {
  return in_space([&] {
    auto memory = space().memory.find(pointer(handle));
    if (!shareable || !memory || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        !(memory->properties.requestedHandleTypes & type))
      return CUDA_ERROR_INVALID_VALUE;
    int file = fcntl(memory->file, F_DUPFD_CLOEXEC, 0);
    if (file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
    *static_cast<int*>(shareable) = file;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable, CUmemAllocationHandleType type) {
  return in_space([&] {
    if (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
    return import(handle, static_cast<int>(reinterpret_cast<intptr_t>(shareable)));
  });
}

}  // extern "C"
