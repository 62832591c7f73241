// Debian's cub::DeviceReduce, and what newer versions have: reductions of a function's results, and the place of the least and
// the greatest item apart from its value.
#pragma once
#if __cplusplus < 201402L
#include_next <cub/device/device_reduce.cuh>
#else
#define DeviceReduce __warpbeam_older_reduce
#include_next <cub/device/device_reduce.cuh>
#undef DeviceReduce

#include <cub/iterator/transform_input_iterator.cuh>
#include <iterator>
#include <type_traits>

#include "device_for.cuh"

CUB_NAMESPACE_BEGIN

namespace detail {

template <class _Pair, class _Value, class _Index>
struct __warpbeam_part {
  const _Pair* __pair;
  _Value __value;
  _Index __index;
  __device__ void operator()(int) {
    *__value = __pair->value;
    *__index = __pair->key;
  }
};

}  // namespace detail

struct DeviceReduce : __warpbeam_older_reduce {
  using __warpbeam_older_reduce::ArgMax;
  using __warpbeam_older_reduce::ArgMin;

  template <class _In, class _Out, class _Size, class _Op, class _Function, class _Value>
  CUB_RUNTIME_FUNCTION static cudaError_t TransformReduce(void* __storage, size_t& __bytes, _In __in, _Out __out, _Size __n,
                                                          _Op __op, _Function __function, _Value __value,
                                                          cudaStream_t __stream = nullptr) {
    using _Item = std::decay_t<decltype(__function(*__in))>;
    return Reduce(__storage, __bytes, TransformInputIterator<_Item, _Function, _In>(__in, __function), __out, __n, __op, __value,
                  __stream);
  }

#define WB_PLACE(name)                                                                                                         \
  template <class _In, class _Value, class _Index, class _Size,                                                                \
            std::enable_if_t<!std::is_integral<_Index>::value && std::is_integral<_Size>::value, int> = 0>                     \
  static cudaError_t name(void* __storage, size_t& __bytes, _In __in, _Value __value, _Index __index, _Size __n,               \
                          cudaStream_t __stream = nullptr) {                                                                   \
    using _Pair = KeyValuePair<int, typename std::iterator_traits<_In>::value_type>;                                           \
    constexpr size_t __front = (sizeof(_Pair) + 255) / 256 * 256;                                                              \
    if (!__storage) {                                                                                                          \
      const cudaError_t __status = name(nullptr, __bytes, __in, static_cast<_Pair*>(nullptr), static_cast<int>(__n), __stream); \
      __bytes += __front;                                                                                                      \
      return __status;                                                                                                         \
    }                                                                                                                          \
    _Pair* __pair = static_cast<_Pair*>(__storage);                                                                            \
    size_t __rest = __bytes - __front;                                                                                         \
    const cudaError_t __status =                                                                                               \
        name(static_cast<char*>(__storage) + __front, __rest, __in, __pair, static_cast<int>(__n), __stream);                  \
    if (__status != cudaSuccess) return __status;                                                                              \
    return DeviceFor::Bulk(1, detail::__warpbeam_part<_Pair, _Value, _Index>{__pair, __value, __index}, __stream);             \
  }
  WB_PLACE(ArgMin)
  WB_PLACE(ArgMax)
#undef WB_PLACE
};

CUB_NAMESPACE_END
#endif
