#include "cuda/library_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cuda/edge.h"
#include "cuda/graphs/capture.h"
#include "cuda/streams/ops.h"
#include "vm/access.h"
#include "vm/trap.h"

namespace warpbeam::cuda {

namespace {

struct BadAddress {
  vm::Trap trap;
  bool writes;
};

}  // namespace

void LibraryMemory::use(const void* address, size_t bytes, size_t rows, size_t pitch, bool writes) {
  if (!bytes || !rows) return;
  const uint64_t base = reinterpret_cast<uint64_t>(address);
  auto refuse = [&](uint64_t at) {
    vm::Trap trap;
    trap.kind = vm::TrapKind::IllegalAddress;
    trap.message = fmt::format("invalid __global__ {} by {}", writes ? "write" : "read", name_);
    trap.kernel = name_;
    trap.address = at;
    trap.detail = vm::whose_address(context_.memory, at);
    throw BadAddress{std::move(trap), writes};
  };
  const uint64_t room = std::numeric_limits<uint64_t>::max() - base;
  if (bytes > room || (rows > 1 && pitch > (room - bytes) / (rows - 1))) refuse(base);
  const uint64_t end = base + (rows - 1) * pitch + bytes;
  // Neighbouring allocations may have been mapped to make one.
  for (uint64_t at = base; at < end;) {
    uint64_t low = 0, high = 0;
    if (!context_.memory.covers(at, 1, &low, &high)) refuse(at);
    at = high;
  }
  if (auto* tool = observe::tool()) tool->touches(operation_, {base, bytes, pitch, rows, 0, 1}, writes);
}

void run_library_work(Context& context, uint64_t operation, const LibraryWork& work) {
  LibraryMemory memory(context, operation, work.name);
  try {
    work.run(memory);
  } catch (const BadAddress& bad) {
    if (auto* tool = observe::tool()) tool->library_failed(operation, bad.trap, bad.writes);
    context.fail(cudaErrorIllegalAddress, bad.trap.paragraph());
  } catch (const std::exception& exception) {
    context.fail(cudaErrorLaunchFailure, fmt::format("========= {} failed: {}\n", work.name, exception.what()));
  }
}

cudaError_t enqueue_library_call(cudaStream_t handle, std::string name, size_t effort, std::function<void(LibraryMemory&)> run) {
  return in_context([&](Context& context) -> cudaError_t {
    StreamRef stream = find_stream(context, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (cudaError_t failure = stream->context.failure(); failure != cudaSuccess) return failure;
    enqueue(stream->context, stream, LibraryWork{std::move(name), effort, std::move(run)});
    return cudaSuccess;
  });
}

cudaError_t enqueue_library_wait(cudaStream_t handle, std::function<bool()> ready) {
  return in_context([&](Context& context) -> cudaError_t {
    StreamRef stream = find_stream(context, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    forbid_capture(*stream);
    enqueue(stream->context, stream, WaitWork{std::move(ready)});
    return cudaSuccess;
  });
}

extern "C" void __warpbeam_library_begins() {
  if (auto* tool = observe::tool(); tool && tool->follows_calls()) tool->entered();
}
extern "C" int __warpbeam_library_writes(void* address, size_t bytes, void* stream) {
  return enqueue_library_call(static_cast<cudaStream_t>(stream), "library", bytes,
                              [=](LibraryMemory& memory) { memory.writes(address, bytes); });
}
extern "C" void __warpbeam_library_ends() {
  if (auto* tool = observe::tool(); tool && tool->follows_calls()) tool->left();
}

}  // namespace warpbeam::cuda
