// Debian's thrust::tuple, which newer versions have under the name cuda::std::tuple: structured bindings and the functions of
// that name take it too.
#pragma once
#include_next <thrust/tuple.h>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace std {

template <class... _T>
struct tuple_size<thrust::tuple<_T...>>
    : integral_constant<size_t, static_cast<size_t>(thrust::tuple_size<thrust::tuple<_T...>>::value)> {};
template <size_t _At, class... _T>
struct tuple_element<_At, thrust::tuple<_T...>> {
  using type = typename thrust::tuple_element<_At, thrust::tuple<_T...>>::type;
};

// Under the name cuda::std::get.
template <size_t _At, class... _T>
__host__ __device__ decltype(auto) get(thrust::tuple<_T...>& __t) noexcept {
  return thrust::get<_At>(__t);
}
template <size_t _At, class... _T>
__host__ __device__ decltype(auto) get(const thrust::tuple<_T...>& __t) noexcept {
  return thrust::get<_At>(__t);
}

}  // namespace std
