// What stands behind cuBLASLt's opaque descriptors; programs may keep them in memory of their own.
#pragma once
#include "cublasLt.h"

namespace warpbeam::cublaslt {

struct Layout {
  cudaDataType type;
  int32_t order;
  uint64_t rows, columns;
  int64_t lead;
  int32_t batch, batch_mode;
  int64_t stride, plane;
};

struct Matmul {
  int32_t compute, scale, pointer_mode, op_a, op_b, op_c, fill;
  uint32_t epilogue;
  const void* bias;
  int64_t bias_stride;
  void* aux;
  int64_t aux_lead, aux_stride, alpha_stride;
  int32_t sm_count, aux_type, bias_type, fast;
  const void *a_scale, *b_scale, *c_scale, *d_scale, *aux_scale, *d_out_scale;
  int32_t a_scale_mode, b_scale_mode, c_scale_mode, d_scale_mode, aux_scale_mode, d_out_scale_mode;
  void *d_largest, *aux_largest;
  cublasLtEmulationDesc_t emulation;
};

struct Transform {
  int32_t scale, pointer_mode, op_a, op_b;
};

// How products of doubles might be made from narrower ones, which here they never are.
struct Emulation {
  int32_t strategy, special_values, mantissa_control, most_mantissa_bits, mantissa_bit_offset;
  int32_t* mantissa_bits;  // of the device: where a product would say how many it kept
};

static_assert(sizeof(Emulation) <= sizeof(cublasLtEmulationDescOpaque_t));
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t) && sizeof(Matmul) <= sizeof(cublasLtMatmulDescOpaque_t));

}  // namespace warpbeam::cublaslt
