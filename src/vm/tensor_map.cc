#include "vm/tensor_map.h"

#include <fmt/format.h>

namespace warpbeam::vm {

int tensor_element_bytes(int type) {
  static constexpr int kBytes[kTensorTypes] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type >= 0 && type < kTensorTypes ? kBytes[type] : 1;
}

std::string tensor_map_error(const TensorMap& m) {
  if (m.magic != TensorMap::kMagic) return "the 128 bytes are no tensor map";
  if (m.rank < 1 || m.rank > 5) return fmt::format("its rank is {}", m.rank);
  if (m.type >= kTensorTypes) return fmt::format("its element type is {}", m.type);
  if (m.address % 16) return fmt::format("the tensor's address {:#x} is no multiple of 16", m.address);
  for (int d = 0; d < m.rank; ++d) {
    if (m.dims[d] == 0) return fmt::format("dimension {} has no elements", d);
    if (m.steps[d] < 1 || m.steps[d] > 8)
      return fmt::format("the element stride of dimension {} is {}: 1 to 8 are possible", d, m.steps[d]);
    if (!m.im2col && (m.box[d] < 1 || m.box[d] > 256))
      return fmt::format("the box has {} elements in dimension {}: 1 to 256 are possible", m.box[d], d);
    if (d > 0 && (m.strides[d - 1] % 16 || m.strides[d - 1] >= uint64_t{1} << 40))
      return fmt::format("the stride of dimension {} is {} bytes", d, m.strides[d - 1]);
  }
  const uint64_t inner = static_cast<uint64_t>(m.im2col ? m.channels : m.box[0]) * static_cast<uint64_t>(tensor_element_bytes(m.type));
  if (!m.interleave && inner % 16) return fmt::format("a row of the box has {} bytes: it needs a multiple of 16", inner);
  if (m.swizzle > 3) return fmt::format("its swizzle is {}", m.swizzle);
  if (m.swizzle && !m.interleave && inner > uint64_t{16} << m.swizzle)
    return fmt::format("a row of {} bytes is wider than the swizzle's {}", inner, 16 << m.swizzle);
  return {};
}

uint64_t tensor_row_pitch(const TensorMap& m) {
  if (m.swizzle && !m.interleave) return uint64_t{16} << m.swizzle;
  const uint32_t step = m.im2col || !m.interleave ? 1 : m.steps[0];
  const uint64_t elements = m.im2col ? m.channels : (m.box[0] + step - 1u) / step;
  return elements * static_cast<uint64_t>(tensor_element_bytes(m.type));
}

uint64_t tensor_box_span(const TensorMap& m) {
  const uint32_t step = m.im2col || !m.interleave ? 1 : m.steps[0];
  const uint64_t row = (m.im2col ? m.channels : (m.box[0] + step - 1u) / step) * static_cast<uint64_t>(tensor_element_bytes(m.type));
  return tensor_box_bytes(m) / row * tensor_row_pitch(m);
}

uint64_t tensor_box_bytes(const TensorMap& m) {
  uint64_t bytes = static_cast<uint64_t>(tensor_element_bytes(m.type));
  if (m.im2col) return bytes * m.channels * m.pixels;
  for (int d = 0; d < m.rank; ++d) {
    const uint32_t step = d == 0 && !m.interleave ? 1 : m.steps[d];
    bytes *= (m.box[d] + step - 1) / step;
  }
  return bytes;
}

}  // namespace warpbeam::vm
