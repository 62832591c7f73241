// Element-wise work: limited by memory.
#include <omp.h>

#include <cstring>

#include "reference/by_hand.h"
#include "reference/reference.h"

namespace reference {

void vector_add(const float* __restrict a, const float* __restrict b, float* __restrict c, size_t n) {
  if (by_hand::wanted) return by_hand::vector_add(a, b, c, n);
#pragma omp parallel for simd schedule(static)
  for (size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

void saxpy(float factor, const float* __restrict x, float* __restrict y, size_t n) {
  if (by_hand::wanted) return by_hand::saxpy(factor, x, y, n);
#pragma omp parallel for simd schedule(static)
  for (size_t i = 0; i < n; ++i) y[i] = factor * x[i] + y[i];
}

// The C library's copy of a large piece writes past the caches.
void copy(const float* from, float* to, size_t n) {
#pragma omp parallel
  {
    const size_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const size_t begin = n * thread / threads, end = n * (thread + 1) / threads;
    std::memcpy(to + begin, from + begin, (end - begin) * sizeof(float));
  }
}

}  // namespace reference
