// What libcu++ has of C++20's and C++23's traits and concepts in every version from C++17 on. Before C++20 a concept is a
// constant.
#ifndef WARPBEAM_CXX_TRAITS_OF_20_H
#define WARPBEAM_CXX_TRAITS_OF_20_H

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#include "std.h"

#if __cplusplus >= 201703L
namespace cuda {
namespace std {

#if __cplusplus <= 202002L
template <class _T, bool = ::std::is_enum_v<_T>>
struct __warpbeam_scoped : ::std::false_type {};
template <class _T>
struct __warpbeam_scoped<_T, true> : ::std::bool_constant<!::std::is_convertible_v<_T, ::std::underlying_type_t<_T>>> {};
template <class _T>
struct is_scoped_enum : __warpbeam_scoped<_T> {};
template <class _T>
inline constexpr bool is_scoped_enum_v = is_scoped_enum<_T>::value;
#endif

#if __cplusplus < 202002L
template <class _T>
struct remove_cvref {
  using type = ::std::remove_cv_t<::std::remove_reference_t<_T>>;
};
template <class _T>
using remove_cvref_t = typename remove_cvref<_T>::type;
template <class _T>
struct type_identity {
  using type = _T;
};
template <class _T>
using type_identity_t = _T;

template <class _T>
struct is_bounded_array : ::std::bool_constant<::std::extent_v<_T> != 0> {};
template <class _T>
inline constexpr bool is_bounded_array_v = is_bounded_array<_T>::value;
template <class _T>
struct is_unbounded_array : ::std::false_type {};
template <class _T>
struct is_unbounded_array<_T[]> : ::std::true_type {};
template <class _T>
inline constexpr bool is_unbounded_array_v = is_unbounded_array<_T>::value;

template <class _T>
struct unwrap_reference {
  using type = _T;
};
template <class _T>
struct unwrap_reference<::std::reference_wrapper<_T>> {
  using type = _T&;
};
template <class _T>
using unwrap_reference_t = typename unwrap_reference<_T>::type;
template <class _T>
struct unwrap_ref_decay : unwrap_reference<::std::decay_t<_T>> {};
template <class _T>
using unwrap_ref_decay_t = typename unwrap_ref_decay<_T>::type;

WB_BOTH constexpr bool is_constant_evaluated() noexcept { return __builtin_is_constant_evaluated(); }

template <class _T, class _U>
inline constexpr bool same_as = ::std::is_same_v<_T, _U>;
template <class _T>
inline constexpr bool integral = ::std::is_integral_v<_T>;
template <class _T>
inline constexpr bool signed_integral = ::std::is_integral_v<_T>&& ::std::is_signed_v<_T>;
template <class _T>
inline constexpr bool unsigned_integral = ::std::is_integral_v<_T> && !::std::is_signed_v<_T>;
template <class _T>
inline constexpr bool floating_point = ::std::is_floating_point_v<_T>;
template <class _T, class _U>
inline constexpr bool convertible_to = ::std::is_convertible_v<_T, _U>;
template <class _T, class _U>
inline constexpr bool derived_from = ::std::is_base_of_v<_U, _T>&& ::std::is_convertible_v<const volatile _T*, const volatile _U*>;
template <class _T, class _U>
inline constexpr bool assignable_from = ::std::is_lvalue_reference_v<_T>&& ::std::is_assignable_v<_T, _U>;
template <class _T>
inline constexpr bool swappable = ::std::is_swappable_v<_T>;
template <class _T>
inline constexpr bool destructible = ::std::is_nothrow_destructible_v<_T>;
template <class _T, class... _Args>
inline constexpr bool constructible_from = destructible<_T>&& ::std::is_constructible_v<_T, _Args...>;
template <class _T>
inline constexpr bool default_initializable = constructible_from<_T>;
template <class _T>
inline constexpr bool move_constructible = constructible_from<_T, _T>&& ::std::is_convertible_v<_T, _T>;
template <class _T>
inline constexpr bool copy_constructible = move_constructible<_T>&& constructible_from<_T, const _T&>;
template <class _T>
inline constexpr bool movable = ::std::is_object_v<_T>&& move_constructible<_T>&& ::std::is_assignable_v<_T&, _T>;
template <class _T>
inline constexpr bool copyable = movable<_T>&& copy_constructible<_T>&& ::std::is_assignable_v<_T&, const _T&>;
template <class _T>
inline constexpr bool semiregular = copyable<_T>&& default_initializable<_T>;

template <class _T, class _U, class = void>
inline constexpr bool __warpbeam_equal = false;
template <class _T, class _U>
inline constexpr bool
    __warpbeam_equal<_T, _U, ::std::void_t<decltype(bool(::std::declval<const _T&>() == ::std::declval<const _U&>()),
                                                    bool(::std::declval<const _T&>() != ::std::declval<const _U&>()))>> = true;
template <class _T, class _U, class = void>
inline constexpr bool __warpbeam_ordered = false;
template <class _T, class _U>
inline constexpr bool
    __warpbeam_ordered<_T, _U, ::std::void_t<decltype(bool(::std::declval<const _T&>() < ::std::declval<const _U&>()),
                                                      bool(::std::declval<const _T&>() >= ::std::declval<const _U&>()))>> = true;
template <class _T>
inline constexpr bool equality_comparable = __warpbeam_equal<_T, _T>;
template <class _T, class _U>
inline constexpr bool equality_comparable_with = __warpbeam_equal<_T, _U>&& __warpbeam_equal<_U, _T>;
template <class _T>
inline constexpr bool totally_ordered = equality_comparable<_T>&& __warpbeam_ordered<_T, _T>;
template <class _T>
inline constexpr bool regular = semiregular<_T>&& equality_comparable<_T>;
template <class _F, class... _Args>
inline constexpr bool invocable = ::std::is_invocable_v<_F, _Args...>;
template <class _F, class... _Args>
inline constexpr bool regular_invocable = invocable<_F, _Args...>;
template <class _F, class... _Args>
inline constexpr bool predicate = ::std::is_invocable_r_v<bool, _F, _Args...>;
template <class _R, class _T, class _U>
inline constexpr bool relation = predicate<_R, _T, _U>&& predicate<_R, _U, _T>;
template <class _R, class _T, class _U>
inline constexpr bool strict_weak_order = relation<_R, _T, _U>;
#endif

}  // namespace std
}  // namespace cuda
#endif
#endif
