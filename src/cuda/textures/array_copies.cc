// Copies whose one or both ends are arrays, by the functions that name rows and columns.
#include <algorithm>

#include "cuda/edge.h"
#include "cuda/textures/arrays.h"

namespace warpbeam::cuda {
namespace {

using Copy = cudaError_t (*)(Context&, cudaStream_t, const CopyRequest&);

// The array's end is device memory, so some directions cannot be. An empty copy is well whatever it names, as on a GPU.
bool may_write_array(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}
bool may_read_array(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

Region plain(const void* base, size_t pitch) { return {static_cast<std::byte*>(const_cast<void*>(base)), pitch, 0}; }

cudaError_t to_array_2d(Copy copy, cudaArray_t handle, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                        cudaMemcpyKind kind, cudaStream_t stream) {
  return in_context([&](Context& context) -> cudaError_t {
    ArrayRef array = find_array(handle);
    if (width == 0 || height == 0) return cudaSuccess;
    if (!may_write_array(kind)) return cudaErrorInvalidMemcpyDirection;
    if (!array) return cudaErrorInvalidResourceHandle;
    if (height > 1 && pitch < width) return cudaErrorInvalidPitchValue;
    if (!array->holds(x, y, 0, width, height, 1)) return cudaErrorInvalidValue;
    return copy(context, stream, {array->region(x, y, 0), plain(from, pitch), width, height, 1, kind});
  });
}

cudaError_t from_array_2d(Copy copy, void* to, size_t pitch, cudaArray_const_t handle, size_t x, size_t y, size_t width, size_t height,
                          cudaMemcpyKind kind, cudaStream_t stream) {
  return in_context([&](Context& context) -> cudaError_t {
    ArrayRef array = find_array(handle);
    if (width == 0 || height == 0) return cudaSuccess;
    if (!may_read_array(kind)) return cudaErrorInvalidMemcpyDirection;
    if (!array) return cudaErrorInvalidResourceHandle;
    if (height > 1 && pitch < width) return cudaErrorInvalidPitchValue;
    if (!array->holds(x, y, 0, width, height, 1)) return cudaErrorInvalidValue;
    return copy(context, stream, {plain(to, pitch), array->region(x, y, 0), width, height, 1, kind});
  });
}

cudaError_t between_arrays_2d(Copy copy, cudaArray_t to_handle, size_t to_x, size_t to_y, cudaArray_const_t from_handle, size_t from_x,
                              size_t from_y, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return in_context([&](Context& context) -> cudaError_t {
    ArrayRef to = find_array(to_handle), from = find_array(from_handle);
    if (width == 0 || height == 0) return cudaSuccess;
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!to || !from) return cudaErrorInvalidResourceHandle;
    if (!to->holds(to_x, to_y, 0, width, height, 1) || !from->holds(from_x, from_y, 0, width, height, 1)) return cudaErrorInvalidValue;
    return copy(context, stream, {to->region(to_x, to_y, 0), from->region(from_x, from_y, 0), width, height, 1, kind});
  });
}

// A stretch of an array's bytes, row after row, as the functions of the first toolkits count.
struct Stretch {
  const Array& array;
  size_t x, y;
  bool holds(size_t bytes) const {
    const size_t row = array.row_bytes();
    return x < row && y < array.rows() && bytes <= (array.rows() - y) * row - x;
  }
  size_t rest_of_row() const { return array.row_bytes() - x; }
  Region here() const { return array.region(x, y, 0); }
  void advance(size_t bytes) {
    x += bytes;
    y += x / array.row_bytes();
    x %= array.row_bytes();
  }
};

// One end is a stretch, the other plain memory or another stretch: piece by piece, whole rows at once where that goes.
cudaError_t copy_stretch(Copy copy, Context& context, cudaStream_t stream, Stretch at, std::byte* memory, bool to_array, size_t bytes,
                         cudaMemcpyKind kind) {
  while (bytes) {
    const size_t row = at.array.row_bytes();
    const size_t width = at.x ? std::min(at.rest_of_row(), bytes) : std::min(row, bytes);
    const size_t height = at.x || bytes < row ? 1 : bytes / row;
    const Region flat = plain(memory, width);
    CopyRequest request =
        to_array ? CopyRequest{at.here(), flat, width, height, 1, kind} : CopyRequest{flat, at.here(), width, height, 1, kind};
    if (cudaError_t status = copy(context, stream, request); status != cudaSuccess) return status;
    at.advance(width * height);
    memory += width * height;
    bytes -= width * height;
  }
  return cudaSuccess;
}

cudaError_t to_array(Copy copy, cudaArray_t handle, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind,
                     cudaStream_t stream) {
  return in_context([&](Context& context) -> cudaError_t {
    ArrayRef array = find_array(handle);
    if (bytes == 0) return cudaSuccess;
    if (!may_write_array(kind)) return cudaErrorInvalidMemcpyDirection;
    if (!array) return cudaErrorInvalidResourceHandle;
    const Stretch at{*array, x, y};
    if (!from || !at.holds(bytes)) return cudaErrorInvalidValue;
    return copy_stretch(copy, context, stream, at, static_cast<std::byte*>(const_cast<void*>(from)), true, bytes, kind);
  });
}

cudaError_t from_array(Copy copy, void* to, cudaArray_const_t handle, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind,
                       cudaStream_t stream) {
  return in_context([&](Context& context) -> cudaError_t {
    ArrayRef array = find_array(handle);
    if (bytes == 0) return cudaSuccess;
    if (!may_read_array(kind)) return cudaErrorInvalidMemcpyDirection;
    if (!array) return cudaErrorInvalidResourceHandle;
    const Stretch at{*array, x, y};
    if (!to || !at.holds(bytes)) return cudaErrorInvalidValue;
    return copy_stretch(copy, context, stream, at, static_cast<std::byte*>(to), false, bytes, kind);
  });
}

cudaError_t between_arrays(cudaArray_t to_handle, size_t to_x, size_t to_y, cudaArray_const_t from_handle, size_t from_x, size_t from_y,
                           size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return in_context([&](Context& context) -> cudaError_t {
    ArrayRef to = find_array(to_handle), from = find_array(from_handle);
    if (bytes == 0) return cudaSuccess;
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!to || !from) return cudaErrorInvalidResourceHandle;
    Stretch target{*to, to_x, to_y}, source{*from, from_x, from_y};
    if (!target.holds(bytes) || !source.holds(bytes)) return cudaErrorInvalidValue;
    while (bytes) {
      const size_t piece = std::min({target.rest_of_row(), source.rest_of_row(), bytes});
      if (cudaError_t status = copy_and_wait(context, stream, {target.here(), source.here(), piece, 1, 1, kind}); status != cudaSuccess)
        return status;
      target.advance(piece);
      source.advance(piece);
      bytes -= piece;
    }
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                                cudaMemcpyKind kind) {
  return to_array_2d(copy_and_wait, to, x, y, from, pitch, width, height, kind, nullptr);
}
WB_TWIN cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                             size_t height, cudaMemcpyKind kind) {
  return to_array_2d(copy_and_wait, to, x, y, from, pitch, width, height, kind, cudaStreamPerThread);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return to_array_2d(copy_in_stream, to, x, y, from, pitch, width, height, kind, stream);
}
WB_TWIN cudaError_t cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                                  size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return to_array_2d(copy_in_stream, to, x, y, from, pitch, width, height, kind, per_thread(stream));
}

cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                                  cudaMemcpyKind kind) {
  return from_array_2d(copy_and_wait, to, pitch, from, x, y, width, height, kind, nullptr);
}
WB_TWIN cudaError_t cudaMemcpy2DFromArray_ptds(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                               size_t height, cudaMemcpyKind kind) {
  return from_array_2d(copy_and_wait, to, pitch, from, x, y, width, height, kind, cudaStreamPerThread);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
  return from_array_2d(copy_in_stream, to, pitch, from, x, y, width, height, kind, stream);
}
WB_TWIN cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                                    size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return from_array_2d(copy_in_stream, to, pitch, from, x, y, width, height, kind, per_thread(stream));
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x, size_t from_y,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
  return between_arrays_2d(copy_and_wait, to, to_x, to_y, from, from_x, from_y, width, height, kind, nullptr);
}
WB_TWIN cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                                  size_t from_y, size_t width, size_t height, cudaMemcpyKind kind) {
  return between_arrays_2d(copy_and_wait, to, to_x, to_y, from, from_x, from_y, width, height, kind, cudaStreamPerThread);
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return to_array(copy_and_wait, to, x, y, from, bytes, kind, nullptr);
}
WB_TWIN cudaError_t cudaMemcpyToArray_ptds(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return to_array(copy_and_wait, to, x, y, from, bytes, kind, cudaStreamPerThread);
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  return to_array(copy_in_stream, to, x, y, from, bytes, kind, stream);
}
WB_TWIN cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind,
                                                cudaStream_t stream) {
  return to_array(copy_in_stream, to, x, y, from, bytes, kind, per_thread(stream));
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind) {
  return from_array(copy_and_wait, to, from, x, y, bytes, kind, nullptr);
}
WB_TWIN cudaError_t cudaMemcpyFromArray_ptds(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind) {
  return from_array(copy_and_wait, to, from, x, y, bytes, kind, cudaStreamPerThread);
}
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return from_array(copy_in_stream, to, from, x, y, bytes, kind, stream);
}
WB_TWIN cudaError_t cudaMemcpyFromArrayAsync_ptsz(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind,
                                                  cudaStream_t stream) {
  return from_array(copy_in_stream, to, from, x, y, bytes, kind, per_thread(stream));
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x, size_t from_y,
                                   size_t bytes, cudaMemcpyKind kind) {
  return between_arrays(to, to_x, to_y, from, from_x, from_y, bytes, kind, nullptr);
}
WB_TWIN cudaError_t cudaMemcpyArrayToArray_ptds(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                                size_t from_y, size_t bytes, cudaMemcpyKind kind) {
  return between_arrays(to, to_x, to_y, from, from_x, from_y, bytes, kind, cudaStreamPerThread);
}

}  // extern "C"
