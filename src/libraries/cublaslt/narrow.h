// Products of numbers with eight bits, E4M3 and E5M2: which there are on an H100, and the scales that go with them.
#pragma once
#include <cmath>
#include <vector>

#include "libraries/cublas/blas.h"
#include "libraries/cublaslt/descriptors.h"
#include "libraries/numeric/float8.h"

namespace warpbeam::cublaslt {

inline bool narrow(cudaDataType type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }

// Calls `body` with a null pointer of a matrix's element type.
template <class Body>
void with_element(cudaDataType type, Body&& body) {
  if (type == CUDA_R_8F_E4M3) body(static_cast<numeric::E4m3*>(nullptr));
  else if (type == CUDA_R_8F_E5M2) body(static_cast<numeric::E5m2*>(nullptr));
  else numeric::with_type<int>(type, 0, [&]<class T>(T* p) { return body(p), 0; });
}
inline size_t element_bytes(cudaDataType type) { return narrow(type) ? 1 : numeric::bytes_of(type); }

// Of two E5M2 there is no product, and its result has that type only if an operand has.
inline bool supported_narrow(cudaDataType scale, cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType d) {
  const bool fine = a == CUDA_R_8F_E4M3 && b == CUDA_R_8F_E4M3;
  if (scale != CUDA_R_32F || !narrow(a) || !narrow(b) || (a == CUDA_R_8F_E5M2 && b == a)) return false;
  if (c != CUDA_R_32F && c != CUDA_R_16F && c != CUDA_R_16BF) return false;
  return c == d || (c != CUDA_R_32F && narrow(d) && (d == CUDA_R_8F_E4M3 || !fine));
}

inline cudaDataType narrow_bias(cudaDataType c) { return c == CUDA_R_16F ? c : CUDA_R_16BF; }

// What tensor cores ask of operands: A transposed and B not, by columns, and pieces of 16 bytes.
inline cublasStatus_t check_narrow(const Matmul& m, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  const bool outer = m.a_scale_mode == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
  if (m.a_scale_mode != m.b_scale_mode || (outer && (narrow(d.type) || m.c_scale))) return CUBLAS_STATUS_INVALID_VALUE;
  if (!narrow(d.type) && (m.d_scale || m.d_largest)) return CUBLAS_STATUS_INVALID_VALUE;
  if ((m.a_scale_mode && !outer) || m.c_scale_mode || m.d_scale_mode) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (m.op_a == CUBLAS_OP_N || m.op_b != CUBLAS_OP_N) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (const Layout* l : {&a, &b, &c, &d}) {
    const size_t pitch = static_cast<size_t>(l->lead) * element_bytes(l->type);
    if (l->order != CUBLASLT_ORDER_COL || (l->rows != 1 && pitch % 16)) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (a.rows % 16 || (m.bias_type >= 0 && m.bias_type != narrow_bias(c.type))) return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}

// What the numbers are multiplied by, once they are read: one scale for a matrix, or one for each row of the result or column.
struct Scales {
  std::vector<float> rows, columns;
  float c, d;

  Scales(cublas::Memory& memory, const Matmul& m, int64_t rows_, int64_t columns_)
      : rows(read(memory, m.a_scale, m.a_scale_mode, rows_)),
        columns(read(memory, m.b_scale, m.b_scale_mode, columns_)),
        c(read(memory, m.c_scale, 0, 1)[0]),
        d(read(memory, m.d_scale, 0, 1)[0]) {}

 private:
  static std::vector<float> read(cublas::Memory& memory, const void* from, int32_t mode, int64_t n) {
    if (!from) return std::vector<float>(static_cast<size_t>(n), 1.0f);
    const auto* at = static_cast<const float*>(from);
    const bool each = mode == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
    memory.reads(at, sizeof(float) * static_cast<size_t>(each ? n : 1));
    return each ? std::vector<float>(at, at + n) : std::vector<float>(static_cast<size_t>(n), *at);
  }
};

// Brings a result into its range, and tells the largest that was there before.
inline void scale_result(const Scales& scales, std::vector<float>& value, float& largest) {
  for (float& x : value) {
    const float size = std::fabs(x);
    if (!(size <= largest) && largest == largest) largest = size;  // a NaN stays
    x *= scales.d;
  }
}

}  // namespace warpbeam::cublaslt
