// cuda::std::unique_ptr, for kernels too: the C++ library's is the host's before C++23.
#ifndef WARPBEAM_CXX_UNIQUE_PTR_H
#define WARPBEAM_CXX_UNIQUE_PTR_H

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "std.h"

namespace cuda {
namespace std {

template <class _T>
struct default_delete {
  constexpr default_delete() noexcept = default;
  template <class _U, class = ::std::enable_if_t<::std::is_convertible_v<_U*, _T*>>>
  WB_BOTH constexpr default_delete(const default_delete<_U>&) noexcept {}
  WB_BOTH void operator()(_T* __p) const {
    static_assert(sizeof(_T) > 0, "default_delete needs the whole type");
    delete __p;
  }
};
template <class _T>
struct default_delete<_T[]> {
  constexpr default_delete() noexcept = default;
  template <class _U, class = ::std::enable_if_t<::std::is_convertible_v<_U (*)[], _T (*)[]>>>
  WB_BOTH constexpr default_delete(const default_delete<_U[]>&) noexcept {}
  template <class _U, class = ::std::enable_if_t<::std::is_convertible_v<_U (*)[], _T (*)[]>>>
  WB_BOTH void operator()(_U* __p) const {
    delete[] __p;
  }
};

// The type of the pointer: the deleter's, if it names one.
template <class _T, class _Deleter, class = void>
struct __warpbeam_pointer {
  using type = _T*;
};
template <class _T, class _Deleter>
struct __warpbeam_pointer<_T, _Deleter, ::std::void_t<typename ::std::remove_reference_t<_Deleter>::pointer>> {
  using type = typename ::std::remove_reference_t<_Deleter>::pointer;
};

template <class _T, class _Deleter = default_delete<_T>>
class unique_ptr {
 public:
  using element_type = ::std::remove_extent_t<_T>;
  using deleter_type = _Deleter;
  using pointer = typename __warpbeam_pointer<element_type, _Deleter>::type;

 private:
  static constexpr bool __array = ::std::is_array_v<_T>;
  ::std::tuple<pointer, _Deleter> __both;

  template <class _U, class _E>
  static constexpr bool __takes = ::std::is_array_v<_U> == __array &&
                                  ::std::is_convertible_v<typename unique_ptr<_U, _E>::pointer, pointer> &&
                                  (!__array || ::std::is_convertible_v<::std::remove_extent_t<_U> (*)[], element_type (*)[]>);

 public:
  template <class _D = _Deleter, class = ::std::enable_if_t<::std::is_default_constructible_v<_D> && !::std::is_pointer_v<_D>>>
  WB_BOTH constexpr unique_ptr() noexcept : __both(pointer(), _D()) {}
  template <class _D = _Deleter, class = ::std::enable_if_t<::std::is_default_constructible_v<_D> && !::std::is_pointer_v<_D>>>
  WB_BOTH constexpr unique_ptr(::std::nullptr_t) noexcept : unique_ptr() {}
  template <class _D = _Deleter, class = ::std::enable_if_t<::std::is_default_constructible_v<_D> && !::std::is_pointer_v<_D>>>
  WB_BOTH explicit unique_ptr(pointer __p) noexcept : __both(__p, _D()) {}
  WB_BOTH unique_ptr(pointer __p, const ::std::remove_reference_t<_Deleter>& __d) noexcept : __both(__p, __d) {}
  template <class _D = _Deleter, class = ::std::enable_if_t<!::std::is_reference_v<_D>>>
  WB_BOTH unique_ptr(pointer __p, ::std::remove_reference_t<_Deleter>&& __d) noexcept : __both(__p, ::std::move(__d)) {}
  WB_BOTH unique_ptr(unique_ptr&& __other) noexcept : __both(__other.release(), ::std::forward<_Deleter>(__other.get_deleter())) {}
  template <class _U, class _E, class = ::std::enable_if_t<__takes<_U, _E> && ::std::is_convertible_v<_E, _Deleter>>>
  WB_BOTH unique_ptr(unique_ptr<_U, _E>&& __other) noexcept
      : __both(__other.release(), ::std::forward<_E>(__other.get_deleter())) {}
  WB_BOTH ~unique_ptr() {
    if (get() != nullptr) get_deleter()(get());
  }

