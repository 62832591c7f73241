// The numbers that libraries compute with, and how they stand behind the types of CUDA's headers.
#pragma once
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuComplex.h"
#include "library_types.h"

struct __half;
struct __nv_bfloat16;

namespace warpbeam::numeric {

using Half = _Float16;

// Rounded to nearest even, as the GPU converts.
struct BFloat {
  uint16_t bits = 0;
  BFloat() = default;
  BFloat(float x) {
    const uint32_t u = std::bit_cast<uint32_t>(x);
    if ((u & 0x7fffffff) > 0x7f800000) bits = 0x7fff;
    else bits = static_cast<uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

using Complex = std::complex<float>;
using DoubleComplex = std::complex<double>;

template <class T>
struct ValueOf {
  using type = T;
};
template <>
struct ValueOf<cuComplex> {
  using type = Complex;
};
template <>
struct ValueOf<cuDoubleComplex> {
  using type = DoubleComplex;
};
template <>
struct ValueOf<__half> {
  using type = Half;
};
template <>
struct ValueOf<__nv_bfloat16> {
  using type = BFloat;
};
// float for float, std::complex<float> for cuComplex, Half for __half …
template <class T>
using Value = typename ValueOf<T>::type;

template <class T>
Value<T>* values(T* p) {
  return reinterpret_cast<Value<T>*>(p);
}
template <class T>
const Value<T>* values(const T* p) {
  return reinterpret_cast<const Value<T>*>(p);
}
template <class T>
Value<T>* const* values(T* const* p) {
  return reinterpret_cast<Value<T>* const*>(p);
}
template <class T>
const Value<T>* const* values(const T* const* p) {
  return reinterpret_cast<const Value<T>* const*>(p);
}

template <class T>
constexpr bool is_complex = false;
template <class R>
constexpr bool is_complex<std::complex<R>> = true;

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;

template <class T>
T conjugate_if(bool wanted, T x) {
  if constexpr (is_complex<T>) return wanted ? std::conj(x) : x;
  return x;
}
template <class T>
Real<T> real_part(T x) {
  if constexpr (is_complex<T>) return x.real();
  else return x;
}

// --- types that are named at run time ------------------------------------------------------------------------------

// Calls `body` with a null pointer of the type that `type` names; gives `otherwise` if the libraries do not compute with it.
template <class Result, class Body>
Result with_type(cudaDataType type, Result otherwise, Body&& body) {
  switch (type) {
    case CUDA_R_32F: return body(static_cast<float*>(nullptr));
    case CUDA_R_64F: return body(static_cast<double*>(nullptr));
    case CUDA_C_32F: return body(static_cast<Complex*>(nullptr));
    case CUDA_C_64F: return body(static_cast<DoubleComplex*>(nullptr));
    case CUDA_R_16F: return body(static_cast<Half*>(nullptr));
    case CUDA_R_16BF: return body(static_cast<BFloat*>(nullptr));
    case CUDA_R_8I: return body(static_cast<int8_t*>(nullptr));
    case CUDA_R_32I: return body(static_cast<int32_t*>(nullptr));
    default: return otherwise;
  }
}

inline size_t bytes_of(cudaDataType type) {
  return with_type<size_t>(type, 0, []<class T>(T*) { return sizeof(T); });
}

// One number as another type: what is too large for an integer becomes the largest, halves go to even.
template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, From>) return x;
  else if constexpr (is_complex<To> && is_complex<From>) return To(static_cast<Real<To>>(x.real()), static_cast<Real<To>>(x.imag()));
  else if constexpr (is_complex<To>) return To(convert<Real<To>>(x), 0);
  else if constexpr (is_complex<From>) return convert<To>(x.real());
  else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    const double r = std::nearbyint(static_cast<double>(x));
    constexpr double low = std::is_same_v<To, int8_t> ? -128.0 : -2147483648.0;
    return r != r ? To{0} : static_cast<To>(r < low ? low : r > -low - 1 ? -low - 1 : r);
  } else if constexpr (std::is_same_v<To, BFloat>) return BFloat(static_cast<float>(x));
  else if constexpr (std::is_same_v<From, BFloat>) return static_cast<To>(static_cast<float>(x));
  else return static_cast<To>(x);
}

inline DoubleComplex load(const void* p, cudaDataType type, int64_t i) {
  return with_type<DoubleComplex>(type, {}, [&]<class T>(T*) { return convert<DoubleComplex>(static_cast<const T*>(p)[i]); });
}
inline void store(void* p, cudaDataType type, int64_t i, DoubleComplex x) {
  with_type<int>(type, 0, [&]<class T>(T*) {
    static_cast<T*>(p)[i] = convert<T>(x);
    return 0;
  });
}

// A factor that the caller gave, or that is read from the device when the work is done.
struct LateScalar {
  DoubleComplex value{};
  const void* device = nullptr;
  cudaDataType type{};
  template <class Memory>
  DoubleComplex get(Memory& memory) const {
    if (!device) return value;
    memory.reads(device, bytes_of(type));
    return load(device, type, 0);
  }
};

}  // namespace warpbeam::numeric
