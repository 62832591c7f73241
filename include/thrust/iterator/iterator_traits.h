// Debian's traits of iterators, and the short names that newer versions have for them.
#pragma once
#include_next <thrust/iterator/iterator_traits.h>

THRUST_NAMESPACE_BEGIN

template <class _I>
using it_value_t = typename iterator_traits<_I>::value_type;
template <class _I>
using it_reference_t = typename iterator_traits<_I>::reference;
template <class _I>
using it_difference_t = typename iterator_traits<_I>::difference_type;
template <class _I>
using it_pointer_t = typename iterator_traits<_I>::pointer;
template <class _I>
using iterator_system_t = typename iterator_system<_I>::type;
template <class _I>
using iterator_traversal_t = typename iterator_traversal<_I>::type;

THRUST_NAMESPACE_END
