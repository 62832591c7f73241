// How a caller says where an algorithm runs and where its temporary storage comes from.
//
//   reduce(on(stream), ...)                         storage from the stream's memory pool, given back in stream order
//   reduce(on(stream).measure(&bytes), ...)         launches nothing, stores the number of bytes needed
//   reduce(on(stream).with_storage(p, bytes), ...)  runs in the caller's storage
//
// No call synchronises the device: results are ready when the stream reaches them.
#pragma once

#include "config.cuh"

namespace warpbeam {

struct Policy {
  cudaStream_t stream = nullptr;
  size_t* needed = nullptr;
  void* storage = nullptr;
  size_t storage_bytes = 0;
  bool deterministic = false;

  Policy measure(size_t* bytes) const {
    Policy copy = *this;
    copy.needed = bytes;
    return copy;
  }
  Policy with_storage(void* pointer, size_t bytes) const {
    Policy copy = *this;
    copy.storage = pointer;
    copy.storage_bytes = bytes;
    return copy;
  }
  // Floating-point results that are the same bits on every run and on every device, whatever its size.
  Policy with_determinism() const {
    Policy copy = *this;
    copy.deterministic = true;
    return copy;
  }
};

inline Policy on(cudaStream_t stream = nullptr) {
  Policy policy;
  policy.stream = stream;
  return policy;
}

// Collects the arrays an algorithm wants, then finds one piece of memory for all of them.
class Workspace {
 public:
  explicit Workspace(const Policy& policy) : policy_(policy) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
    if (owned_) cudaFreeAsync(base_, policy_.stream);
  }

  // Returns the offset of a new array; at() turns it into a pointer once acquire() has succeeded.
  size_t reserve(size_t bytes) {
    size_t offset = total_;
    total_ += round_up(bytes, kAlignment);
    return offset;
  }

  // True when the caller only asked for the size.
  bool measuring() const { return policy_.needed != nullptr; }

  cudaError_t acquire() {
    // A size of zero would make "no storage given" and "storage given" look alike.
    size_t bytes = (total_ ? total_ : kAlignment) + kAlignment;
    if (measuring()) {
      *policy_.needed = bytes;
      return cudaSuccess;
    }
    if (policy_.storage) {
      if (policy_.storage_bytes < bytes) return cudaErrorInvalidValue;
      auto address = reinterpret_cast<uintptr_t>(policy_.storage);
      base_ = reinterpret_cast<char*>(round_up(address, kAlignment));
      return cudaSuccess;
    }
    void* memory = nullptr;
    cudaError_t error = cudaMallocAsync(&memory, bytes, policy_.stream);
    if (error != cudaSuccess) return error;
    base_ = static_cast<char*>(memory);
    owned_ = true;
    return cudaSuccess;
  }

  template <class T>
  T* at(size_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }

 private:
  static constexpr size_t kAlignment = 256;
  Policy policy_;
  char* base_ = nullptr;
  size_t total_ = 0;
  bool owned_ = false;
};

#define WB_RETURN_IF_FAILED(expression)                    \
  do {                                                     \
    cudaError_t wb_error = (expression);                   \
    if (wb_error != cudaSuccess) return wb_error;          \
  } while (0)

// The two-phase protocol in one line: after it, either storage is there or the function has returned.
#define WB_ACQUIRE(workspace)                              \
  do {                                                     \
    WB_RETURN_IF_FAILED((workspace).acquire());            \
    if ((workspace).measuring()) return cudaSuccess;       \
  } while (0)

}  // namespace warpbeam
