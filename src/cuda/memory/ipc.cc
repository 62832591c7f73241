#include "cuda/memory/ipc.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "cuda/edge.h"
#include "cuda/memory/memory.h"

// A handle names a file of another process: its number and that of an open file there, which /proc leads to. What is shared
// lies in such a file that has no name of its own and goes when nobody has it open.
namespace warpbeam::cuda {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint32_t kMemoryMark = 0x57424d31, kEventMark = 0x57424531;

struct Handle {
  uint32_t mark;
  int32_t process, file;
  int32_t device;
  uint64_t size;    // of the allocation or of the event's page
  uint64_t offset;  // of the pointer in its first page
  uint64_t serial;  // tells files with one number apart
};
static_assert(sizeof(Handle) <= sizeof(cudaIpcMemHandle_t) && sizeof(Handle) <= sizeof(cudaIpcEventHandle_t));

struct Opened {
  Context* context;
  void* pages;
  size_t bytes;
  int users;
};

struct Shared {
  std::mutex mutex;
  std::map<uint64_t, std::pair<int, uint64_t>> exported;             // by base: file and the allocation's serial number
  std::map<uint64_t, Opened> opened;                                 // by address
  std::map<std::pair<int, uint64_t>, uint64_t> by_source;            // process and serial: address here
  std::map<const Event*, std::pair<std::shared_ptr<SharedMoment>, int>> moments;
};

Shared& shared() {
  static auto* shared = new Shared;
  return *shared;
}

uint64_t page_of(uint64_t address) { return address / kPage * kPage; }

int new_file(size_t bytes) {
  const int file = memfd_create("warpbeam", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    close(file);
    return -1;
  }
  return file;
}

int open_file(const Handle& handle) {
  const std::string path = fmt::format("/proc/{}/fd/{}", handle.process, handle.file);
  return open(path.c_str(), O_RDWR | O_CLOEXEC);
}

// Moves an allocation's pages into a file, at the place where they are.
int export_pages(const vm::Allocation& a) {
  const uint64_t first = page_of(a.base), bytes = page_of(a.base + a.accessible + kPage - 1) - first;
  const int file = new_file(bytes);
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
  return found == s.moments.end() ? nullptr : found->second.first;
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
  if (found->second.second >= 0) close(found->second.second);
  s.moments.erase(found);
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
    if (known != s.exported.end() && known->second.second != a.serial) {  // an older allocation at this place
      close(known->second.first);
      s.exported.erase(known);
      known = s.exported.end();
    }
    if (known == s.exported.end()) {
      const int file = export_pages(a);
      if (file < 0) return cudaErrorMemoryAllocation;
      place->owner->memory.pages_replaced(a.base);
      known = s.exported.emplace(a.base, std::make_pair(file, a.serial)).first;
    }
    const Handle handle{kMemoryMark, getpid(), known->second.first, place->owner->ordinal, a.size, a.base % kPage, a.serial};
    *result = {};
    std::memcpy(result, &handle, sizeof handle);
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
    if (auto known = s.by_source.find({handle.process, handle.serial}); known != s.by_source.end()) {
      ++s.opened.at(known->second).users;
      *pointer = reinterpret_cast<void*>(known->second);
      return cudaSuccess;
    }
    const int file = open_file(handle);
    if (file < 0) return cudaErrorInvalidResourceHandle;
    const size_t bytes = (handle.offset + handle.size + kPage - 1) / kPage * kPage;
    struct stat status;
    const bool whole = fstat(file, &status) == 0 && static_cast<size_t>(status.st_size) >= bytes;
    void* pages = whole ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    close(file);
    if (pages == MAP_FAILED) return cudaErrorMapBufferObjectFailed;
    void* address = static_cast<std::byte*>(pages) + handle.offset;
    auto adopted = context.memory.adopt(address, handle.size, vm::MemoryKind::Device, "cudaIpcOpenMemHandle");
    if (!adopted) {
      munmap(pages, bytes);
      return cudaErrorMapBufferObjectFailed;
    }
    s.opened[adopted->base] = {&context, pages, bytes, 1};
    s.by_source[{handle.process, handle.serial}] = adopted->base;
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
      std::erase_if(s.by_source, [&](const auto& known) { return known.second == address; });
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
    auto& [moment, file] = s.moments[event.get()];
    if (!moment) {
      file = new_file(kPage);
      if (file >= 0) moment = map_moment(file);
      if (!moment) {
        s.moments.erase(event.get());
        return cudaErrorMemoryAllocation;
      }
    }
    const Handle handle{kEventMark, getpid(), file, event->context.ordinal, kPage, 0, 0};
    *result = {};
    std::memcpy(result, &handle, sizeof handle);
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
    const int file = open_file(handle);
    if (file < 0) return cudaErrorInvalidResourceHandle;
    auto moment = map_moment(file);
    close(file);
    if (!moment) return cudaErrorMapBufferObjectFailed;
    auto event = std::make_shared<Event>(context, unsigned{cudaEventInterprocess | cudaEventDisableTiming});
    {
      std::lock_guard lock(shared().mutex);
      shared().moments[event.get()] = {std::move(moment), -1};
    }
    *result = event->handle();
    process().events.add(std::move(event));
    return cudaSuccess;
  });
}

}  // extern "C"
