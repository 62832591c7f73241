// A place for a matrix of complex numbers while LAPACK works on it.
#pragma once
#include <algorithm>
#include <vector>

#include "libraries/numeric/values.h"

namespace warpbeam::numeric::lapack {

// OpenBLAS's cgemv, zgemv, chemv and zhemv (0.3.21, for AVX-512) load the next element of a row or a column before they know that
// there is none: up to one leading dimension beyond the matrix, where a program's device memory may end. What they load there they
// do not use. A matrix that such a function works on gets a column more here, and goes back when the work is done; what lies
// between its columns stays untouched. Matrices of real numbers stay where they are.
template <class T>
class Room {
 public:
  Room(T* a, int rows, int columns, int lead) : to_(a), rows_(rows), columns_(a ? columns : 0), to_lead_(lead), lead_(lead) {
    if constexpr (is_complex<T>) {
      if (!to_) return;
      lead_ = std::max(1, rows);
      held_.resize(static_cast<size_t>(lead_) * (static_cast<size_t>(columns) + 1) + 1);
      for (size_t j = 0; j < static_cast<size_t>(columns); ++j) std::copy_n(to_ + j * to_lead_, rows, held_.data() + j * lead_);
    }
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() {
    if constexpr (is_complex<T>)
      for (size_t j = 0; j < static_cast<size_t>(columns_); ++j) std::copy_n(held_.data() + j * lead_, rows_, to_ + j * to_lead_);
  }
  T* data() { return is_complex<T> && to_ ? held_.data() : to_; }
  const int* lead() const { return &lead_; }

 private:
  T* to_;
  int rows_, columns_, to_lead_, lead_;
  std::vector<T> held_;
};

}  // namespace warpbeam::numeric::lapack
