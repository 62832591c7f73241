// Pools whose memory other processes may see. Such a pool is one file without a name: allocations are parts of it,
// mapped at their own places, and a descriptor of the file is all that another process needs. A first page says what it
// is.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "cuda/edge.h"
#include "cuda/memory/pool.h"
#include "cuda/memory/shared_file.h"

namespace warpbeam::cuda {

namespace {

constexpr uint64_t kPage = 4096;
constexpr char kFileMark[8] = {'W', 'B', 'p', 'o', 'o', 'l', '0', '1'};

struct FileHead {
  char mark[8];
  int32_t process, number;  // which pool it is
  int32_t device;
};

struct Export {
  char mark[8];
  int32_t process, number;
  uint64_t offset, bytes;  // whole pages of the file
  uint64_t size;
};
static_assert(sizeof(Export) <= sizeof(cudaMemPoolPtrExportData));

uint64_t in_pages(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

bool read_head(int file, FileHead* head) {
  return pread(file, head, sizeof *head, 0) == sizeof *head && std::memcmp(head->mark, kFileMark, sizeof kFileMark) == 0;
}

}  // namespace

bool begin_file(Pool& pool) {
  static std::atomic<int32_t> count{0};
  FileHead head{{}, getpid(), ++count, pool.on_device() ? pool.properties.location.id : 0};
  std::memcpy(head.mark, kFileMark, sizeof kFileMark);
  pool.file = make_shared_file(SharedKind::Pool, kPage);
  pool.file_end = kPage;
  return pool.file >= 0 && pwrite(pool.file, &head, sizeof head, 0) == sizeof head;
}

cudaError_t put_in_file(Pool& pool, const vm::Allocation& allocation, PoolPart* part) {
  const uint64_t bytes = in_pages(allocation.accessible), offset = pool.file_end;
  if (ftruncate(pool.file, static_cast<off_t>(offset + bytes)) != 0) return cudaErrorMemoryAllocation;
  void* pages = mmap(reinterpret_cast<void*>(allocation.base), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, pool.file,
                     static_cast<off_t>(offset));
  if (pages == MAP_FAILED) return cudaErrorMemoryAllocation;
  pool.file_end += bytes;
  part->file_offset = offset;
  part->file_bytes = bytes;
  return cudaSuccess;
}

// The pages go back to the host; whoever else has them mapped reads zeros, as after any use of freed memory.
void leave_file(const PoolPart& part, uint64_t address) {
  if (part.imported) munmap(reinterpret_cast<void*>(address), part.file_bytes);
  else
    fallocate(part.pool->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(part.file_offset),
              static_cast<off_t>(part.file_bytes));
}

}  // namespace warpbeam::cuda

using namespace warpbeam;
using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaMemPoolExportToShareableHandle(void* shareable, cudaMemPool_t handle, cudaMemAllocationHandleType type,
                                               unsigned int flags) {
  return edge([&]() -> cudaError_t {
    PoolRef pool = pools().all.find(handle);
    if (!shareable || !pool || pool->imported || flags != 0) return cudaErrorInvalidValue;
    if (pool->file < 0 || type != pool->properties.handleTypes) return cudaErrorInvalidValue;
    const int file = fcntl(pool->file, F_DUPFD_CLOEXEC, 0);
    if (file < 0) return cudaErrorOperatingSystem;
    *static_cast<int*>(shareable) = file;
    return cudaSuccess;
  });
}

// The descriptor is passed as the pointer itself.
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* handle, void* shareable, cudaMemAllocationHandleType type,
                                                 unsigned int flags) {
  return edge([&]() -> cudaError_t {
    if (!handle || flags != 0 || type != cudaMemHandleTypePosixFileDescriptor) return cudaErrorInvalidValue;
    const int file = fcntl(static_cast<int>(reinterpret_cast<intptr_t>(shareable)), F_DUPFD_CLOEXEC, 0);
    FileHead head;
    uint64_t bytes = 0;
    if (file < 0 || !is_shared_file(SharedKind::Pool, file, &bytes) || !read_head(file, &head)) {
      if (file >= 0) close(file);
      return cudaErrorInvalidValue;
    }
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.handleTypes = type;
    properties.location = {cudaMemLocationTypeDevice, head.device >= 0 && head.device < device_count() ? head.device : 0};
    auto pool = std::make_shared<Pool>(properties, false);
    pool->file = file;
    pool->imported = true;
    *handle = pool->handle();
    pools().all.add(std::move(pool));
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* pointer) {
  return edge([&]() -> cudaError_t {
    if (!data) return cudaErrorInvalidValue;
    std::lock_guard lock(pools().mutex);
    auto found = pools().parts.find(reinterpret_cast<uint64_t>(pointer));
    if (found == pools().parts.end() || found->second.file_bytes == 0 || found->second.imported) return cudaErrorInvalidValue;
    const PoolPart& part = found->second;
    FileHead head;
    if (part.freed || !read_head(part.pool->file, &head)) return cudaErrorInvalidValue;
    Export out{{}, head.process, head.number, part.file_offset, part.file_bytes, part.size};
    std::memcpy(out.mark, kFileMark, sizeof kFileMark);
    *data = {};
    std::memcpy(data, &out, sizeof out);
    return cudaSuccess;
  });
}

// Only into the pool that the pointer was exported from.
cudaError_t cudaMemPoolImportPointer(void** pointer, cudaMemPool_t handle, cudaMemPoolPtrExportData* data) {
  return in_context([&](Context& caller) -> cudaError_t {
    PoolRef pool = pools().all.find(handle);
    if (!pointer || !data || !pool || !pool->imported) return cudaErrorInvalidValue;
    Export given;
    std::memcpy(&given, data, sizeof given);
    FileHead head;
    struct stat facts;
    if (std::memcmp(given.mark, kFileMark, sizeof kFileMark) != 0 || !read_head(pool->file, &head)) return cudaErrorInvalidValue;
    if (given.process != head.process || given.number != head.number) return cudaErrorInvalidValue;
    if (fstat(pool->file, &facts) != 0) return cudaErrorInvalidValue;
    const auto whole = static_cast<uint64_t>(facts.st_size);
    if (given.offset < kPage || given.offset % kPage || given.size == 0 || given.bytes > whole || given.offset > whole - given.bytes ||
        given.size > given.bytes)
      return cudaErrorInvalidValue;
    void* pages = mmap(nullptr, given.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, pool->file, static_cast<off_t>(given.offset));
    if (pages == MAP_FAILED) return cudaErrorMapBufferObjectFailed;
    Context& owner = owner_of(*pool, caller);
    auto adopted = owner.memory.adopt(pages, given.size, vm::MemoryKind::Device, "cudaMemPoolImportPointer", kPooled | kInFile);
    if (!adopted) {
      munmap(pages, given.bytes);
      return cudaErrorMapBufferObjectFailed;
    }
    {
      std::lock_guard lock(pools().mutex);
      pools().parts[adopted->base] = {pool, given.size, given.offset, given.bytes, true};
    }
    std::lock_guard lock(pool->mutex);
    pool->count_use(given.size);
    show_pooled(*pool, owner, *adopted);
    *pointer = pages;
    return cudaSuccess;
  });
}

}  // extern "C"
