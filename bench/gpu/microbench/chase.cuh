// Dependent loads. The address is computed from a counter and from the value loaded before, which is zero: no list of
// pointers has to be laid out, whatever the size, and the steps can be random.
#pragma once

#include "chain.cuh"

namespace micro {

enum class Cached { all, second_level, read_only };

template <Cached cached>
__device__ unsigned load_word(const unsigned* p) {
  unsigned v;
  if (cached == Cached::all) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  if (cached == Cached::second_level) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  if (cached == Cached::read_only) asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

// Walks `lines` lines of `line_words` words in an order that is a permutation for powers of two (a full-period
// congruential sequence), `steps` of them timed. The extra arithmetic is one multiply-add and one shift a step, and
// `overhead` below measures it.
template <Cached cached>
__global__ void random_chase(const unsigned* data, unsigned long long lines, unsigned line_words, unsigned long long first, int warm, int steps,
                             long long* times) {
  unsigned long long line = first & (lines - 1);
  unsigned v = 0;
  for (int i = 0; i < warm; ++i) {
    v = load_word<cached>(data + line * line_words + v);
    line = (line * 1664525ull + 1013904223ull + v) & (lines - 1);
  }
  const long long start = clock64();
  for (int i = 0; i < steps; ++i) {
    v = load_word<cached>(data + line * line_words + v);
    line = (line * 1664525ull + 1013904223ull + v) & (lines - 1);
  }
  const long long end = clock64();
  times[0] = start;
  times[1] = end + v;
}

// The same without the load.
__global__ void chase_overhead(unsigned long long lines, unsigned line_words, int steps, long long* times, unsigned long long* sink);

// Walks in order, each line once a round: for capacities (an order that a cache with any replacement shows clearly).
template <Cached cached>
__global__ void ordered_chase(const unsigned* data, int lines, int line_words, int rounds, long long* times) {
  extern __shared__ unsigned occupied[];
  unsigned offset = 0;
  long long start = 0;
  for (int r = 0; r <= rounds; ++r) {
    if (r == 1) start = clock64();
    for (int i = 0; i < lines; ++i) {
      const unsigned v = load_word<cached>(data + offset);
      offset += line_words + v;
    }
    offset -= lines * line_words;
  }
  times[0] = start;
  times[1] = clock64();
  if (offset == 1) occupied[0] = 1;
}

}  // namespace micro
