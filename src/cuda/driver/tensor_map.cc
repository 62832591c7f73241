// Tensor maps: descriptions of tensors in global memory that a kernel's bulk copies go by.
#include "vm/tensor_map.h"

#include <cstring>

#include "cuda/driver/edge.h"

using warpbeam::vm::TensorMap;

namespace warpbeam::cuda::driver {
namespace {

static_assert(sizeof(TensorMap) <= sizeof(CUtensorMap));

struct Shape {
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t *dims, *strides;
  const cuuint32_t* steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapFloatOOBfill fill;
};

// What tiled and im2col maps have in common.
bool describe(const Shape& s, TensorMap* map) {
  if (s.rank < 1 || s.rank > 5 || !s.address || !s.dims || !s.steps || (s.rank > 1 && !s.strides)) return false;
  if (static_cast<int>(s.type) >= warpbeam::vm::kTensorTypes || s.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return false;
  map->magic = TensorMap::kMagic;
  map->type = static_cast<uint8_t>(s.type);
  map->rank = static_cast<uint8_t>(s.rank);
  map->interleave = static_cast<uint8_t>(s.interleave);
  map->swizzle = static_cast<uint8_t>(s.swizzle);
  map->fill = static_cast<uint8_t>(s.fill);
  map->address = reinterpret_cast<uint64_t>(s.address);
  for (cuuint32_t d = 0; d < s.rank; ++d) {
    if (s.dims[d] == 0 || s.dims[d] > uint64_t{1} << 32 || s.steps[d] < 1 || s.steps[d] > 8) return false;
    map->dims[d] = static_cast<uint32_t>(s.dims[d] == uint64_t{1} << 32 ? ~0u : s.dims[d]);
    map->steps[d] = static_cast<uint8_t>(s.steps[d]);
    if (d) map->strides[d - 1] = s.strides[d - 1];
  }
  const bool floating = s.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  return s.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || floating;
}

CUresult finish(const TensorMap& map, CUtensorMap* out) {
  if (!warpbeam::vm::tensor_map_error(map).empty()) return CUDA_ERROR_INVALID_VALUE;
  std::memset(out, 0, sizeof *out);
  std::memcpy(out, &map, sizeof map);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* address, const cuuint64_t* dims,
                                const cuuint64_t* strides, const cuuint32_t* box, const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
  TensorMap map;
  if (!out || !box || !describe({type, rank, address, dims, strides, steps, interleave, swizzle, fill}, &map))
    return CUDA_ERROR_INVALID_VALUE;
  for (cuuint32_t d = 0; d < rank; ++d) {
    if (box[d] < 1 || box[d] > 256) return CUDA_ERROR_INVALID_VALUE;
    map.box[d] = static_cast<uint16_t>(box[d]);
  }
  return finish(map, out);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* address, const cuuint64_t* dims,
                                 const cuuint64_t* strides, const int* lower, const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
  TensorMap map;
  if (!out || !lower || !upper || rank < 3 || !describe({type, rank, address, dims, strides, steps, interleave, swizzle, fill}, &map))
    return CUDA_ERROR_INVALID_VALUE;
  if (channels > 256 || pixels > 1024 || !channels || !pixels) return CUDA_ERROR_INVALID_VALUE;
  const int limit = 1 << (rank == 3 ? 15 : rank == 4 ? 7 : 4);  // corners share 16 bits
  for (cuuint32_t d = 0; d + 2 < rank; ++d) {
    if (lower[d] < -limit || lower[d] >= limit || upper[d] < -limit || upper[d] >= limit) return CUDA_ERROR_INVALID_VALUE;
    map.lower[d] = static_cast<int16_t>(lower[d]);
    map.upper[d] = static_cast<int16_t>(upper[d]);
  }
  map.im2col = 1;
  map.channels = static_cast<uint16_t>(channels);
  map.pixels = static_cast<uint16_t>(pixels);
  return finish(map, out);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  if (!map || !address || reinterpret_cast<uint64_t>(address) % 16) return CUDA_ERROR_INVALID_VALUE;
  TensorMap m;
  std::memcpy(&m, map, sizeof m);
  if (!warpbeam::vm::tensor_map_error(m).empty()) return CUDA_ERROR_INVALID_VALUE;
  m.address = reinterpret_cast<uint64_t>(address);
  std::memcpy(map, &m, sizeof m);
  return CUDA_SUCCESS;
}

}  // extern "C"
