#include "cuda/memory/ipc.h"

#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <utility>

#include "cuda/edge.h"
#include "cuda/memory/memory.h"
#include "cuda/memory/shared_file.h"

// A handle names a file of another process: its number and that of an open file there, which /proc leads to. What is shared
// lies in such a file that has no name of its own and goes when nobody has it open. Its last page repeats the handle, so that one which
// is stale or forged leads nowhere.
namespace warpbeam::cuda {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint32_t kMemoryMark = 0x57424d32, kEventMark = 0x57424532;

struct Handle {
  uint32_t mark;
  int32_t process, file;
  int32_t device;
  uint64_t size;    // of the allocation or of the event's page
  uint64_t offset;  // of the pointer in its first page
  uint64_t serial;
  uint64_t secret;  // drawn for each file: numbers of files, processes and allocations come again
  bool operator==(const Handle&) const = default;
};
static_assert(std::has_unique_object_representations_v<Handle>);
static_assert(sizeof(Handle) <= sizeof(cudaIpcMemHandle_t) && sizeof(Handle) <= sizeof(cudaIpcEventHandle_t));

struct Opened {
  Context* context;
  void* pages;
  size_t bytes;
  int users;
};

struct SharedEvent {
  std::shared_ptr<SharedMoment> moment;
  Handle handle{};
  int file = -1;  // of those made here
};

struct Shared {
  std::mutex mutex;
  std::map<uint64_t, Handle> exported;             // by base
  std::atomic<size_t> exports{0};                  // how many these are, for who does not take the lock
  std::map<uint64_t, Opened> opened;               // by address
  std::map<uint64_t, uint64_t> by_secret;          // address here
  std::map<const Event*, SharedEvent> moments;
};

Shared& shared() {
  static auto* shared = new Shared;
  return *shared;
}

uint64_t page_of(uint64_t address) { return address / kPage * kPage; }

// Makes the handle true: its file gets a number and a secret, and a last page that says what the handle says. -1: no memory.
int sign(SharedKind kind, uint64_t bytes, Handle& handle) {
  handle.process = getpid();
  if (getrandom(&handle.secret, sizeof handle.secret, 0) != sizeof handle.secret) return -1;
  handle.file = make_shared_file(kind, bytes + kPage);
  if (handle.file < 0 || pwrite(handle.file, &handle, sizeof handle, static_cast<off_t>(bytes)) == sizeof handle) return handle.file;
  close(handle.file);
  return -1;
}

// The file of another process that the handle is of, or -1. `bytes`: without the last page.
int open_signed(SharedKind kind, const Handle& handle, uint64_t* bytes) {
  uint64_t all = 0;
  const int file = open_shared_file(kind, handle.process, handle.file, &all);
  if (file < 0) return -1;
  Handle said;
  *bytes = all - std::min(all, kPage);
  const bool room = handle.offset < kPage && handle.size <= *bytes && handle.offset <= *bytes - handle.size;
  if (room && *bytes > 0 && pread(file, &said, sizeof said, static_cast<off_t>(*bytes)) == sizeof said && said == handle) return file;
  close(file);
  return -1;
}

// Moves an allocation's pages into a file, at the place where they are.
int export_pages(const vm::Allocation& a, Handle& handle) {
  const uint64_t first = page_of(a.base), bytes = page_of(a.base + a.accessible + kPage - 1) - first;
  const int file = sign(SharedKind::Memory, bytes, handle);
  if (file < 0) return -1;
  void* copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (copy == MAP_FAILED) {
    close(file);
    return -1;
  }
  std::memcpy(static_cast<std::byte*>(copy) + (a.base - first), reinterpret_cast<void*>(a.base), a.accessible);
  munmap(copy, bytes);
  if (mmap(reinterpret_cast<void*>(first), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
    close(file);
    return -1;
  }
  return file;
}

std::shared_ptr<SharedMoment> map_moment(int file) {
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) return nullptr;
  return {static_cast<SharedMoment*>(page), [](SharedMoment* m) { munmap(m, kPage); }};
}

void raise(std::atomic<uint64_t>& value, uint64_t to) {
  uint64_t now = value.load();
  while (now < to && !value.compare_exchange_weak(now, to)) {}
}

}  // namespace

bool shared_between_processes(uint64_t base) {
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  return s.exported.contains(base) || s.opened.contains(base);
}

std::shared_ptr<SharedMoment> shared_moment(const Event& event) {
  if (!(event.flags & cudaEventInterprocess)) return nullptr;
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  auto found = s.moments.find(&event);
  return found == s.moments.end() ? nullptr : found->second.moment;
}

void record_shared(const std::shared_ptr<SharedMoment>& moment, const StreamRef& stream) {
  const uint64_t number = ++moment->recorded;
  enqueue(stream->context, stream, InternalWork{[moment, number] { raise(moment->done, number); }});
}

void wait_shared(const std::shared_ptr<SharedMoment>& moment, const StreamRef& stream) {
  const uint64_t number = moment->recorded.load();
  if (moment->done.load() >= number) return;
  enqueue(stream->context, stream, WaitWork{[moment, number] { return moment->done.load() >= number; }});
}

void forget_shared(const Event& event) {
  if (!(event.flags & cudaEventInterprocess)) return;
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  auto found = s.moments.find(&event);
  if (found == s.moments.end()) return;
  if (found->second.file >= 0) close(found->second.file);
  s.moments.erase(found);
}

