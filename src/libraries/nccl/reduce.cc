#include "libraries/nccl/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "libraries/numeric/float8.h"
#include "libraries/numeric/values.h"

namespace warpbeam::nccl {

namespace {

// Calls body with a value of the type.
template <class Body>
auto with_type(ncclDataType_t type, Body&& body) {
  switch (type) {
    case ncclInt8: return body(int8_t{});
    case ncclUint8: return body(uint8_t{});
    case ncclInt32: return body(int32_t{});
    case ncclUint32: return body(uint32_t{});
    case ncclInt64: return body(int64_t{});
    case ncclUint64: return body(uint64_t{});
    case ncclFloat16: return body(numeric::Half{});
    case ncclFloat32: return body(float{});
    case ncclFloat64: return body(double{});
    case ncclBfloat16: return body(numeric::BFloat{});
    case ncclFloat8e4m3: return body(numeric::E4m3{});
    default: return body(numeric::E5m2{});
  }
}

// Whole numbers wrap around.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, T, std::conditional_t<std::is_same_v<T, double>, double, float>>;

template <class S>
S combine(ncclRedOp_t op, S a, S b) {
  if constexpr (std::is_integral_v<S>) {
    using U = std::make_unsigned_t<S>;
    switch (op) {
      case ncclProd: return static_cast<S>(static_cast<U>(uint64_t{static_cast<U>(a)} * static_cast<U>(b)));
      case ncclMax: return std::max(a, b);
      case ncclMin: return std::min(a, b);
      default: return static_cast<S>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    }
  } else {
    switch (op) {
      case ncclProd: return a * b;
      case ncclMax: return std::fmax(a, b);
      case ncclMin: return std::fmin(a, b);
      default: return a + b;
    }
  }
}

template <class T, class S>
void reduce_as(ncclRedOp_t op, const std::vector<const std::byte*>& parts, std::byte* out, size_t count) {
  std::array<S, 256> sums;
  for (size_t at = 0; at < count; at += sums.size()) {
    const size_t n = std::min(sums.size(), count - at);
    for (size_t r = 0; r < parts.size(); ++r) {
      const T* part = reinterpret_cast<const T*>(parts[r]) + at;
      for (size_t i = 0; i < n; ++i) sums[i] = r == 0 ? static_cast<S>(part[i]) : combine<S>(op, sums[i], static_cast<S>(part[i]));
    }
    T* to = reinterpret_cast<T*>(out) + at;
    for (size_t i = 0; i < n; ++i) to[i] = static_cast<T>(op == ncclAvg ? static_cast<S>(sums[i] / static_cast<S>(parts.size())) : sums[i]);
  }
}

}  // namespace

size_t bytes_of(ncclDataType_t type) {
  return with_type(type, [](auto value) { return sizeof value; });
}

void reduce(ncclDataType_t type, ncclRedOp_t op, const std::vector<const std::byte*>& parts, std::byte* out, size_t count) {
  with_type(type, [&](auto value) { reduce_as<decltype(value), Sum<decltype(value)>>(op, parts, out, count); });
}

void multiply(ncclDataType_t type, const Factor& factor, std::byte* values, size_t count) {
  with_type(type, [&]<class T>(T by) {
    std::memcpy(&by, factor.bits, sizeof by);
    T* at = reinterpret_cast<T*>(values);
    for (size_t i = 0; i < count; ++i)
      at[i] = static_cast<T>(combine<Sum<T>>(ncclProd, static_cast<Sum<T>>(at[i]), static_cast<Sum<T>>(by)));
  });
}

}  // namespace warpbeam::nccl
