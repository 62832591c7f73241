// Tensor maps: what a copy engine needs to know of a tensor in global memory. The 128 bytes that programs carry about
// are laid out as here; only cuTensorMapEncode* and tensormap.replace write them.
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace warpbeam::vm {

struct TensorMap {
  static constexpr uint32_t kMagic = 0x504d4257;
  uint32_t magic = 0;
  uint8_t type = 0;        // CUtensorMapDataType
  uint8_t rank = 0;        // 1 to 5
  uint8_t interleave = 0;  // 0: none, 1: 16 bytes, 2: 32 bytes
  uint8_t swizzle = 0;     // 0: none, 1: 32 bytes, 2: 64, 3: 128
  uint8_t fill = 0;        // outside the tensor: 0 zeros, 1 NaN
  uint8_t im2col = 0;
  uint16_t channels = 0, pixels = 0, unused = 0;
  uint64_t address = 0;
  uint64_t strides[4] = {};  // bytes between neighbours of dimensions 1 to 4
  uint32_t dims[5] = {};
  uint16_t box[5] = {};
  uint8_t steps[5] = {};
  uint8_t padding = 0;
  int16_t lower[3] = {}, upper[3] = {};  // im2col: corners of the box of pixels, relative to the tensor's
};
static_assert(sizeof(TensorMap) == 104);

inline constexpr int kTensorTypes = 13;
int tensor_element_bytes(int type);

// What is wrong with the values of a map; empty: nothing.
std::string tensor_map_error(const TensorMap& map);

// Bytes that a copy moves into shared memory, those outside the tensor included.
uint64_t tensor_box_bytes(const TensorMap& map);
// Bytes from one row of a box to the next in shared memory: a swizzle keeps its rows as wide as its pattern.
uint64_t tensor_row_pitch(const TensorMap& map);
// Bytes of shared memory that a box takes.
uint64_t tensor_box_span(const TensorMap& map);

// Where each element of a box lies. `each(element)` is called in the order of shared memory; `at` are coordinates,
// `global` is the byte offset from the tensor's address or ~0 outside it, `shared` the byte offset in the box before
// swizzling.
struct TensorElement {
  uint64_t global, shared;
};
template <class Each>
void walk_tensor(const TensorMap& m, const std::array<int64_t, 5>& at, const std::array<int64_t, 3>& offsets, Each&& each) {
  const uint64_t bytes = static_cast<uint64_t>(tensor_element_bytes(m.type));
  const uint64_t pitch = tensor_row_pitch(m);
  uint64_t row = 0, shared = 0;
  const auto place = [&](const std::array<int64_t, 5>& c) {
    uint64_t global = 0;
    for (int d = 0; d < m.rank; ++d) {
      if (c[static_cast<size_t>(d)] < 0 || c[static_cast<size_t>(d)] >= static_cast<int64_t>(m.dims[d])) return ~uint64_t{0};
      global += static_cast<uint64_t>(c[static_cast<size_t>(d)]) * (d == 0 ? bytes : m.strides[d - 1]);
    }
    return global;
  };
  if (m.im2col) {
    // Pixels follow each other through the box of pixels, the next image behind the last.
    std::array<int64_t, 5> pixel = at;
    const int spatial = m.rank - 2;
    for (uint32_t p = 0; p < m.pixels; ++p) {
      std::array<int64_t, 5> c = pixel;
      for (int d = 0; d < spatial; ++d) c[static_cast<size_t>(d + 1)] += offsets[static_cast<size_t>(d)];
      shared = row++ * pitch;
      for (uint32_t channel = 0; channel < m.channels; ++channel) {
        c[0] = at[0] + static_cast<int64_t>(channel);
        each(TensorElement{place(c), shared});
        shared += bytes;
      }
      int d = 0;
      for (; d < spatial; ++d) {
        auto& x = pixel[static_cast<size_t>(d + 1)];
        x += m.steps[d + 1];
        if (x < static_cast<int64_t>(m.dims[d + 1]) + m.upper[d]) break;
        x = m.lower[d];
      }
      if (d == spatial) ++pixel[static_cast<size_t>(m.rank - 1)];
    }
    return;
  }
  std::array<uint32_t, 5> counts{1, 1, 1, 1, 1}, steps{1, 1, 1, 1, 1};
  for (int d = 0; d < m.rank; ++d) {
    const size_t k = static_cast<size_t>(d);
    steps[k] = d == 0 && !m.interleave ? 1 : m.steps[d];  // without interleaving neighbours stay neighbours
    counts[k] = (m.box[d] + steps[k] - 1) / steps[k];
  }
  std::array<uint32_t, 5> n{};
  for (n[4] = 0; n[4] < counts[4]; ++n[4])
    for (n[3] = 0; n[3] < counts[3]; ++n[3])
      for (n[2] = 0; n[2] < counts[2]; ++n[2])
        for (n[1] = 0; n[1] < counts[1]; ++n[1]) {
          shared = row++ * pitch;
          for (n[0] = 0; n[0] < counts[0]; ++n[0]) {
            std::array<int64_t, 5> c{};
            for (size_t k = 0; k < 5; ++k) c[k] = at[k] + static_cast<int64_t>(n[k]) * steps[k];
            each(TensorElement{place(c), shared});
            shared += bytes;
          }
        }
}

// Chunks of 16 bytes trade places within rows of 32, 64 or 128 bytes, by the bits of the shared address above them.
template <class Address>  // or a vector of them
inline Address swizzled(Address address, int swizzle) {
  const uint32_t mask = swizzle == 0 ? 0 : (1u << swizzle) - 1;
  return address ^ ((address >> 7 & mask) << 4);
}

}  // namespace warpbeam::vm
