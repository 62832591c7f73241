#include "libraries/cublaslt/descriptors.h"

#include <cstring>

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

using namespace warpbeam::cublaslt;

namespace {

// Where an attribute is kept; of no size if there is no such attribute.
struct Field {
  void* at;
  size_t size;
};

template <class T>
Field field(T& t) {
  return {&t, sizeof t};
}

Field find(cublasLtMatrixLayout_t d, cublasLtMatrixLayoutAttribute_t attribute) {
  auto& l = *reinterpret_cast<Layout*>(d);
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: return field(l.type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER: return field(l.order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS: return field(l.rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS: return field(l.columns);
    case CUBLASLT_MATRIX_LAYOUT_LD: return field(l.lead);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return field(l.batch);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return field(l.stride);
    case CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET: return field(l.plane);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_MODE: return field(l.batch_mode);
  }
  return {};
}

Field find(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t attribute) {
  auto& m = *reinterpret_cast<Matmul*>(d);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return field(m.compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return field(m.scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: return field(m.pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA: return field(m.op_a);
    case CUBLASLT_MATMUL_DESC_TRANSB: return field(m.op_b);
    case CUBLASLT_MATMUL_DESC_TRANSC: return field(m.op_c);
    case CUBLASLT_MATMUL_DESC_FILL_MODE: return field(m.fill);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return field(m.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return field(m.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE: return field(m.bias_stride);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return field(m.aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return field(m.aux_lead);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE: return field(m.aux_stride);
    case CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE: return field(m.alpha_stride);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET: return field(m.sm_count);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER: return field(m.a_scale);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER: return field(m.b_scale);
    case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER: return field(m.c_scale);
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER: return field(m.d_scale);
    case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER: return field(m.d_largest);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE: return field(m.aux_type);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER: return field(m.aux_scale);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER: return field(m.aux_largest);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM: return {&m.fast, sizeof(int8_t)};
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return field(m.bias_type);
    case CUBLASLT_MATMUL_DESC_A_SCALE_MODE: return field(m.a_scale_mode);
    case CUBLASLT_MATMUL_DESC_B_SCALE_MODE: return field(m.b_scale_mode);
    case CUBLASLT_MATMUL_DESC_C_SCALE_MODE: return field(m.c_scale_mode);
    case CUBLASLT_MATMUL_DESC_D_SCALE_MODE: return field(m.d_scale_mode);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE: return field(m.aux_scale_mode);
    case CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER: return field(m.d_out_scale);
    case CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE: return field(m.d_out_scale_mode);
    case CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR: return field(m.emulation);
  }
  return {};
}

Field find(cublasLtMatrixTransformDesc_t d, cublasLtMatrixTransformDescAttributes_t attribute) {
  auto& t = *reinterpret_cast<Transform*>(d);
  switch (attribute) {
    case CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE: return field(t.scale);
    case CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE: return field(t.pointer_mode);
    case CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA: return field(t.op_a);
    case CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB: return field(t.op_b);
  }
  return {};
}

Field find(cublasLtEmulationDesc_t d, cublasLtEmulationDescAttributes_t attribute) {
  auto& e = *reinterpret_cast<Emulation*>(d);
  switch (attribute) {
    case CUBLASLT_EMULATION_DESC_STRATEGY: return field(e.strategy);
    case CUBLASLT_EMULATION_DESC_SPECIAL_VALUES_SUPPORT: return field(e.special_values);
    case CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_CONTROL: return field(e.mantissa_control);
    case CUBLASLT_EMULATION_DESC_FIXEDPOINT_MAX_MANTISSA_BIT_COUNT: return field(e.most_mantissa_bits);
    case CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_OFFSET: return field(e.mantissa_bit_offset);
    case CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER: return field(e.mantissa_bits);
  }
  return {};
}

// What is preferred is kept and means nothing: there is one way to compute.
Field find(cublasLtMatmulPreference_t d, cublasLtMatmulPreferenceAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return field(d->data[0]);
    case CUBLASLT_MATMUL_PREF_IMPL_MASK: return field(d->data[1]);
    case CUBLASLT_MATMUL_PREF_SEARCH_MODE: return {&d->data[2], 4};
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: return {&d->data[3], 4};
    case CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT: return {reinterpret_cast<char*>(&d->data[3]) + 4, 4};
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return {reinterpret_cast<char*>(&d->data[4]) + 4 * (attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES), 4};
  }
  return {};
}

template <class Handle, class Attribute>
cublasStatus_t set(Handle d, Attribute attribute, const void* from, size_t size) {
  if (!d || !from) return CUBLAS_STATUS_INVALID_VALUE;
  const Field f = find(d, attribute);
  if (!f.size || size != f.size) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(f.at, from, size);
  return CUBLAS_STATUS_SUCCESS;
}

// Asked with no room it tells how much there must be.
template <class Handle, class Attribute>
cublasStatus_t get(Handle d, Attribute attribute, void* to, size_t size, size_t* written) {
  if (!d) return CUBLAS_STATUS_INVALID_VALUE;
  const Field f = find(d, attribute);
  if (!f.size || (size == 0 && !written) || (size != 0 && !to)) return CUBLAS_STATUS_INVALID_VALUE;
  if (size == 0) return *written = f.size, CUBLAS_STATUS_SUCCESS;
  if (size != f.size) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, f.at, size);
  if (written) *written = size;
  return CUBLAS_STATUS_SUCCESS;
}

template <class Opaque, class Init>
cublasStatus_t create(Opaque** out, Init init) {
  if (!out) return CUBLAS_STATUS_INVALID_VALUE;
  *out = new Opaque{};
  return init(*out);
}

template <class Opaque, class Body>
cublasStatus_t prepare(Opaque* d, size_t size, Body body) {
  if (!d || size < sizeof *d) return CUBLAS_STATUS_INVALID_VALUE;
  *d = {};
  body();
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

#define WB_ATTRIBUTES(Name, Handle, Attribute)                                                                                   \
  WB_EXPORT cublasStatus_t cublasLt##Name##Destroy(Handle d) {                                                                   \
    delete d;                                                                                                                    \
    return CUBLAS_STATUS_SUCCESS;                                                                                                \
  }                                                                                                                              \
  WB_EXPORT cublasStatus_t cublasLt##Name##SetAttribute(Handle d, Attribute attribute, const void* from, size_t size) {          \
    return set(d, attribute, from, size);                                                                                        \
  }                                                                                                                              \
  WB_EXPORT cublasStatus_t cublasLt##Name##GetAttribute(Handle d, Attribute attribute, void* to, size_t size, size_t* written) { \
    return get(d, attribute, to, size, written);                                                                                 \
  }
WB_ATTRIBUTES(MatrixLayout, cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t)
WB_ATTRIBUTES(MatmulDesc, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t)
WB_ATTRIBUTES(MatrixTransformDesc, cublasLtMatrixTransformDesc_t, cublasLtMatrixTransformDescAttributes_t)
WB_ATTRIBUTES(MatmulPreference, cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t)
WB_ATTRIBUTES(EmulationDesc, cublasLtEmulationDesc_t, cublasLtEmulationDescAttributes_t)

WB_EXPORT cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t d, size_t size, cudaDataType type, uint64_t rows,
                                                           uint64_t columns, int64_t lead) {
  return prepare(d, size, [&] { *reinterpret_cast<Layout*>(d) = {type, CUBLASLT_ORDER_COL, rows, columns, lead, 1, 0, 0, 0}; });
}
WB_EXPORT cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* d, cudaDataType type, uint64_t rows, uint64_t columns,
                                                    int64_t lead) {
  return create(d, [&](auto* made) { return cublasLtMatrixLayoutInit_internal(made, sizeof *made, type, rows, columns, lead); });
}
WB_EXPORT cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t d, size_t size, cublasComputeType_t compute,
                                                         cudaDataType_t scale) {
  return prepare(d, size, [&] {
    auto& m = *reinterpret_cast<Matmul*>(d);
    m.compute = compute, m.scale = scale, m.fill = CUBLAS_FILL_MODE_FULL, m.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    m.aux_type = m.bias_type = -1;  // as D's
  });
}
WB_EXPORT cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* d, cublasComputeType_t compute, cudaDataType_t scale) {
  return create(d, [&](auto* made) { return cublasLtMatmulDescInit_internal(made, sizeof *made, compute, scale); });
}
WB_EXPORT cublasStatus_t cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t d, size_t size, cudaDataType scale) {
  return prepare(d, size, [&] { reinterpret_cast<Transform*>(d)->scale = scale; });
}
WB_EXPORT cublasStatus_t cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t* d, cudaDataType scale) {
  return create(d, [&](auto* made) { return cublasLtMatrixTransformDescInit_internal(made, sizeof *made, scale); });
}
WB_EXPORT cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t d, size_t size) {
  return prepare(d, size, [] {});
}
WB_EXPORT cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* d) {
  return create(d, [&](auto* made) { return cublasLtMatmulPreferenceInit_internal(made, sizeof *made); });
}
WB_EXPORT cublasStatus_t cublasLtEmulationDescInit_internal(cublasLtEmulationDesc_t d, size_t size) {
  return prepare(d, size, [&] { reinterpret_cast<Emulation*>(d)->special_values = CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT; });
}
WB_EXPORT cublasStatus_t cublasLtEmulationDescCreate(cublasLtEmulationDesc_t* d) {
  return create(d, [&](auto* made) { return cublasLtEmulationDescInit_internal(made, sizeof *made); });
}
