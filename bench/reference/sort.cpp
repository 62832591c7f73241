#include <omp.h>

#include <algorithm>
#include <array>
#include <vector>

#include "reference/reference.h"

namespace reference {
namespace {

void exchange(int* __restrict low, int* __restrict high, size_t count, bool up) {
  if (up) {
#pragma omp simd
    for (size_t k = 0; k < count; ++k) {
      const int a = low[k], b = high[k];
      low[k] = std::min(a, b);
      high[k] = std::max(a, b);
    }
  } else {
#pragma omp simd
    for (size_t k = 0; k < count; ++k) {
      const int a = low[k], b = high[k];
      low[k] = std::max(a, b);
      high[k] = std::min(a, b);
    }
  }
}

// A step whose partners are so near that the distance must be known for the loop to vectorise: pieces of 16 elements,
// which lie in one run but for the first runs, which are shorter.
template <int kDistance>
void near_step(int* __restrict data, size_t begin, size_t end, size_t run) {
  for (size_t base = begin; base < end; base += 16) {
    int result[16];
    for (int k = 0; k < 16; ++k) {
      const int own = data[base + k], other = data[base + (k ^ kDistance)];
      const bool up = ((base + k) & run) == 0, low = (k & kDistance) == 0;
      result[k] = up == low ? std::min(own, other) : std::max(own, other);
    }
    std::copy_n(result, 16, data + base);
  }
}

// The steps of one run for the elements of a piece, from `distance` down.
void steps(int* data, size_t begin, size_t end, size_t distance, size_t run) {
  for (; distance > 8; distance /= 2)
    for (size_t base = begin; base < end; base += 2 * distance)
      exchange(data + base, data + base + distance, distance, (base & run) == 0);
  if (distance == 8) near_step<8>(data, begin, end, run), distance = 4;
  if (distance == 4) near_step<4>(data, begin, end, run), distance = 2;
  if (distance == 2) near_step<2>(data, begin, end, run), distance = 1;
  near_step<1>(data, begin, end, run);
}

constexpr size_t kPiece = 1024;

}  // namespace

// The network of the kernels in the same pieces: steps whose partners are near are done piece by piece in the first
// cache. Lengths are powers of two from kPiece on.
void bitonic_sort(int* data, size_t n) {
#pragma omp parallel for schedule(static)
  for (size_t begin = 0; begin < n; begin += kPiece)
    for (size_t run = 2; run <= kPiece; run *= 2) steps(data, begin, begin + kPiece, run / 2, run);
  for (size_t run = 2 * kPiece; run <= n; run *= 2) {
    for (size_t distance = run / 2; distance >= kPiece; distance /= 2) {
#pragma omp parallel for schedule(static)
      for (size_t part = 0; part < n / 2; part += kPiece) {
        const size_t base = part / distance * 2 * distance + part % distance;
        exchange(data + base, data + base + distance, kPiece, (base & run) == 0);
      }
    }
#pragma omp parallel for schedule(static)
    for (size_t begin = 0; begin < n; begin += kPiece) steps(data, begin, begin + kPiece, kPiece / 2, run);
  }
}

// From the least significant byte up. Every thread counts its piece, and scatters it to where its digits begin.
void radix_sort(uint32_t* keys, uint32_t* other, size_t n) {
  std::vector<std::array<size_t, 256>> begin_of;
  for (int shift = 0; shift < 32; shift += 8) {
#pragma omp parallel
    {
      const size_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
      const size_t begin = n * thread / threads, end = n * (thread + 1) / threads;
#pragma omp single
      begin_of.resize(threads);
      std::array<size_t, 256> own{};
      for (size_t i = begin; i < end; ++i) ++own[(keys[i] >> shift) & 255];
      begin_of[thread] = own;
#pragma omp barrier
#pragma omp single
      {
        size_t at = 0;
        for (int digit = 0; digit < 256; ++digit)
          for (auto& counts : begin_of) {
            const size_t count = counts[digit];
            counts[digit] = at;
            at += count;
          }
      }
      // Sixteen keys of a digit are collected before they go out: a whole line of memory at once.
      own = begin_of[thread];
      constexpr size_t kLine = 16;
      alignas(64) uint32_t waiting[256][kLine];
      uint8_t held[256] = {};
      for (size_t i = begin; i < end; ++i) {
        const uint32_t key = keys[i], digit = (key >> shift) & 255;
        waiting[digit][held[digit]++] = key;
        if (held[digit] == kLine) {
          std::copy_n(waiting[digit], kLine, other + own[digit]);
          own[digit] += kLine;
          held[digit] = 0;
        }
      }
      for (int digit = 0; digit < 256; ++digit) std::copy_n(waiting[digit], held[digit], other + own[digit]);
    }
    std::swap(keys, other);
  }
}

}  // namespace reference
