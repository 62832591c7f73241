// Direct solution of sparse systems. Rows and columns are put into an order that keeps the entries near the diagonal
// (reverse Cuthill-McKee), and LAPACK's banded solvers do the rest: simple, and fast for the meshes and networks that
// programs solve. Without such an order a matrix is as wide as a dense one, and takes as long.
#pragma once
#include <cmath>
#include <stdexcept>
#include <variant>

#include "cusolverSp.h"
#include "cusolverSp_LOWLEVEL_PREVIEW.h"
#include "libraries/cusolver/call.h"

namespace warpbeam::cusolver {

enum class Method { lu, cholesky };
enum class Place { host, device };

// Rows of a sparse matrix; indices count from 0 and are inside of it.
struct Pattern {
  int rows = 0, columns = 0;
  std::vector<int> first, column;
};
template <class V>
struct Csr : Pattern {
  std::vector<V> value;
};

// `memory` is null for arrays of the host.
template <class T>
void reads(Memory* memory, const T* p, int64_t count) {
  if (memory) memory->reads(p, static_cast<size_t>(count) * sizeof(T));
  else if (!p && count) throw std::out_of_range("an array is missing");
}
template <class T>
void writes(Memory* memory, T* p, int64_t count) {
  if (memory) memory->writes(p, static_cast<size_t>(count) * sizeof(T));
  else if (!p && count) throw std::out_of_range("an array is missing");
}

Pattern load_pattern(Memory* memory, int rows, int columns, int entries, int base, const int* first, const int* column);

template <class T>
Csr<Value<T>> load(Memory* memory, int n, int entries, int base, const T* value, const int* first, const int* column) {
  Csr<Value<T>> out{load_pattern(memory, n, n, entries, base, first, column), {}};
  reads(memory, value, entries);
  out.value.assign(values(value), values(value) + out.column.size());
  return out;
}

// order[k]: which row comes at place k.
std::vector<int> narrow_order(const Pattern& a);

template <class V>
class BandFactor {
 public:
  // Of A - shift I. Cholesky reads the lower triangle only.
  BandFactor(const Csr<V>& a, V shift, Method method) : n_(a.rows), method_(method), order_(narrow_order(a)) {
    std::vector<int> place(static_cast<size_t>(n_));
    for (int k = 0; k < n_; ++k) place[order_[k]] = k;
    for (int row = 0; row < n_; ++row)
      for (int e = a.first[row]; e < a.first[row + 1]; ++e) {
        const int distance = place[row] - place[a.column[e]];
        below_ = std::max(below_, distance), above_ = std::max(above_, -distance);
      }
    if (method == Method::cholesky) below_ = above_ = std::max(below_, above_);
    lead_ = method == Method::lu ? 2 * below_ + above_ + 1 : below_ + 1;
    if (static_cast<size_t>(lead_) * static_cast<size_t>(n_) * sizeof(V) > kLargest) throw std::bad_alloc();
    band_.assign(static_cast<size_t>(lead_) * static_cast<size_t>(n_), V{});
    for (int row = 0; row < n_; ++row) {
      for (int e = a.first[row]; e < a.first[row + 1]; ++e) add(place[row], place[a.column[e]], row, a.column[e], a.value[e]);
      if (shift != V{0}) add(place[row], place[row], row, row, -shift);
    }
    if (method == Method::lu) {
      pivots_.resize(static_cast<size_t>(n_));
      lapack::gbtrf(n_, below_, above_, band_.data(), lead_, pivots_.data());
    } else {
      failed_ = lapack::pbtrf('L', n_, below_, band_.data(), lead_) - 1;
    }
  }

  int size() const { return n_; }
  // The first row, counted from 0, whose pivot is not above `tolerance`, or -1.
  int zero_pivot(Real<V> tolerance) const {
    if (method_ == Method::cholesky) {
      if (failed_ >= 0) return failed_;
      for (int k = 0; k < n_; ++k)
        if (!(std::abs(band_[static_cast<size_t>(k) * lead_]) > tolerance)) return k;
      return -1;
    }
    for (int k = 0; k < n_; ++k)
      if (!(std::abs(band_[static_cast<size_t>(k) * lead_ + below_ + above_]) > tolerance)) return k;
    return -1;
  }
  void solve(const V* b, V* x) const {
    std::vector<V> right(static_cast<size_t>(n_));
    for (int k = 0; k < n_; ++k) right[k] = b[order_[k]];
    if (n_ == 0 || zero_pivot(0) >= 0) return;
    if (method_ == Method::lu) lapack::gbtrs(n_, below_, above_, band_.data(), lead_, pivots_.data(), right.data());
    else lapack::pbtrs('L', n_, below_, band_.data(), lead_, right.data());
    for (int k = 0; k < n_; ++k) x[order_[k]] = right[k];
  }

 private:
  static constexpr size_t kLargest = size_t{16} << 30;

  // Entry (row, column) of the program's matrix goes to (i, j) of the band.
  void add(int i, int j, int row, int column, V value) {
    if (method_ == Method::lu) {
      band_[static_cast<size_t>(j) * lead_ + below_ + above_ + i - j] += value;
      return;
    }
    if (column > row) return;
    if (i < j) std::swap(i, j), value = conjugate_if(true, value);
    band_[static_cast<size_t>(j) * lead_ + i - j] += value;
  }

  int n_;
  Method method_;
  std::vector<int> order_, pivots_;
  int below_ = 0, above_ = 0, lead_ = 1, failed_ = -1;
  std::vector<V> band_;
};

// What the info objects of the step-by-step functions hold, once there are factors.
struct Factors {
  std::variant<std::monostate, BandFactor<float>, BandFactor<double>, BandFactor<Complex>, BandFactor<DoubleComplex>> of;
};
// A call may still be on its way when the program destroys the object.
struct StepInfo {
  std::shared_ptr<Factors> factors = std::make_shared<Factors>();
};

template <class... Sizes>
cusolverStatus_t no_buffer(Call& call, Sizes*... sizes) {
  (call.require(sizes), ...);
  ((*sizes = 16), ...);
  return CUSOLVER_STATUS_SUCCESS;
}

inline int base_of(Call& call, cusparseMatDescr_t descr, int64_t rows, int64_t entries) {
  call.require(descr && rows >= 0 && entries >= 0);
  if (cusparseGetMatType(descr) != CUSPARSE_MATRIX_TYPE_GENERAL) throw Refused{CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED};
  return cusparseGetMatIndexBase(descr);
}
inline cusolverStatus_t analyse(Call& call, int rows, int columns, int entries, cusparseMatDescr_t descr, StepInfo* info) {
  call.require(info);
  base_of(call, descr, rows, entries);
  call.support(rows == columns);
  return CUSOLVER_STATUS_SUCCESS;
}

// Runs at once, or in its turn on the stream.
inline cusolverStatus_t run_at(Call& call, Place place, size_t effort, std::function<void(Memory*)> run) {
  if (place == Place::device) return call.submit(effort, [run = std::move(run)](Memory& memory) { run(&memory); });
  run(nullptr);
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace warpbeam::cusolver

struct csrqrInfo : warpbeam::cusolver::StepInfo {};
struct csrluInfoHost : warpbeam::cusolver::StepInfo {};
struct csrqrInfoHost : warpbeam::cusolver::StepInfo {};
struct csrcholInfoHost : warpbeam::cusolver::StepInfo {};
struct csrcholInfo : warpbeam::cusolver::StepInfo {};
