// Arrays: images in device memory whose layout is nobody's business, alone or as the levels of a mipmapped array.
#pragma once
#include <memory>
#include <vector>

#include "base/handle_table.h"
#include "cuda/memory/copy.h"
#include "vm/texture.h"

namespace warpbeam::cuda {

// What an array is made of, in the terms of both APIs.
struct ArrayShape {
  cudaChannelFormatDesc channels{};
  cudaExtent extent{};  // in texels; 0 where the array does not have the dimension
  unsigned flags = 0;   // cudaArray…
};

struct Array;
struct MipmappedArray;

// Device memory of an array and of all levels beside it; freed with the last of them.
struct ArrayMemory {
  ArrayMemory(Context& context, uint64_t base, uint64_t bytes) : context(context), base(base), bytes(bytes) {}
  ~ArrayMemory();
  ArrayMemory(const ArrayMemory&) = delete;
  ArrayMemory& operator=(const ArrayMemory&) = delete;
  Context& context;
  uint64_t base, bytes;
};

struct Array {
  Context& context;
  ArrayShape shape;
  vm::TexelFormat format;
  std::shared_ptr<ArrayMemory> memory;
  vm::ImageLevel level;
  bool of_mipmap = false;  // goes with its mipmapped array

  size_t rows() const { return shape.extent.height ? shape.extent.height : 1; }
  size_t planes() const { return shape.extent.depth ? shape.extent.depth : 1; }
  size_t row_bytes() const { return shape.extent.width * format.bytes(); }
  // The part that begins at byte `x` of row `y` of plane `z`.
  Region region(size_t x, size_t y, size_t z) const;
  bool holds(size_t x, size_t y, size_t z, size_t bytes, size_t height, size_t depth) const;
  cudaArray_t handle() { return reinterpret_cast<cudaArray_t>(this); }
};
using ArrayRef = std::shared_ptr<Array>;

struct MipmappedArray {
  Context& context;
  ArrayShape shape;
  std::vector<ArrayRef> levels;
  cudaMipmappedArray_t handle() { return reinterpret_cast<cudaMipmappedArray_t>(this); }
};
using MipmappedArrayRef = std::shared_ptr<MipmappedArray>;

// Null if there is none. The driver's handles are the same.
ArrayRef find_array(cudaArray_const_t handle);
MipmappedArrayRef find_mipmapped_array(cudaMipmappedArray_const_t handle);

// cudaErrorInvalidChannelDescriptor if no texel looks like that.
cudaError_t format_of(const cudaChannelFormatDesc& channels, vm::TexelFormat* format);

cudaError_t make_array(Context& context, const ArrayShape& shape, ArrayRef* array);
cudaError_t make_mipmapped_array(Context& context, const ArrayShape& shape, unsigned levels, MipmappedArrayRef* array);
// They wait for the device, as cudaFree does.
cudaError_t free_array(cudaArray_const_t handle);
cudaError_t free_mipmapped_array(cudaMipmappedArray_const_t handle);

cudaError_t memory_requirements(const ArrayShape& shape, uint64_t bytes, cudaArrayMemoryRequirements* requirements);
cudaError_t sparse_properties(const ArrayShape& shape, size_t levels, cudaArraySparseProperties* properties);

// The image that textures and surfaces over these see.
vm::Image image_of(const Array& array);
vm::Image image_of(const MipmappedArray& array);

// One end of a copy of an array: `position` in texels.
cudaError_t array_end(const Array& array, const cudaPos& position, const cudaExtent& texels, Region* region);

}  // namespace warpbeam::cuda
