// thrust::offset_iterator of newer versions: an iterator moved by a number, or by a number that only the device will know.
#pragma once
#include <thrust/iterator/iterator_adaptor.h>
#include <thrust/iterator/iterator_traits.h>

#include <type_traits>

THRUST_NAMESPACE_BEGIN

template <class _Iterator, class _Offset = it_difference_t<_Iterator>>
class offset_iterator : public iterator_adaptor<offset_iterator<_Iterator, _Offset>, _Iterator> {
  using __base = iterator_adaptor<offset_iterator, _Iterator>;
  static constexpr bool __number = std::is_integral<_Offset>::value;
  _Offset __offset{};

  friend class iterator_core_access;
  using __distance = it_difference_t<_Iterator>;

  __host__ __device__ __distance __by() const {
    if constexpr (__number) return static_cast<__distance>(__offset);
    else return static_cast<__distance>(*__offset);
  }
  __host__ __device__ typename __base::reference dereference() const { return *(this->base() + __by()); }
  __host__ __device__ bool equal(const offset_iterator& __o) const { return __o.distance_to(*this) == 0; }
  __host__ __device__ void advance(__distance __n) {
    if constexpr (__number) __offset = static_cast<_Offset>(__offset + __n);
    else this->base_reference() += __n;
  }
  __host__ __device__ void increment() { advance(1); }
  __host__ __device__ void decrement() { advance(-1); }
  __host__ __device__ __distance distance_to(const offset_iterator& __o) const {
    return (__o.base() - this->base()) + (__o.__by() - __by());
  }

 public:
  __host__ __device__ offset_iterator(_Iterator __i = _Iterator(), _Offset __o = _Offset()) : __base(__i), __offset(__o) {}
  __host__ __device__ const _Offset& offset() const { return __offset; }
  __host__ __device__ _Offset& offset() { return __offset; }
};

template <class _Iterator>
offset_iterator(_Iterator) -> offset_iterator<_Iterator>;
template <class _Iterator, class _Offset>
offset_iterator(_Iterator, _Offset) -> offset_iterator<_Iterator, _Offset>;

THRUST_NAMESPACE_END
