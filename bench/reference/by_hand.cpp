#include "reference/by_hand.h"

#ifdef __AVX512F__
#include <immintrin.h>
#include <omp.h>

#include <utility>

namespace reference::by_hand {
namespace {

constexpr size_t kLanes = 16;

// Each thread's part, whole registers; the last thread has what is left as well.
std::pair<size_t, size_t> part(size_t n) {
  const size_t threads = omp_get_num_threads(), thread = omp_get_thread_num(), registers = n / kLanes;
  return {registers * thread / threads * kLanes, thread + 1 == threads ? n : registers * (thread + 1) / threads * kLanes};
}

__mmask16 first(size_t count) { return static_cast<__mmask16>(count >= kLanes ? 0xffff : (1u << count) - 1); }

}  // namespace

bool possible() { return true; }

// Past the caches, which do not hold the sums.
void vector_add(const float* a, const float* b, float* c, size_t n) {
#pragma omp parallel
  {
    auto [i, end] = part(n);
    for (; i + kLanes <= end; i += kLanes) _mm512_stream_ps(c + i, _mm512_add_ps(_mm512_load_ps(a + i), _mm512_load_ps(b + i)));
    for (; i < end; ++i) c[i] = a[i] + b[i];
    _mm_sfence();
  }
}

void saxpy(float factor, const float* x, float* y, size_t n) {
  const __m512 f = _mm512_set1_ps(factor);
#pragma omp parallel
  {
    auto [i, end] = part(n);
    for (; i + kLanes <= end; i += kLanes) _mm512_store_ps(y + i, _mm512_fmadd_ps(f, _mm512_load_ps(x + i), _mm512_load_ps(y + i)));
    for (; i < end; ++i) y[i] = factor * x[i] + y[i];
  }
}

float sum(const float* data, size_t n) {
  float total = 0;
#pragma omp parallel reduction(+ : total)
  {
    constexpr size_t kSums = 8;
    __m512 sums[kSums] = {};
    auto [i, end] = part(n);
    for (; i + kSums * kLanes <= end; i += kSums * kLanes)
      for (size_t k = 0; k < kSums; ++k) sums[k] = _mm512_add_ps(sums[k], _mm512_load_ps(data + i + k * kLanes));
    for (; i < end; i += kLanes) sums[0] = _mm512_add_ps(sums[0], _mm512_maskz_loadu_ps(first(end - i), data + i));
    for (size_t k = 1; k < kSums; ++k) sums[0] = _mm512_add_ps(sums[0], sums[k]);
    total += _mm512_reduce_add_ps(sums[0]);
  }
  return total;
}

// Two registers of points at a time, which do not wait for each other, until all of them have escaped.
void mandelbrot(int* iterations, int width, int height, float left, float top, float step, int limit) {
  constexpr int kPoints = 2 * static_cast<int>(kLanes);
  const __m512 four = _mm512_set1_ps(4.0f), steps = _mm512_set1_ps(step), start = _mm512_set1_ps(left);
  const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), one = _mm512_set1_epi32(1);
#pragma omp parallel for schedule(dynamic, 1)
  for (int row = 0; row < height; ++row) {
    const __m512 ci = _mm512_set1_ps(top + step * static_cast<float>(row));
    for (int x = 0; x < width; x += kPoints) {
      __m512 cr[2], zr[2] = {}, zi[2] = {};
      __m512i count[2] = {};
      for (int k = 0; k < 2; ++k)
        cr[k] = _mm512_fmadd_ps(steps, _mm512_cvtepi32_ps(_mm512_add_epi32(lanes, _mm512_set1_epi32(x + k * 16))), start);
      for (int round = 0; round < limit; ++round) {
        __mmask16 stays[2];
        for (int k = 0; k < 2; ++k) {
          const __m512 ii = _mm512_mul_ps(zi[k], zi[k]), rr = _mm512_mul_ps(zr[k], zr[k]);
          stays[k] = _mm512_cmp_ps_mask(_mm512_add_ps(rr, ii), four, _CMP_LE_OQ);
          count[k] = _mm512_mask_add_epi32(count[k], stays[k], count[k], one);
          zi[k] = _mm512_fmadd_ps(_mm512_add_ps(zr[k], zr[k]), zi[k], ci);
          zr[k] = _mm512_add_ps(_mm512_sub_ps(rr, ii), cr[k]);
        }
        if (!(stays[0] | stays[1])) break;
      }
      for (int k = 0; k < 2; ++k) {
        const int at = x + k * 16;
        if (at < width) _mm512_mask_storeu_epi32(iterations + static_cast<size_t>(row) * width + at, first(width - at), count[k]);
      }
    }
  }
}

}  // namespace reference::by_hand

#else

namespace reference::by_hand {

bool possible() { return false; }
void vector_add(const float*, const float*, float*, size_t) {}
void saxpy(float, const float*, float*, size_t) {}
float sum(const float*, size_t) { return 0; }
void mandelbrot(int*, int, int, float, float, float, int) {}

}  // namespace reference::by_hand

#endif
