#include "cuda/memory/copy.h"

#include <cstring>

#include "cuda/edge.h"
#include "cuda/graphs/capture.h"
#include "cuda/memory/memory.h"
#include "cuda/memory/wide_copy.h"
#include "cuda/textures/arrays.h"

namespace warpbeam::cuda {

namespace {

// Pageable sources up to this size are copied aside at the call, larger ones make the call wait: what the documentation
// promises of transfers from pageable memory.
constexpr size_t kStagedBytes = 64 << 10;

struct Sides {
  std::optional<Place> to, from;  // nothing: pageable host memory
};

bool is_device_end(cudaMemcpyKind kind, bool destination) {
  return kind == cudaMemcpyDeviceToDevice || kind == (destination ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
}

// An end that is called device memory must be memory of the runtime's; one called host memory may be anything, and is
// looked up: unified addressing lets the address decide.
cudaError_t check_end(const Region& region, const CopyRequest& request, bool destination, std::optional<Place>* place) {
  if (!region.base) return cudaErrorInvalidValue;
  *place = locate(region.base);
  if (!*place) return is_device_end(request.kind, destination) ? cudaErrorInvalidValue : cudaSuccess;
  size_t room = (*place)->room(region.base), last_row = request.width;
  if (request.height > 1 && region.pitch > room / (request.height - 1)) return cudaErrorInvalidValue;
  if (request.depth > 1 && region.plane > room / (request.depth - 1)) return cudaErrorInvalidValue;
  size_t before = (request.height - 1) * region.pitch + (request.depth - 1) * region.plane;
  return before <= room && last_row <= room - before ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t bad_end(Context& context, const Region& region, const CopyRequest& request, bool writes) {
  return bad_bytes({reinterpret_cast<uint64_t>(region.base), request.width, region.pitch, request.height, region.plane, request.depth},
                   writes, request.to.base, context.memory);
}

cudaError_t check(Context& context, const CopyRequest& request, Sides* sides) {
  if (request.kind < cudaMemcpyHostToHost || request.kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (request.height > 1 && (request.to.pitch < request.width || request.from.pitch < request.width)) return cudaErrorInvalidPitchValue;
  if (check_end(request.to, request, true, &sides->to) != cudaSuccess) return bad_end(context, request.to, request, true);
  if (check_end(request.from, request, false, &sides->from) != cudaSuccess) return bad_end(context, request.from, request, false);
  return cudaSuccess;
}

CopyWork work_of(const CopyRequest& request) { return {request.to, request.from, request.width, request.height, request.depth, nullptr}; }

void stage(CopyWork& work) {
  work.staged = std::make_shared_for_overwrite<std::byte[]>(work.bytes());
  CopyWork aside = work;
  aside.to = {work.staged.get(), work.width, work.width * work.height};
  aside.run();
  work.from = aside.to;
}

bool empty(const CopyRequest& request) { return request.width == 0 || request.height == 0 || request.depth == 0; }

}  // namespace

void CopyWork::run() const {
  bool rows_touch = to.pitch == width && from.pitch == width;
  bool planes_touch = to.plane == width * height && from.plane == width * height;
  for (size_t z = 0; z < depth; ++z) {
    std::byte* out = to.base + z * to.plane;
    const std::byte* in = from.base + z * from.plane;
    if (height == 1 || rows_touch) {
      if (depth > 1 && planes_touch) {
        copy_bytes(out, in, bytes());
        return;
      }
      copy_bytes(out, in, width * height);
      continue;
    }
    for (size_t y = 0; y < height; ++y) std::memmove(out + y * to.pitch, in + y * from.pitch, width);
  }
}

cudaError_t copy_and_wait(Context& context, cudaStream_t handle, const CopyRequest& request) {
  if (empty(request)) return cudaSuccess;
  Sides sides;
  if (cudaError_t status = check(context, request, &sides); status != cudaSuccess) return status;
  StreamRef stream = find_stream(context, handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  forbid_capture(*stream);

  // The calling thread copies by itself once the way is free.
  Scheduler& scheduler = Scheduler::instance();
  auto after = [&](Context& other, Stream& queue_owner) -> cudaError_t {
    if (!scheduler.idle(queue_owner.queue) || queue_owner.queue.kind() != Queue::Kind::Legacy) {
      OpRef turn = enqueue(other, queue_owner.shared_from_this(), WaitWork{});
      scheduler.wait(turn);
    }
    return other.failure();
  };
  if (cudaError_t status = after(context, *stream); status != cudaSuccess) return status;
  for (const auto* place : {&sides.to, &sides.from})
    if (*place && (*place)->owner != &context) {
      Context& other = *(*place)->owner;
      if (cudaError_t status = after(other, *other.default_stream()); status != cudaSuccess) return status;
    }
  context.write_output();
  run_on_this_thread(context, *stream, work_of(request));
  return cudaSuccess;
}

cudaError_t copy_in_stream(Context& context, cudaStream_t handle, const CopyRequest& request) {
  if (empty(request)) return cudaSuccess;
  Sides sides;
  if (cudaError_t status = check(context, request, &sides); status != cudaSuccess) return status;
  StreamRef stream = find_stream(context, handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  CopyWork work = work_of(request);
  if (stream->capture) {  // a graph reads pageable memory when it runs
    enqueue(stream->context, stream, std::move(work));
    return cudaSuccess;
  }
  bool pageable_to = !sides.to, pageable_from = !sides.from;
  if (pageable_from && !pageable_to && work.bytes() <= kStagedBytes) stage(work);
  else if (pageable_to || pageable_from) return copy_and_wait(context, handle, request);
  enqueue(stream->context, stream, std::move(work));
  return cudaSuccess;
}

namespace {

Region pitched_region(const cudaPitchedPtr& pointer, const cudaPos& position) {
  size_t plane = pointer.pitch * pointer.ysize;
  return {static_cast<std::byte*>(pointer.ptr) + position.z * plane + position.y * pointer.pitch + position.x, pointer.pitch, plane};
}

// One end of a three-dimensional copy: memory, whose position counts bytes, or an array, whose position counts texels.
cudaError_t end_of(cudaArray_t handle, const cudaPitchedPtr& pointer, const cudaPos& position, const cudaExtent& extent, size_t texel,
                   Region* region) {
  if (handle && pointer.ptr) return cudaErrorInvalidValue;
  if (handle) {
    ArrayRef array = find_array(handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    return array_end(*array, position, extent, region);
  }
  if (!pointer.ptr) return cudaErrorInvalidValue;
  // Measured: what is too wide or too high wherever it begins is the pitch's fault. A pitch and a height of zero say
  // nothing about the only row and the only plane.
  const size_t width = extent.width * texel, height = extent.height;
  const bool rows = height > 1 || extent.depth > 1, planes = extent.depth > 1;
  if ((rows && width > pointer.pitch) || (planes && height > pointer.ysize)) return cudaErrorInvalidPitchValue;
  if (pointer.pitch && position.x + width > pointer.pitch) return cudaErrorInvalidValue;
  if (pointer.ysize && position.y + height > pointer.ysize) return cudaErrorInvalidValue;
  *region = pitched_region(pointer, position);
  return cudaSuccess;
}

// With an array at either end the extent counts its texels; both arrays must have texels of one size.
template <class Parameters>
cudaError_t request_of(const Parameters* p, CopyRequest* request) {
  if (!p) return cudaErrorInvalidValue;
  size_t texel = 1;
  for (cudaArray_t handle : {p->srcArray, p->dstArray}) {
    if (!handle) continue;
    ArrayRef array = find_array(handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    if (texel != 1 && texel != array->format.bytes()) return cudaErrorInvalidValue;
    texel = array->format.bytes();
  }
  if (p->srcArray && p->dstArray && find_array(p->srcArray)->format.bytes() != find_array(p->dstArray)->format.bytes())
    return cudaErrorInvalidValue;
  *request = {{}, {}, p->extent.width * texel, p->extent.height, p->extent.depth, cudaMemcpyDefault};
  if (empty(*request)) return cudaSuccess;
  if (cudaError_t status = end_of(p->dstArray, p->dstPtr, p->dstPos, p->extent, texel, &request->to); status != cudaSuccess) return status;
  return end_of(p->srcArray, p->srcPtr, p->srcPos, p->extent, texel, &request->from);
}

}  // namespace

cudaError_t copy_request(const cudaMemcpy3DParms* parameters, CopyRequest* request) {
  if (cudaError_t status = request_of(parameters, request); status != cudaSuccess) return status;
  request->kind = parameters->kind;
  const bool from_host = request->kind == cudaMemcpyHostToHost || request->kind == cudaMemcpyHostToDevice;
  return parameters->srcArray && from_host && !empty(*request) ? cudaErrorInvalidValue : cudaSuccess;
}

namespace {

using Copy = cudaError_t (*)(Context&, cudaStream_t, const CopyRequest&);

cudaError_t copy_1d(Copy copy, void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return in_context([&](Context& context) { return copy(context, stream, linear(to, from, bytes, kind)); });
}

cudaError_t copy_2d(Copy copy, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                    cudaMemcpyKind kind, cudaStream_t stream) {
  return in_context([&](Context& context) {
    if (width != 0 && height != 0) {
      if (to_pitch < width || from_pitch < width) return height > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue;  // measured
      if (to_pitch > context.model.max_pitch || from_pitch > context.model.max_pitch) return cudaErrorInvalidValue;
    }
    CopyRequest request = linear(to, from, width, kind);
    request.height = height;
    request.to.pitch = to_pitch;
    request.from.pitch = from_pitch;
    return copy(context, stream, request);
  });
}

cudaError_t copy_3d(Copy copy, const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return in_context([&](Context& context) {
    CopyRequest request;
    if (cudaError_t status = copy_request(parameters, &request); status != cudaSuccess) return status;
    return copy(context, stream, request);
  });
}

cudaError_t copy_3d_peer(Copy copy, const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  return in_context([&](Context& context) {
    CopyRequest request;
    if (cudaError_t status = request_of(parameters, &request); status != cudaSuccess) return status;
    Context* ignored;
    if (cudaError_t status = context_of(parameters->srcDevice, &ignored); status != cudaSuccess) return status;
    if (cudaError_t status = context_of(parameters->dstDevice, &ignored); status != cudaSuccess) return status;
    request.kind = cudaMemcpyDeviceToDevice;
    return copy(context, stream, request);
  });
}

cudaError_t copy_peer(Copy copy, void* to, int to_device, const void* from, int from_device, size_t bytes, cudaStream_t stream) {
  return in_context([&](Context& context) {
    Context* ignored;
    if (cudaError_t status = context_of(to_device, &ignored); status != cudaSuccess) return status;
    if (cudaError_t status = context_of(from_device, &ignored); status != cudaSuccess) return status;
    return copy(context, stream, linear(to, from, bytes, cudaMemcpyDeviceToDevice));
  });
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return copy_1d(copy_and_wait, to, from, bytes, kind, nullptr);
}

WB_TWIN cudaError_t cudaMemcpy_ptds(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return copy_1d(copy_and_wait, to, from, bytes, kind, cudaStreamPerThread);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_1d(copy_in_stream, to, from, bytes, kind, stream);
}

WB_TWIN cudaError_t cudaMemcpyAsync_ptsz(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_1d(copy_in_stream, to, from, bytes, kind, per_thread(stream));
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_2d(copy_and_wait, to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}

WB_TWIN cudaError_t cudaMemcpy2D_ptds(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                                      cudaMemcpyKind kind) {
  return copy_2d(copy_and_wait, to, to_pitch, from, from_pitch, width, height, kind, cudaStreamPerThread);
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_2d(copy_in_stream, to, to_pitch, from, from_pitch, width, height, kind, stream);
}

WB_TWIN cudaError_t cudaMemcpy2DAsync_ptsz(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_2d(copy_in_stream, to, to_pitch, from, from_pitch, width, height, kind, per_thread(stream));
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) { return copy_3d(copy_and_wait, p, nullptr); }

WB_TWIN cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms* p) { return copy_3d(copy_and_wait, p, cudaStreamPerThread); }

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) { return copy_3d(copy_in_stream, p, stream); }

WB_TWIN cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return copy_3d(copy_in_stream, p, per_thread(stream));
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) { return copy_3d_peer(copy_and_wait, p, nullptr); }

WB_TWIN cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms* p) { return copy_3d_peer(copy_and_wait, p, cudaStreamPerThread); }

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) { return copy_3d_peer(copy_in_stream, p, stream); }

WB_TWIN cudaError_t cudaMemcpy3DPeerAsync_ptsz(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return copy_3d_peer(copy_in_stream, p, per_thread(stream));
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return copy_peer(copy_and_wait, to, to_device, from, from_device, bytes, nullptr);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes, cudaStream_t stream) {
  return copy_peer(copy_in_stream, to, to_device, from, from_device, bytes, stream);
}

}  // extern "C"
