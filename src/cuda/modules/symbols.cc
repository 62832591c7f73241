// __device__ and __constant__ variables, named by the address of their host shadow.
#include "cuda/edge.h"
#include "cuda/memory/copy.h"
#include "cuda/modules/modules.h"

namespace warpbeam::cuda {

namespace {

cudaError_t find_variable(Context& context, const void* symbol, const vm::ProgramVariable** variable) {
  VariableSymbol* known = symbol ? Registry::instance().variable(symbol) : nullptr;
  if (!known) return cudaErrorInvalidSymbol;
  return context.images->variable(*known, variable);
}

using Copy = cudaError_t (*)(Context&, cudaStream_t, const CopyRequest&);

cudaError_t locate_part(Context& context, const void* symbol, size_t count, size_t offset, bool writes, std::byte** part) {
  const vm::ProgramVariable* variable = nullptr;
  if (cudaError_t status = find_variable(context, symbol, &variable); status != cudaSuccess) return status;
  *part = reinterpret_cast<std::byte*>(variable->address) + offset;
  if (offset > variable->size || count > variable->size - offset)
    return bad_bytes({variable->address + offset, count}, writes, writes ? *part : nullptr, context.memory);
  return cudaSuccess;
}

cudaError_t to_symbol(Copy copy, const void* symbol, const void* from, size_t count, size_t offset, cudaMemcpyKind kind,
                      cudaStream_t stream) {
  return in_context([&](Context& context) -> cudaError_t {
    if (!count) return cudaSuccess;  // looked at first, as a GPU's runtime does
    std::byte* part = nullptr;
    if (cudaError_t status = locate_part(context, symbol, count, offset, true, &part); status != cudaSuccess) return status;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    return copy(context, stream, linear(part, from, count, kind));
  });
}

cudaError_t from_symbol(Copy copy, void* to, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return in_context([&](Context& context) -> cudaError_t {
    if (!count) return cudaSuccess;
    std::byte* part = nullptr;
    if (cudaError_t status = locate_part(context, symbol, count, offset, false, &part); status != cudaSuccess) return status;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    return copy(context, stream, linear(to, part, count, kind));
  });
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return in_context([&](Context& context) -> cudaError_t {
    const warpbeam::vm::ProgramVariable* variable = nullptr;
    if (cudaError_t status = find_variable(context, symbol, &variable); status != cudaSuccess) return status;
    if (!address) return cudaErrorInvalidValue;
    *address = reinterpret_cast<void*>(variable->address);
    return cudaSuccess;
  });
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return in_context([&](Context& context) -> cudaError_t {
    const warpbeam::vm::ProgramVariable* variable = nullptr;
    if (cudaError_t status = find_variable(context, symbol, &variable); status != cudaSuccess) return status;
    if (!size) return cudaErrorInvalidValue;
    *size = variable->size;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t count, size_t offset, cudaMemcpyKind kind) {
  return to_symbol(copy_and_wait, symbol, from, count, offset, kind, nullptr);
}

WB_TWIN cudaError_t cudaMemcpyToSymbol_ptds(const void* symbol, const void* from, size_t count, size_t offset, cudaMemcpyKind kind) {
  return to_symbol(copy_and_wait, symbol, from, count, offset, kind, cudaStreamPerThread);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t count, size_t offset, cudaMemcpyKind kind,
                                    cudaStream_t stream) {
  return to_symbol(copy_in_stream, symbol, from, count, offset, kind, stream);
}

WB_TWIN cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* from, size_t count, size_t offset, cudaMemcpyKind kind,
                                                 cudaStream_t stream) {
  return to_symbol(copy_in_stream, symbol, from, count, offset, kind, per_thread(stream));
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind) {
  return from_symbol(copy_and_wait, to, symbol, count, offset, kind, nullptr);
}

WB_TWIN cudaError_t cudaMemcpyFromSymbol_ptds(void* to, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind) {
  return from_symbol(copy_and_wait, to, symbol, count, offset, kind, cudaStreamPerThread);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return from_symbol(copy_in_stream, to, symbol, count, offset, kind, stream);
}

WB_TWIN cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void* to, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind,
                                                   cudaStream_t stream) {
  return from_symbol(copy_in_stream, to, symbol, count, offset, kind, per_thread(stream));
}

}  // extern "C"
