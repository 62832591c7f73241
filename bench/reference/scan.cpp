// Two passes: every thread sums (or counts) its piece, then writes it from where the pieces before it end.
#include <omp.h>

#include <vector>

#include "reference/reference.h"

namespace reference {

void scan(const int* __restrict in, int* __restrict out, size_t n) {
  std::vector<int> before;
#pragma omp parallel
  {
    const size_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const size_t begin = n * thread / threads, end = n * (thread + 1) / threads;
#pragma omp single
    before.assign(threads + 1, 0);
    int sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = begin; i < end; ++i) sum += in[i];
    before[thread + 1] = sum;
#pragma omp barrier
#pragma omp single
    for (size_t k = 1; k <= threads; ++k) before[k] += before[k - 1];
    sum = before[thread];
    for (size_t i = begin; i < end; ++i) out[i] = sum += in[i];
  }
}

size_t compact(const int* __restrict in, int* __restrict out, size_t n) {
  std::vector<size_t> before;
#pragma omp parallel
  {
    const size_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const size_t begin = n * thread / threads, end = n * (thread + 1) / threads;
#pragma omp single
    before.assign(threads + 1, 0);
    size_t count = 0;
#pragma omp simd reduction(+ : count)
    for (size_t i = begin; i < end; ++i) count += in[i] > 0;
    before[thread + 1] = count;
#pragma omp barrier
#pragma omp single
    for (size_t k = 1; k <= threads; ++k) before[k] += before[k - 1];
    // Random signs: a branch would be mispredicted every other time. The last store of a piece may touch the first
    // element of the next one, so the last kept element is where it stops.
    size_t at = before[thread];
    const size_t stop = before[thread + 1];
    for (size_t i = begin; at < stop; ++i) {
      out[at] = in[i];
      at += in[i] > 0;
    }
  }
  return before.back();
}

}  // namespace reference
