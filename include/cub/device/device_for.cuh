// cub::DeviceFor of CUB 2.4 and later: a function called for every index or every item.
#pragma once
#if __cplusplus >= 201402L
#include <cub/config.cuh>
#include <iterator>
#include <utility>

CUB_NAMESPACE_BEGIN

namespace detail {

template <class _Size, class _Op>
__global__ void __warpbeam_for(_Size __n, _Op __op) {
  const _Size __step = static_cast<_Size>(gridDim.x) * blockDim.x;
  for (_Size __i = static_cast<_Size>(blockIdx.x) * blockDim.x + threadIdx.x; __i < __n; __i += __step) __op(__i);
}

template <class _Size, class _Op>
cudaError_t __warpbeam_launch_for(_Size __n, _Op __op, cudaStream_t __stream) {
  if (__n <= 0) return cudaSuccess;
  const unsigned long long __blocks = (static_cast<unsigned long long>(__n) + 255) / 256;
  __warpbeam_for<<<static_cast<unsigned>(__blocks < 65536 ? __blocks : 65536), 256, 0, __stream>>>(__n, __op);
  return cudaPeekAtLastError();
}

template <class _Iterator, class _Op>
struct __warpbeam_at {
  _Iterator __first;
  _Op __op;
  template <class _Size>
  __device__ void operator()(_Size __i) {
    __op(*(__first + __i));
  }
};

template <class _Iterator, class _Op>
struct __warpbeam_at_copy {
  _Iterator __first;
  _Op __op;
  template <class _Size>
  __device__ void operator()(_Size __i) {
    typename std::iterator_traits<_Iterator>::value_type __item = *(__first + __i);
    __op(__item);
  }
};

// The index of each dimension, the last one running fastest.
template <class _Index, class _Op, size_t... _Dimension>
struct __warpbeam_in_extents {
  _Index __sizes[sizeof...(_Dimension) + 1];
  _Op __op;
  template <class _Size>
  __device__ void operator()(_Size __i) {
    _Index __indices[sizeof...(_Dimension) + 1] = {};
    _Size __rest = __i;
    for (size_t __d = sizeof...(_Dimension); __d > 0; --__d) {
      __indices[__d - 1] = static_cast<_Index>(__rest % __sizes[__d - 1]);
      __rest /= __sizes[__d - 1];
    }
    __op(static_cast<_Index>(__i), __indices[_Dimension]...);
  }
};
template <class _Extents, class _Op, size_t... _Dimension>
cudaError_t __warpbeam_for_extents(const _Extents& __extents, _Op __op, cudaStream_t __stream, std::index_sequence<_Dimension...>) {
  unsigned long long __n = 1;
  for (size_t __d = 0; __d < sizeof...(_Dimension); ++__d) __n *= static_cast<unsigned long long>(__extents.extent(__d));
  using _Index = typename _Extents::index_type;
  return __warpbeam_launch_for(
      __n, __warpbeam_in_extents<_Index, _Op, _Dimension...>{{__extents.extent(_Dimension)..., 0}, __op}, __stream);
}

}  // namespace detail

struct DeviceFor {
  // With the number of the item and its index in each dimension.
  template <class _Extents, class _Op, class = typename _Extents::rank_type>
  static cudaError_t ForEachInExtents(const _Extents& __extents, _Op __op, cudaStream_t __stream = nullptr) {
    return detail::__warpbeam_for_extents(__extents, __op, __stream, std::make_index_sequence<_Extents::rank()>());
  }
  template <class _Extents, class _Op, class = typename _Extents::rank_type>
  static cudaError_t ForEachInExtents(void* __storage, size_t& __bytes, const _Extents& __extents, _Op __op,
                                      cudaStream_t __stream = nullptr) {
    if (!__storage) return __bytes = 1, cudaSuccess;
    return ForEachInExtents(__extents, __op, __stream);
  }

  template <class _Shape, class _Op>
  static cudaError_t Bulk(_Shape __shape, _Op __op, cudaStream_t __stream = nullptr) {
    return detail::__warpbeam_launch_for(__shape, __op, __stream);
  }
  template <class _Iterator, class _Size, class _Op>
  static cudaError_t ForEachN(_Iterator __first, _Size __n, _Op __op, cudaStream_t __stream = nullptr) {
    return Bulk(__n, detail::__warpbeam_at<_Iterator, _Op>{__first, __op}, __stream);
  }
  template <class _Iterator, class _Op>
  static cudaError_t ForEach(_Iterator __first, _Iterator __last, _Op __op, cudaStream_t __stream = nullptr) {
    return ForEachN(__first, __last - __first, __op, __stream);
  }
  template <class _Iterator, class _Size, class _Op>
  static cudaError_t ForEachCopyN(_Iterator __first, _Size __n, _Op __op, cudaStream_t __stream = nullptr) {
    return Bulk(__n, detail::__warpbeam_at_copy<_Iterator, _Op>{__first, __op}, __stream);
  }
  template <class _Iterator, class _Op>
  static cudaError_t ForEachCopy(_Iterator __first, _Iterator __last, _Op __op, cudaStream_t __stream = nullptr) {
    return ForEachCopyN(__first, __last - __first, __op, __stream);
  }

  // The forms in two steps: the first call asks for a size.
  template <class _Shape, class _Op>
  static cudaError_t Bulk(void* __storage, size_t& __bytes, _Shape __shape, _Op __op, cudaStream_t __stream = nullptr) {
    if (!__storage) return __bytes = 1, cudaSuccess;
    return Bulk(__shape, __op, __stream);
  }
  template <class _Iterator, class _Size, class _Op>
  static cudaError_t ForEachN(void* __storage, size_t& __bytes, _Iterator __first, _Size __n, _Op __op,
                              cudaStream_t __stream = nullptr) {
    if (!__storage) return __bytes = 1, cudaSuccess;
    return ForEachN(__first, __n, __op, __stream);
  }
  template <class _Iterator, class _Op>
  static cudaError_t ForEach(void* __storage, size_t& __bytes, _Iterator __first, _Iterator __last, _Op __op,
                             cudaStream_t __stream = nullptr) {
    if (!__storage) return __bytes = 1, cudaSuccess;
    return ForEach(__first, __last, __op, __stream);
  }
  template <class _Iterator, class _Size, class _Op>
  static cudaError_t ForEachCopyN(void* __storage, size_t& __bytes, _Iterator __first, _Size __n, _Op __op,
                                  cudaStream_t __stream = nullptr) {
    if (!__storage) return __bytes = 1, cudaSuccess;
    return ForEachCopyN(__first, __n, __op, __stream);
  }
  template <class _Iterator, class _Op>
  static cudaError_t ForEachCopy(void* __storage, size_t& __bytes, _Iterator __first, _Iterator __last, _Op __op,
                                 cudaStream_t __stream = nullptr) {
    if (!__storage) return __bytes = 1, cudaSuccess;
    return ForEachCopy(__first, __last, __op, __stream);
  }
};

CUB_NAMESPACE_END
#endif
