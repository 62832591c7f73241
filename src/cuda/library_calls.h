// How libraries on top of CUDA (cuBLAS, cuFFT …) do their work: on the host, but in the place in a stream where their
// kernels would be. A later kernel, copy or event sees it, a capture records it, and an address that a kernel could not
// use breaks the context as that kernel would have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "cuda/api.h"

namespace warpbeam::cuda {

class Context;
struct LibraryWork;

// Device memory for a library's call. It asks before it touches anything; what no kernel may touch ends the call.
class __attribute__((visibility("default"))) LibraryMemory {
 public:
  LibraryMemory(Context& context, uint64_t operation, const std::string& name) : context_(context), operation_(operation), name_(name) {}
  void reads(const void* address, size_t bytes) { use(address, bytes, 1, 0, false); }
  void writes(const void* address, size_t bytes) { use(address, bytes, 1, 0, true); }
  // `rows` runs of `bytes`, `pitch` apart.
  void reads(const void* address, size_t bytes, size_t rows, size_t pitch) { use(address, bytes, rows, pitch, false); }
  void writes(const void* address, size_t bytes, size_t rows, size_t pitch) { use(address, bytes, rows, pitch, true); }

 private:
  void use(const void* address, size_t bytes, size_t rows, size_t pitch, bool writes);
  Context& context_;
  uint64_t operation_;
  const std::string& name_;
};

// Puts a call on the stream. `effort`: about how many bytes or operations it takes.
__attribute__((visibility("default"))) cudaError_t enqueue_library_call(cudaStream_t stream, std::string name, size_t effort,
                                                                        std::function<void(LibraryMemory&)> run);

// What comes behind it in the stream waits until `ready`, which is asked again and again.
__attribute__((visibility("default"))) cudaError_t enqueue_library_wait(cudaStream_t stream, std::function<bool()> ready);

// A library that runs on the calling thread itself (src/clients) begins and ends to work in device memory, and what of it has values from
// then on: no mistakes of the program's, as what a library does in a stream is none.
extern "C" {
__attribute__((visibility("default"))) void __warpbeam_library_begins();
__attribute__((visibility("default"))) int __warpbeam_library_writes(void* address, size_t bytes, void* stream);
__attribute__((visibility("default"))) void __warpbeam_library_ends();
}

// An operation's turn has come.
void run_library_work(Context& context, uint64_t operation, const LibraryWork& work);

}  // namespace warpbeam::cuda
