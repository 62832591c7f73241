// Vector operations on types that are named at run time.
#pragma once
#include "libraries/cublas/call.h"

namespace warpbeam::cublas {

struct AnyVector {
  AnyVector(const void* base, cudaDataType type, int64_t step) : base(const_cast<void*>(base)), type(type), step(step) {}
  void* base;
  cudaDataType type;
  int64_t step;
};

struct AnyScalar {
  AnyScalar(const void* at, cudaDataType type) : at(const_cast<void*>(at)), type(type) {}
  void* at;
  cudaDataType type;
};

// The five numbers of a modified rotation: what kind it is, and those entries of its matrix that the kind does not fix.
template <class T>
struct Modified {
  T param[5] = {-2};
  T h11 = 1, h21 = 0, h12 = 0, h22 = 1;
  // False: nothing changes.
  bool prepare() {
    if (param[0] == T(-2)) return false;
    h11 = param[0] == T(0) ? T(1) : param[1];
    h22 = param[0] == T(0) ? T(1) : param[4];
    h21 = param[0] == T(1) ? T(-1) : param[2];
    h12 = param[0] == T(1) ? T(1) : param[3];
    return true;
  }
  template <class X>
  void apply(X& x, X& y) const {
    const T a = static_cast<T>(x), b = static_cast<T>(y);
    x = static_cast<X>(h11 * a + h12 * b);
    y = static_cast<X>(h21 * a + h22 * b);
  }
};

cublasStatus_t amax_ex(Call&, int64_t n, AnyVector x, int* result, bool largest);
cublasStatus_t amax_ex(Call&, int64_t n, AnyVector x, int64_t* result, bool largest);
cublasStatus_t asum_ex(Call&, int64_t n, AnyVector x, AnyScalar result, cudaDataType execution);
cublasStatus_t nrm2_ex(Call&, int64_t n, AnyVector x, AnyScalar result, cudaDataType execution);
cublasStatus_t dot_ex(Call&, int64_t n, AnyVector x, AnyVector y, AnyScalar result, cudaDataType execution, bool conjugate);
cublasStatus_t scal_ex(Call&, int64_t n, AnyScalar alpha, AnyVector x, cudaDataType execution);
cublasStatus_t axpy_ex(Call&, int64_t n, AnyScalar alpha, AnyVector x, AnyVector y, cudaDataType execution);
cublasStatus_t copy_ex(Call&, int64_t n, AnyVector x, AnyVector y);
cublasStatus_t swap_ex(Call&, int64_t n, AnyVector x, AnyVector y);
cublasStatus_t rot_ex(Call&, int64_t n, AnyVector x, AnyVector y, AnyScalar c, AnyScalar s, cudaDataType execution);
cublasStatus_t rotm_ex(Call&, int64_t n, AnyVector x, AnyVector y, AnyScalar param, cudaDataType execution);

}  // namespace warpbeam::cublas
