// Debian's cub::DeviceMergeSort, whose sorts are all stable, and the name that newer versions have for one more of them.
#pragma once
#define DeviceMergeSort __warpbeam_older_merge_sort
#include_next <cub/device/device_merge_sort.cuh>
#undef DeviceMergeSort

CUB_NAMESPACE_BEGIN

struct DeviceMergeSort : __warpbeam_older_merge_sort {
  template <class _In, class _Out, class _Size, class _Less>
  CUB_RUNTIME_FUNCTION static cudaError_t StableSortKeysCopy(void* __storage, size_t& __bytes, _In __in, _Out __out, _Size __n,
                                                             _Less __less, cudaStream_t __stream = nullptr) {
    return SortKeysCopy(__storage, __bytes, __in, __out, __n, __less, __stream);
  }
};

CUB_NAMESPACE_END
