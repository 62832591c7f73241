// Tensor maps tell the copy engine how a matrix lies in memory. The function that makes them belongs to the driver; it
// is asked for by name, so that programs need not link with the driver library.
#pragma once

#include "../config.cuh"

#if !WB_PORTABLE

#include <cuda.h>

namespace warpbeam::detail {

inline cudaError_t make_tensor_map_with(CUtensorMap* map, CUtensorMapDataType type, const void* data, size_t element,
                                        long long rows, long long columns, long long pitch, int box_rows, int box_columns,
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion) {
  using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                              const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  static Encode encode = nullptr;
  if (!encode) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
    if (error != cudaSuccess) return error;
    if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
    encode = reinterpret_cast<Encode>(function);
  }
  cuuint64_t sizes[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  cuuint64_t strides[1] = {static_cast<cuuint64_t>(pitch * element)};
  cuuint32_t box[2] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)};
  cuuint32_t steps[2] = {1, 1};
  CUresult result = encode(map, type, 2, const_cast<void*>(data), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                           swizzle, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

// Boxes of `box_rows` rows of `box_columns` elements; rows and columns beyond the matrix read as zero.
inline cudaError_t make_tensor_map(CUtensorMap* map, CUtensorMapDataType type, const void* data, size_t element,
                                   long long rows, long long columns, long long pitch, int box_rows, int box_columns,
                                   CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B) {
  return make_tensor_map_with(map, type, data, element, rows, columns, pitch, box_rows, box_columns,
                              CU_TENSOR_MAP_SWIZZLE_NONE, promotion);
}

// The same swizzled, with box rows of 64 or 128 bytes.
inline cudaError_t make_swizzled_map(CUtensorMap* map, CUtensorMapDataType type, const void* data, size_t element,
                                     long long rows, long long columns, long long pitch, int box_rows, int row_bytes = 128) {
  return make_tensor_map_with(map, type, data, element, rows, columns, pitch, box_rows,
                              row_bytes / static_cast<int>(element),
                              row_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B,
                              CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
}

}  // namespace warpbeam::detail

#endif