  WB_BOTH unique_ptr& operator=(unique_ptr&& __other) noexcept {
    reset(__other.release());
    get_deleter() = ::std::forward<_Deleter>(__other.get_deleter());
    return *this;
  }
  template <class _U, class _E, class = ::std::enable_if_t<__takes<_U, _E> && ::std::is_assignable_v<_Deleter&, _E&&>>>
  WB_BOTH unique_ptr& operator=(unique_ptr<_U, _E>&& __other) noexcept {
    reset(__other.release());
    get_deleter() = ::std::forward<_E>(__other.get_deleter());
    return *this;
  }
  WB_BOTH unique_ptr& operator=(::std::nullptr_t) noexcept {
    reset();
    return *this;
  }

  WB_BOTH pointer get() const noexcept { return ::std::get<0>(__both); }
  WB_BOTH _Deleter& get_deleter() noexcept { return ::std::get<1>(__both); }
  WB_BOTH const _Deleter& get_deleter() const noexcept { return ::std::get<1>(__both); }
  WB_BOTH explicit operator bool() const noexcept { return get() != nullptr; }
  template <class _U = _T, class = ::std::enable_if_t<!::std::is_array_v<_U>>>
  WB_BOTH ::std::add_lvalue_reference_t<_U> operator*() const {
    return *get();
  }
  WB_BOTH pointer operator->() const noexcept { return get(); }
  template <class _U = _T, class = ::std::enable_if_t<::std::is_array_v<_U>>>
  WB_BOTH element_type& operator[](::std::size_t __i) const {
    return get()[__i];
  }

  WB_BOTH pointer release() noexcept {
    const pointer __p = get();
    ::std::get<0>(__both) = pointer();
    return __p;
  }
  WB_BOTH void reset(pointer __p = pointer()) noexcept {
    const pointer __old = get();
    ::std::get<0>(__both) = __p;
    if (__old != nullptr) get_deleter()(__old);
  }
  WB_BOTH void swap(unique_ptr& __other) noexcept {
    ::std::tuple<pointer, _Deleter> __old(::std::move(__both));
    __both = ::std::move(__other.__both);
    __other.__both = ::std::move(__old);
  }
  WB_BOTH friend void swap(unique_ptr& __a, unique_ptr& __b) noexcept { __a.swap(__b); }

  WB_BOTH friend bool operator==(const unique_ptr& __a, ::std::nullptr_t) noexcept { return !__a; }
  WB_BOTH friend bool operator!=(const unique_ptr& __a, ::std::nullptr_t) noexcept { return bool(__a); }
#if __cplusplus < 202002L
  WB_BOTH friend bool operator==(::std::nullptr_t, const unique_ptr& __a) noexcept { return !__a; }
  WB_BOTH friend bool operator!=(::std::nullptr_t, const unique_ptr& __a) noexcept { return bool(__a); }
#endif
};

template <class _T, class _D, class _U, class _E>
WB_BOTH bool operator==(const unique_ptr<_T, _D>& __a, const unique_ptr<_U, _E>& __b) {
  return __a.get() == __b.get();
}
template <class _T, class _D, class _U, class _E>
WB_BOTH bool operator!=(const unique_ptr<_T, _D>& __a, const unique_ptr<_U, _E>& __b) {
  return __a.get() != __b.get();
}
template <class _T, class _D, class _U, class _E>
WB_BOTH bool operator<(const unique_ptr<_T, _D>& __a, const unique_ptr<_U, _E>& __b) {
  return __a.get() < __b.get();
}

template <class _T, class... _Args>
WB_BOTH ::std::enable_if_t<!::std::is_array_v<_T>, unique_ptr<_T>> make_unique(_Args&&... __args) {
  return unique_ptr<_T>(new _T(static_cast<_Args&&>(__args)...));
}
template <class _T>
WB_BOTH ::std::enable_if_t<::std::is_array_v<_T> && ::std::extent_v<_T> == 0, unique_ptr<_T>> make_unique(::std::size_t __n) {
  return unique_ptr<_T>(new ::std::remove_extent_t<_T>[__n]());
}
template <class _T>
WB_BOTH ::std::enable_if_t<!::std::is_array_v<_T>, unique_ptr<_T>> make_unique_for_overwrite() {
  return unique_ptr<_T>(new _T);
}
template <class _T>
WB_BOTH ::std::enable_if_t<::std::is_array_v<_T> && ::std::extent_v<_T> == 0, unique_ptr<_T>> make_unique_for_overwrite(
    ::std::size_t __n) {
  return unique_ptr<_T>(new ::std::remove_extent_t<_T>[__n]);
}

}  // namespace std
}  // namespace cuda

#endif
