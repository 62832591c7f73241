#include "cuda/memory/fill.h"

#include <sys/mman.h>

#include <cstring>

#include "cuda/edge.h"
#include "cuda/memory/ipc.h"
#include "cuda/memory/memory.h"
#include "cuda/streams/ops.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

namespace {

template <class Element>
void fill_row(std::byte* row, Element value, size_t count) {
  auto* elements = reinterpret_cast<Element*>(row);
  for (size_t i = 0; i < count; ++i) elements[i] = value;
}

// Device memory is private anonymous pages: dropping them makes them read as zeros and costs no writing. A program that
// clears what it has just allocated then pays for no page it does not use.
constexpr size_t kDropBytes = 1 << 20, kPage = 4096;

void zero_row(std::byte* row, size_t bytes) {
  auto begin = reinterpret_cast<uintptr_t>(row), end = begin + bytes;
  uintptr_t first = (begin + kPage - 1) / kPage * kPage, last = end / kPage * kPage;
  if (madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED) != 0) first = last = end;
  std::memset(row, 0, first - begin);
  std::memset(reinterpret_cast<void*>(last), 0, end - last);
}

}  // namespace

void FillWork::run() const {
  if (own_pages && value == 0 && height == 1 && depth == 1 && width * element >= kDropBytes) return zero_row(to.base, width * element);
  for (size_t z = 0; z < depth; ++z)
    for (size_t y = 0; y < height; ++y) {
      std::byte* row = to.base + z * to.plane + y * to.pitch;
      switch (element) {
        case 1: std::memset(row, static_cast<int>(value), width); break;
        case 2: fill_row<uint16_t>(row, static_cast<uint16_t>(value), width); break;
        default: fill_row<uint32_t>(row, value, width); break;
      }
    }
}

cudaError_t fill_in_stream(Context& context, cudaStream_t handle, const Region& to, uint32_t value, unsigned element, size_t width,
                           size_t height, size_t depth) {
  StreamRef stream = find_stream(context, handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (width == 0 || height == 0 || depth == 0) return cudaSuccess;
  if (width > SIZE_MAX / element) return cudaErrorInvalidValue;
  const size_t row = width * element;
  const auto beyond = [&] {
    return bad_bytes({reinterpret_cast<uint64_t>(to.base), row, to.pitch, height, to.plane, depth}, true, to.base, context.memory);
  };
  auto place = locate(to.base);
  if (!place) return beyond();
  if (!reaches(stream->context, *place)) return cudaErrorInvalidValue;
  if ((height > 1 && to.pitch < row) || (depth > 1 && to.plane < row)) return cudaErrorInvalidValue;
  size_t room = place->room(to.base);
  if (height > 1 && to.pitch > room / (height - 1)) return beyond();
  if (depth > 1 && to.plane > room / (depth - 1)) return beyond();
  size_t before = (height - 1) * to.pitch + (depth - 1) * to.plane;
  if (before > room || row > room - before) return beyond();

  FillWork work{to, value, element, width, height, depth};
  work.own_pages = place->allocation.kind == vm::MemoryKind::Device && !is_mapping(place->allocation) &&
                   !(place->allocation.flags & kInFile) && !shared_between_processes(place->allocation.base);
  if (to.pitch == row && depth == 1) {
    work.width = width * height;
    work.height = 1;
  }
  OpRef op = enqueue(stream->context, stream, std::move(work));
  if (!op) return cudaSuccess;  // captured
  if (!place->on_device()) {
    Scheduler::instance().wait(op);
    if (auto* tool = observe::tool()) tool->waited(observe::WaitKind::Operation, op->id);
  }
  return stream->context.failure();
}

namespace {

cudaError_t fill(void* to, size_t pitch, size_t plane, int value, size_t width, size_t height, size_t depth, cudaStream_t handle) {
  return in_context([&](Context& context) {
    return fill_in_stream(context, handle, {static_cast<std::byte*>(to), pitch, plane}, static_cast<uint8_t>(value), 1, width, height,
                          depth);
  });
}

cudaError_t fill_3d(const cudaPitchedPtr& to, int value, const cudaExtent& extent, cudaStream_t stream) {
  if (extent.width && extent.depth && extent.height > to.ysize) return edge([] { return cudaErrorInvalidValue; });
  return fill(to.ptr, to.pitch, to.pitch * to.ysize, value, extent.width, extent.height, extent.depth, stream);
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaMemset(void* to, int value, size_t count) { return fill(to, 0, 0, value, count, 1, 1, nullptr); }

WB_TWIN cudaError_t cudaMemset_ptds(void* to, int value, size_t count) { return fill(to, 0, 0, value, count, 1, 1, cudaStreamPerThread); }

cudaError_t cudaMemsetAsync(void* to, int value, size_t count, cudaStream_t stream) { return fill(to, 0, 0, value, count, 1, 1, stream); }

WB_TWIN cudaError_t cudaMemsetAsync_ptsz(void* to, int value, size_t count, cudaStream_t stream) {
  return fill(to, 0, 0, value, count, 1, 1, per_thread(stream));
}

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return fill(to, pitch, 0, value, width, height, 1, nullptr);
}

WB_TWIN cudaError_t cudaMemset2D_ptds(void* to, size_t pitch, int value, size_t width, size_t height) {
  return fill(to, pitch, 0, value, width, height, 1, cudaStreamPerThread);
}

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return fill(to, pitch, 0, value, width, height, 1, stream);
}

WB_TWIN cudaError_t cudaMemset2DAsync_ptsz(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return fill(to, pitch, 0, value, width, height, 1, per_thread(stream));
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) { return fill_3d(to, value, extent, nullptr); }

WB_TWIN cudaError_t cudaMemset3D_ptds(cudaPitchedPtr to, int value, cudaExtent extent) {
  return fill_3d(to, value, extent, cudaStreamPerThread);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return fill_3d(to, value, extent, stream);
}

WB_TWIN cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return fill_3d(to, value, extent, per_thread(stream));
}

}  // extern "C"
