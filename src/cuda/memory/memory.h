// Which memory an address belongs to, over all devices.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cuda/devices/context.h"
#include "vm/memory.h"

namespace warpbeam::cuda {

struct Place {
  Context* owner = nullptr;
  vm::Allocation allocation;
  // Bytes from `address` to the end of the allocation.
  uint64_t room(const void* address) const { return allocation.base + allocation.size - reinterpret_cast<uint64_t>(address); }
  bool on_device() const {
    using enum vm::MemoryKind;
    return allocation.kind == Device || allocation.kind == Variable || allocation.kind == Constant;
  }
  bool starts_at(const void* address) const { return allocation.base == reinterpret_cast<uint64_t>(address); }
};

// The allocation around `address`, nothing for memory the runtime did not make or register.
std::optional<Place> locate(const void* address);

// Whether it is memory of the context's device, or of another one that shows it to this.
bool reaches(Context& context, const Place& place);

// Bits of Allocation::flags beside what the program gave.
constexpr uint32_t kPooled = 1u << 29;  // of a pool, which says itself who may see it
constexpr uint32_t kInFile = 1u << 28;  // its pages are a file's: dropping them would not clear them

// Size 0 gives a null pointer, as CUDA does. Memory that hosts can touch too becomes visible to kernels of all devices,
// device memory to those of devices that enabled peer access.
cudaError_t allocate(Context& context, size_t size, vm::MemoryKind kind, std::string origin, uint32_t flags, void** pointer);
// Makes a fresh allocation of `owner` visible to the other devices that may see it.
void share(Context& owner, const vm::Allocation& allocation);
void release(Context& owner, uint64_t base);
void release_all(Context& owner);
// Makes an allocation of another context visible to kernels of `reader`.
void show(Context& reader, const vm::Allocation& allocation);

// Bytes of a device that all its contexts hold together.
uint64_t memory_in_use(int device);
// Bytes that the host can give to devices, less what all of them hold.
uint64_t left_on_host();
// False, said on stderr, where a call that is named asks for more.
bool host_can_give(size_t size, const std::string& what);
// Makes memory that is mapped at `address`, and which `owner` counts as its own, visible to kernels of `reader`.
void show_mapping(Context& owner, Context& reader, uint64_t address, uint64_t size);
// Such memory is shared with others and cannot be cleared by dropping its pages.
bool is_mapping(const vm::Allocation& allocation);
// Makes what hosts can touch too visible to kernels of a context that has just begun.
void share_host_memory(Context& reader);
// Makes what `owner` holds (or stops it being) visible to kernels of `reader`.
void share_device_memory(Context& owner, Context& reader);
void unshare_device_memory(Context& owner, Context& reader);

}  // namespace warpbeam::cuda
