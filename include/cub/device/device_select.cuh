// Debian's cub::DeviceSelect, and what newer versions have: selections in place, and by a condition on the flags.
#pragma once
#if __cplusplus < 201402L
#include_next <cub/device/device_select.cuh>
#else
#define DeviceSelect __warpbeam_older_select
#include_next <cub/device/device_select.cuh>
#undef DeviceSelect

#include <cub/iterator/transform_input_iterator.cuh>
#include <type_traits>

CUB_NAMESPACE_BEGIN

namespace detail {

// What a flag's condition says, as a flag.
template <class _Op>
struct __warpbeam_condition {
  _Op __op;
  template <class _Flag>
  __host__ __device__ int operator()(const _Flag& __flag) const {
    _Op __copy = __op;
    return __copy(__flag) ? 1 : 0;
  }
};

}  // namespace detail

struct DeviceSelect : __warpbeam_older_select {
  using __warpbeam_older_select::Flagged;
  using __warpbeam_older_select::If;

  template <class _Iterator, class _Flags, class _Count, class _Size,
            std::enable_if_t<!std::is_integral<_Count>::value && std::is_integral<_Size>::value, int> = 0>
  CUB_RUNTIME_FUNCTION static cudaError_t Flagged(void* __storage, size_t& __bytes, _Iterator __data, _Flags __flags, _Count __count,
                                                  _Size __n, cudaStream_t __stream = nullptr) {
    return Flagged(__storage, __bytes, __data, __flags, __data, __count, __n, __stream);
  }
  template <class _Iterator, class _Count, class _Size, class _Op, std::enable_if_t<std::is_integral<_Size>::value, int> = 0>
  CUB_RUNTIME_FUNCTION static cudaError_t If(void* __storage, size_t& __bytes, _Iterator __data, _Count __count, _Size __n, _Op __op,
                                             cudaStream_t __stream = nullptr) {
    return If(__storage, __bytes, __data, __data, __count, __n, __op, __stream);
  }
  template <class _In, class _Flags, class _Out, class _Count, class _Size, class _Op,
            std::enable_if_t<std::is_integral<_Size>::value, int> = 0>
  CUB_RUNTIME_FUNCTION static cudaError_t FlaggedIf(void* __storage, size_t& __bytes, _In __in, _Flags __flags, _Out __out,
                                                    _Count __count, _Size __n, _Op __op, cudaStream_t __stream = nullptr) {
    using _Condition = detail::__warpbeam_condition<_Op>;
    return Flagged(__storage, __bytes, __in, TransformInputIterator<int, _Condition, _Flags>(__flags, _Condition{__op}), __out, __count,
                   __n, __stream);
  }
  template <class _Iterator, class _Flags, class _Count, class _Size, class _Op,
            std::enable_if_t<std::is_integral<_Size>::value && !std::is_convertible<_Op, cudaStream_t>::value, int> = 0>
  CUB_RUNTIME_FUNCTION static cudaError_t FlaggedIf(void* __storage, size_t& __bytes, _Iterator __data, _Flags __flags, _Count __count,
                                                    _Size __n, _Op __op, cudaStream_t __stream = nullptr) {
    return FlaggedIf(__storage, __bytes, __data, __flags, __data, __count, __n, __op, __stream);
  }
};

CUB_NAMESPACE_END
#endif
