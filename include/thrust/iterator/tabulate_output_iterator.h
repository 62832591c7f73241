// thrust::tabulate_output_iterator of newer versions: what is stored through it goes, with its index, to a function.
#pragma once
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/iterator_adaptor.h>

#include <cstddef>
#include <type_traits>

THRUST_NAMESPACE_BEGIN

template <class _Function, class _System = use_default, class _Difference = std::ptrdiff_t>
class tabulate_output_iterator;

namespace detail {

template <class _Function, class _Difference>
class __warpbeam_tabulated {
  _Function __function;
  _Difference __index;

 public:
  __host__ __device__ __warpbeam_tabulated(const _Function& __f, _Difference __i) : __function(__f), __index(__i) {}
  template <class _T>
  __host__ __device__ const __warpbeam_tabulated& operator=(const _T& __item) const {
    _Function __copy = __function;
    __copy(__index, __item);
    return *this;
  }
  template <class _T>
  __host__ __device__ __warpbeam_tabulated& operator=(const _T& __item) {
    __function(__index, __item);
    return *this;
  }
};

// The algorithms must not take what stands for an item as an item.
template <class _Function, class _Difference>
struct is_proxy_reference<__warpbeam_tabulated<_Function, _Difference>> : true_type {};

template <class _Function, class _System, class _Difference>
using __warpbeam_tabulated_base =
    iterator_adaptor<tabulate_output_iterator<_Function, _System, _Difference>, counting_iterator<_Difference>,
                     __warpbeam_tabulated<_Function, _Difference>, _System, use_default,
                     __warpbeam_tabulated<_Function, _Difference>>;

}  // namespace detail

template <class _Function, class _System, class _Difference>
class tabulate_output_iterator : public detail::__warpbeam_tabulated_base<_Function, _System, _Difference> {
  using __base = detail::__warpbeam_tabulated_base<_Function, _System, _Difference>;
  _Function __function;

  friend class iterator_core_access;
  __host__ __device__ typename __base::reference dereference() const {
    return typename __base::reference(__function, *this->base());
  }

 public:
  tabulate_output_iterator() = default;
  __host__ __device__ explicit tabulate_output_iterator(_Function __f)
      : __base(counting_iterator<_Difference>(0)), __function(__f) {}
};

template <class _Function>
__host__ __device__ tabulate_output_iterator<_Function> make_tabulate_output_iterator(_Function __function) {
  return tabulate_output_iterator<_Function>(__function);
}

THRUST_NAMESPACE_END
