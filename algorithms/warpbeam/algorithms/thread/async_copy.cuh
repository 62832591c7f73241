// Copies from global to shared memory that pass no register; portable code copies the ordinary way.
#pragma once

#include "../config.cuh"

namespace warpbeam {

// Copies kCount items of four bytes, one or four of them, or zeros where there are none.
template <int kCount, class T>
__device__ void copy_async(T* shared, const T* global, bool there) {
  static_assert(sizeof(T) == 4 && (kCount == 1 || kCount == 4), "4 or 16 bytes");
#if WB_BULK_COPY
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int bytes = there ? kCount * 4 : 0;
  if constexpr (kCount == 4) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "r"(bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(global), "r"(bytes) : "memory");
  }
#else
  for (int i = 0; i < kCount; ++i) shared[i] = there ? global[i] : T{};
#endif
}

// Waits for the copies of this thread.
__device__ inline void copies_done() {
#if WB_BULK_COPY
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace warpbeam
