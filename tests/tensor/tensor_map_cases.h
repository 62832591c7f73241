// Tensor maps and the copies made with them: recorded on a real device, replayed on our machine. Plain C++.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace warpbeam::tensor_test {

inline constexpr uint32_t kMapGlobalBytes = 1u << 20;  // what loads read: word i is map_word(i)
inline constexpr uint32_t kMapSharedBytes = 32768;     // what a load leaves; 0xcd where nothing was written
inline constexpr uint32_t kMapStoreBytes = 65536;      // what a store leaves; 0x3c before

inline uint32_t map_word(uint32_t i) {
  uint32_t z = i * 0x9e3779b9u + 0x7f4a7c15u;
  z = (z ^ (z >> 16)) * 0x85ebca6bu;
  z = (z ^ (z >> 13)) * 0xc2b2ae35u;
  return z ^ (z >> 16);
}

enum class MapCopy : int { Load, Store, ReduceAdd, ReduceMin, ReduceXor };

// Numbers as the driver's enumerations have them.
struct TensorMapCase {
  std::string name;
  MapCopy copy = MapCopy::Load;
  int type = 2, rank = 2;
  uint64_t dims[5] = {1, 1, 1, 1, 1};
  uint64_t strides[4] = {};  // bytes
  uint32_t box[5] = {1, 1, 1, 1, 1};
  uint32_t steps[5] = {1, 1, 1, 1, 1};
  int interleave = 0, swizzle = 0, fill = 0;
  int at[5] = {};
  bool im2col = false;
  int lower[3] = {}, upper[3] = {};
  uint32_t channels = 0, pixels = 0;
  int offsets[3] = {};
  uint32_t base = 0;  // bytes into the global memory
};

inline int map_element_bytes(int type) {
  constexpr int kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return kBytes[type];
}
inline uint32_t map_box_bytes(const TensorMapCase& c) {
  uint32_t n = static_cast<uint32_t>(map_element_bytes(c.type));
  if (c.im2col) return n * c.channels * c.pixels;
  for (int k = 0; k < c.rank; ++k) n *= k ? (c.box[k] + c.steps[k] - 1) / c.steps[k] : c.box[k];
  return n;
}

std::vector<TensorMapCase> tensor_map_cases();
// The entry that makes the copy: parameters are the map, the dump's address and eight s32 (coordinates, im2col
// offsets).
std::string tensor_map_kernel(const TensorMapCase& c, const std::string& name);

}  // namespace warpbeam::tensor_test
