// Cells side by side, looked at as vectors of the words that vm/watched_words.h names.
#pragma once
#include <cstring>

#include "observe/check/shadow.h"

namespace warpbeam::observe::check {

using namespace vm::words;

// Some cells side by side, their words in a row.
template <int kCells>
using Cells __attribute__((ext_vector_type(4 * kCells))) = uint32_t;

template <int kCells>
Cells<kCells> each_cell(uint32_t write, uint32_t read_a, uint32_t read_b, uint32_t rest) {
  Cells<kCells> v;
  for (int k = 0; k < kCells; ++k) v[4 * k] = write, v[4 * k + 1] = read_a, v[4 * k + 2] = read_b, v[4 * k + 3] = rest;
  return v;
}

// All cells taken together, word by word.
template <class V, class F>
Cells<1> fold(V v, F f) {
  if constexpr (sizeof(V) == sizeof(Cells<1>)) return v;
  else return fold(f(v.lo, v.hi), f);
}

// What all cells of a stretch have in common.
struct Summary {
  uint32_t most_write = 0, most_a = 0, most_b = 0, least_a = ~0u, least_b = ~0u;
  uint32_t any_bits = 0, all_bits = ~0u;                    // of `rest`
  uint32_t differ_write = 0, differ_a = 0, differ_b = 0;    // from the first cell's
  bool has_id = false;
};

template <int kCells>
Summary sum_up(const Cell* cells, uint32_t count, EventId id) {
  using V = Cells<kCells>;
  const V first = each_cell<kCells>(cells->write, cells->read_a, cells->read_b, 0);
  V most{}, least = ~V{}, any{}, all = ~V{}, differ{}, ids{};
  for (uint32_t k = 0; k < count; k += kCells) {
    V v;
    std::memcpy(&v, cells + k, sizeof v);
    most = __builtin_elementwise_max(most, v);
    least = __builtin_elementwise_min(least, v);
    any |= v;
    all &= v;
    differ |= v ^ first;
    ids |= __builtin_convertvector(v == id, V);
  }
  const auto larger = [](auto x, auto y) { return __builtin_elementwise_max(x, y); };
  const auto smaller = [](auto x, auto y) { return __builtin_elementwise_min(x, y); };
  const auto either = [](auto x, auto y) { return x | y; };
  const auto both = [](auto x, auto y) { return x & y; };
  const Cells<1> high = fold(most, larger), low = fold(least, smaller), some = fold(any, either), every = fold(all, both);
  Summary s;
  s.most_write = high[kWrite];
  s.most_a = high[kReadA];
  s.most_b = high[kReadB];
  s.least_a = low[kReadA];
  s.least_b = low[kReadB];
  s.any_bits = some[kRest];
  s.all_bits = every[kRest];
  const Cells<1> other = fold(differ, either);
  s.differ_write = other[kWrite];
  s.differ_a = other[kReadA];
  s.differ_b = other[kReadB];
  s.has_id = fold(ids, either)[kReadA] != 0;
  return s;
}

// f(the cells as they are, in each cell's `rest` place the bits of who reads it) gives what they become.
template <int kCells, class F>
void change(Cell* cells, uint32_t count, uint32_t lane, uint32_t words_of_lane, F f) {
  using V = Cells<kCells>;
  V who{};
  for (uint32_t k = 0; k < kCells; ++k) who[4 * k + kRest] = (lane + k / words_of_lane) << 8;
  const V step = each_cell<kCells>(0, 0, 0, kCells / words_of_lane << 8);
  for (uint32_t k = 0; k < count; k += kCells) {
    V v;
    std::memcpy(&v, cells + k, sizeof v);
    v = f(v, who);
    std::memcpy(static_cast<void*>(cells + k), &v, sizeof v);
    who += step;
  }
}

}  // namespace warpbeam::observe::check
