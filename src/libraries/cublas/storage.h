// How a matrix lies in memory. Whatever its kind, each column's elements that exist stand side by side: that is all that
// the operations need to know.
#pragma once
#include <algorithm>

#include "libraries/cublas/call.h"

namespace warpbeam::cublas {

template <class V>
struct Column {
  V* first;           // the element in row `low`
  int64_t low, high;  // rows; none if high < low
  V& at(int64_t row) const { return first[row - low]; }
};

template <class V>
struct Storage {
  enum class Kind { Full, Band, TriangularBand, Packed } kind;
  V* base;
  int64_t lead = 0, below = 0, above = 0;  // diagonals below and above the main one

  // Of a general matrix of m rows.
  Column<V> column(int64_t j, int64_t m) const {
    if (kind == Kind::Full) return {base + j * lead, 0, m - 1};
    const int64_t low = std::max<int64_t>(0, j - above), high = std::min(m - 1, j + below);
    return {base + j * lead + above + low - j, low, high};
  }
  // Of one triangle of a square matrix.
  Column<V> column(int64_t j, int64_t n, bool upper) const {
    switch (kind) {
      case Kind::Packed: return upper ? Column<V>{base + j * (j + 1) / 2, 0, j} : Column<V>{base + j * (2 * n - j - 1) / 2 + j, j, n - 1};
      case Kind::TriangularBand: {
        const int64_t low = upper ? std::max<int64_t>(0, j - below) : j, high = upper ? j : std::min(n - 1, j + below);
        return {base + j * lead + (upper ? below + low - j : 0), low, high};
      }
      default: return upper ? Column<V>{base + j * lead, 0, j} : Column<V>{base + j * lead + j, j, n - 1};
    }
  }
  void check(const Call& call, int64_t rows) const {
    if (kind == Kind::Full) check_lead(call, lead, rows);
    call.require(below >= 0 && above >= 0);
    if (kind == Kind::Band) call.require(lead >= below + above + 1);
    if (kind == Kind::TriangularBand) call.require(lead >= below + 1);
  }
  void touch(Memory& memory, int64_t j, const Column<V>& c, bool writes) const {
    if (c.high < c.low) return;
    const size_t bytes = static_cast<size_t>(c.high - c.low + 1) * sizeof(V);
    memory.reads(c.first, bytes);
    if constexpr (!std::is_const_v<V>)
      if (writes) memory.writes(c.first, bytes);
  }
  void touch(Memory& memory, int64_t m, int64_t n) const {
    for (int64_t j = 0; j < n; ++j) touch(memory, j, column(j, m), !std::is_const_v<V>);
  }
  void touch(Memory& memory, int64_t n, bool upper) const {
    for (int64_t j = 0; j < n; ++j) touch(memory, j, column(j, n, upper), !std::is_const_v<V>);
  }
};

template <class T>
using StorageOf = Storage<std::remove_pointer_t<decltype(values(static_cast<T*>(nullptr)))>>;

template <class T>
StorageOf<T> full(T* a, int64_t lead) {
  return {StorageOf<T>::Kind::Full, values(a), lead};
}
template <class T>
StorageOf<T> band(T* a, int64_t lead, int64_t below, int64_t above) {
  return {StorageOf<T>::Kind::Band, values(a), lead, below, above};
}
template <class T>
StorageOf<T> triangular_band(T* a, int64_t lead, int64_t k) {
  return {StorageOf<T>::Kind::TriangularBand, values(a), lead, k};
}
template <class T>
StorageOf<T> packed(T* a) {
  return {StorageOf<T>::Kind::Packed, values(a)};
}

}  // namespace warpbeam::cublas