void forget_exported(uint64_t base) {
  Shared& s = shared();
  if (s.exports == 0) return;
  std::lock_guard lock(s.mutex);
  if (auto found = s.exported.find(base); found != s.exported.end()) {
    close(found->second.file);
    s.exported.erase(found);
    --s.exports;
  }
}

}  // namespace warpbeam::cuda

using namespace warpbeam;
using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* result, void* pointer) {
  return in_context([&](Context&) -> cudaError_t {
    auto place = locate(pointer);
    if (!result || !place || place->allocation.kind != vm::MemoryKind::Device) return cudaErrorInvalidValue;
    const vm::Allocation& a = place->allocation;
    place->owner->synchronize();  // nothing may write while the pages move
    Shared& s = shared();
    std::lock_guard lock(s.mutex);
    auto known = s.exported.find(a.base);
    if (known == s.exported.end()) {
      Handle handle{kMemoryMark, 0, 0, place->owner->ordinal, a.size, a.base % kPage, a.serial, 0};
      if (export_pages(a, handle) < 0) return cudaErrorMemoryAllocation;
      place->owner->memory.pages_replaced(a.base);
      known = s.exported.emplace(a.base, handle).first;
      ++s.exports;
    }
    *result = {};
    std::memcpy(result, &known->second, sizeof known->second);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t given, unsigned int flags) {
  return in_context([&](Context& context) -> cudaError_t {
    Handle handle;
    std::memcpy(&handle, &given, sizeof handle);
    if (!pointer || flags != cudaIpcMemLazyEnablePeerAccess) return cudaErrorInvalidValue;
    if (handle.mark != kMemoryMark) return cudaErrorInvalidResourceHandle;
    if (handle.process == getpid()) return cudaErrorDeviceUninitialized;  // it has the memory already
    Shared& s = shared();
    std::lock_guard lock(s.mutex);
    uint64_t bytes = 0;
    const int file = open_signed(SharedKind::Memory, handle, &bytes);
    if (file < 0) return cudaErrorInvalidResourceHandle;
    if (auto known = s.by_secret.find(handle.secret); known != s.by_secret.end()) {
      close(file);
      ++s.opened.at(known->second).users;
      *pointer = reinterpret_cast<void*>(known->second);
      return cudaSuccess;
    }
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (pages == MAP_FAILED) return cudaErrorMapBufferObjectFailed;
    void* address = static_cast<std::byte*>(pages) + handle.offset;
    auto adopted = context.memory.adopt(address, handle.size, vm::MemoryKind::Device, "cudaIpcOpenMemHandle");
    if (!adopted) {
      munmap(pages, bytes);
      return cudaErrorMapBufferObjectFailed;
    }
    s.opened[adopted->base] = {&context, pages, bytes, 1};
    s.by_secret[handle.secret] = adopted->base;
    *pointer = address;
    return cudaSuccess;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return in_context([&](Context&) -> cudaError_t {
    Shared& s = shared();
    const auto address = reinterpret_cast<uint64_t>(pointer);
    Opened entry{};
    {
      std::lock_guard lock(s.mutex);
      auto found = s.opened.find(address);
      if (found == s.opened.end()) return cudaErrorInvalidValue;
      if (--found->second.users > 0) return cudaSuccess;
      entry = found->second;
      s.opened.erase(found);
      std::erase_if(s.by_secret, [&](const auto& known) { return known.second == address; });
    }
    entry.context->synchronize();
    entry.context->memory.free(address);
    munmap(entry.pages, entry.bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* result, cudaEvent_t given) {
  return in_context([&](Context&) -> cudaError_t {
    if (!given) return cudaErrorInvalidValue;
    EventRef event = find_event(given);
    if (!event || !(event->flags & cudaEventInterprocess)) return cudaErrorInvalidResourceHandle;
    if (!result) return cudaErrorInvalidValue;
    Shared& s = shared();
    std::lock_guard lock(s.mutex);
    SharedEvent& made = s.moments[event.get()];
    if (!made.moment) {
      made.handle = {kEventMark, 0, 0, event->context.ordinal, kPage, 0, 0, 0};
      made.file = sign(SharedKind::Event, kPage, made.handle);
      if (made.file >= 0) made.moment = map_moment(made.file);
      if (!made.moment) {
        if (made.file >= 0) close(made.file);
        s.moments.erase(event.get());
        return cudaErrorMemoryAllocation;
      }
    }
    *result = {};
    std::memcpy(result, &made.handle, sizeof made.handle);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* result, cudaIpcEventHandle_t given) {
  return in_context([&](Context& context) -> cudaError_t {
    Handle handle;
    std::memcpy(&handle, &given, sizeof handle);
    if (!result) return cudaErrorInvalidValue;
    if (handle.mark != kEventMark) return cudaErrorMapBufferObjectFailed;
    if (handle.process == getpid()) return cudaErrorInvalidResourceHandle;
    uint64_t bytes = 0;
    const int file = open_signed(SharedKind::Event, handle, &bytes);
    if (file < 0) return cudaErrorInvalidResourceHandle;
    auto moment = map_moment(file);
    close(file);
    if (!moment) return cudaErrorMapBufferObjectFailed;
    auto event = std::make_shared<Event>(context, unsigned{cudaEventInterprocess | cudaEventDisableTiming});
    {
      std::lock_guard lock(shared().mutex);
      shared().moments[event.get()] = {std::move(moment), handle, -1};
    }
    *result = event->handle();
    process().events.add(std::move(event));
    return cudaSuccess;
  });
}

}  // extern "C"
