// Vectors that are made of and given lists of items (`device_vector<int> v{1, 2, 3}`), as those of CCCL's Thrust: Debian's are
// older.
#pragma once
#include <thrust/detail/config.h>
#include <thrust/detail/vector_base.h>

#include <initializer_list>
#include <utility>
#include <vector>

THRUST_NAMESPACE_BEGIN
namespace detail {

template <class _T, class _Allocator>
class listed_vector : public vector_base<_T, _Allocator> {
  using _Parent = vector_base<_T, _Allocator>;

 public:
  using _Parent::_Parent;
  listed_vector() {}
  listed_vector(const listed_vector&) = default;
  listed_vector(listed_vector&&) = default;
  listed_vector(const listed_vector& __v, const _Allocator& __a) : _Parent(__v, __a) {}
  listed_vector(listed_vector&& __v, const _Allocator& __a) : _Parent(std::move(__v), __a) {}
  template <class _T2, class _Allocator2>
  listed_vector(const vector_base<_T2, _Allocator2>& __v) : _Parent(__v) {}
  listed_vector(std::initializer_list<_T> __l) : _Parent(__l.begin(), __l.end()) {}
  listed_vector(std::initializer_list<_T> __l, const _Allocator& __a) : _Parent(__l.begin(), __l.end(), __a) {}

  listed_vector& operator=(const listed_vector&) = default;
  listed_vector& operator=(listed_vector&&) = default;
  template <class _T2, class _Allocator2>
  listed_vector& operator=(const vector_base<_T2, _Allocator2>& __v) {
    _Parent::operator=(__v);
    return *this;
  }
  template <class _T2, class _Allocator2>
  listed_vector& operator=(const std::vector<_T2, _Allocator2>& __v) {
    _Parent::operator=(__v);
    return *this;
  }
  listed_vector& operator=(std::initializer_list<_T> __l) {
    this->assign(__l.begin(), __l.end());
    return *this;
  }
};

}  // namespace detail
THRUST_NAMESPACE_END

// The members of a vector of that name, which are the same for the host's and the device's. The list is named here again,
// since no type of items is deduced from inherited constructors.
#define WB_LISTED_VECTOR(name)                                                           \
  using _Parent = detail::listed_vector<_T, _Allocator>;                                 \
                                                                                         \
 public:                                                                                 \
  using _Parent::_Parent;                                                                \
  using _Parent::operator=;                                                              \
  name() {}                                                                              \
  name(const name&) = default;                                                           \
  name(name&&) = default;                                                                \
  name(const name& __v, const _Allocator& __a) : _Parent(__v, __a) {}                    \
  name(name&& __v, const _Allocator& __a) : _Parent(std::move(__v), __a) {}              \
  template <class _T2, class _Allocator2>                                                \
  name(const detail::vector_base<_T2, _Allocator2>& __v) : _Parent(__v) {}               \
  name(std::initializer_list<_T> __l) : _Parent(__l) {}                                  \
  name(std::initializer_list<_T> __l, const _Allocator& __a) : _Parent(__l, __a) {}      \
  name& operator=(const name&) = default;                                                \
  name& operator=(name&&) = default;
