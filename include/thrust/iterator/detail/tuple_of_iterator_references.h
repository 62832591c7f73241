// What zip iterators point to: a tuple of references that copies what it refers to, also where it is a temporary.
#pragma once
#include <thrust/detail/config.h>

#include <thrust/detail/reference_forward_declaration.h>
#include <thrust/pair.h>
#include <thrust/tuple.h>
#include <thrust/type_traits/integer_sequence.h>

THRUST_NAMESPACE_BEGIN
namespace detail {

template <class... _T>
class tuple_of_iterator_references : public thrust::tuple<_T...> {
  using __tuple = thrust::tuple<_T...>;

 public:
  tuple_of_iterator_references() = default;
  __host__ __device__ tuple_of_iterator_references(const __tuple& __other) : __tuple(__other) {}
  // Of a reference `const _T&` is that reference.
  __host__ __device__ tuple_of_iterator_references(const _T&... __elements) : __tuple(__elements...) {}
  tuple_of_iterator_references(const tuple_of_iterator_references&) = default;

  __thrust_exec_check_disable__ __host__ __device__ tuple_of_iterator_references&
  operator=(const tuple_of_iterator_references& __other) {
    __tuple::operator=(static_cast<const __tuple&>(__other));
    return *this;
  }
  __thrust_exec_check_disable__ template <class... _U>
  __host__ __device__ tuple_of_iterator_references& operator=(const thrust::tuple<_U...>& __other) {
    __tuple::operator=(__other);
    return *this;
  }
  __thrust_exec_check_disable__ template <class _U, class _V>
  __host__ __device__ tuple_of_iterator_references& operator=(const thrust::pair<_U, _V>& __other) {
    __tuple::operator=(__other);
    return *this;
  }
  __thrust_exec_check_disable__ template <class _Pointer, class _Derived, class... _U>
  __host__ __device__ tuple_of_iterator_references&
  operator=(const thrust::reference<thrust::tuple<_U...>, _Pointer, _Derived>& __other) {
    const thrust::tuple<_U...> __value = __other;
    __tuple::operator=(__value);
    return *this;
  }
};

template <class... _T, class... _U, size_t... _At>
__host__ __device__ void __warpbeam_swap_elements(thrust::tuple<_T...>& __a, thrust::tuple<_U...>& __b, thrust::index_sequence<_At...>) {
  using thrust::swap;
  int __each[] = {0, (swap(thrust::get<_At>(__a), thrust::get<_At>(__b)), 0)...};
  (void)__each;
}
template <class... _T, class... _U>
__host__ __device__ void swap(tuple_of_iterator_references<_T...> __a, tuple_of_iterator_references<_U...> __b) {
  detail::__warpbeam_swap_elements(__a, __b, thrust::make_index_sequence<sizeof...(_T)>{});
}
// Named ones, for which std::swap would do as well.
template <class... _T>
__host__ __device__ void swap(tuple_of_iterator_references<_T...>& __a, tuple_of_iterator_references<_T...>& __b) {
  detail::__warpbeam_swap_elements(__a, __b, thrust::make_index_sequence<sizeof...(_T)>{});
}

}  // namespace detail
THRUST_NAMESPACE_END

namespace std {

template <class... _T>
struct tuple_size<THRUST_NS_QUALIFIER::detail::tuple_of_iterator_references<_T...>> : integral_constant<size_t, sizeof...(_T)> {};
template <size_t _At, class... _T>
struct tuple_element<_At, THRUST_NS_QUALIFIER::detail::tuple_of_iterator_references<_T...>> : tuple_element<_At, tuple<_T...>> {};

}  // namespace std
