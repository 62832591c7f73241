// From a plain C++ function to a library row: its signature string and the loop over 32 lanes, both read off its type.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "isa/library/library.h"

// One version of a lane loop per vector width of the host, chosen when the program is loaded. Nothing is fused or
// reassociated, so all versions give the same bits.
// Sanitized builds go without: the choice is made before their runtime is up.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WB_SANITIZED
#endif
#endif
#if defined(__x86_64__) && defined(__linux__) && defined(__clang__) && !defined(WB_SANITIZED)
#define WB_FOR_EACH_VECTOR_WIDTH [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define WB_FOR_EACH_VECTOR_WIDTH
#endif

namespace warpbeam::isa::library {

template <class T>
constexpr char type_letter() {
  if constexpr (std::is_pointer_v<T>) {
    return static_cast<char>(type_letter<std::remove_cv_t<std::remove_pointer_t<T>>>() - 'a' + 'A');
  } else if constexpr (std::is_same_v<T, float>) {
    return 'f';
  } else if constexpr (std::is_same_v<T, double>) {
    return 'd';
  } else if constexpr (std::is_void_v<T>) {
    return 'v';
  } else if constexpr (sizeof(T) == 8) {
    return 'l';
  } else if constexpr (sizeof(T) == 2) {
    return std::is_signed_v<T> ? 's' : 'h';
  } else {
    static_assert(sizeof(T) == 4);
    return std::is_signed_v<T> ? 'i' : 'u';
  }
}

template <auto Function>
struct Lanes;

template <class R, class... A, R (*Function)(A...)>
struct Lanes<Function> {
  static constexpr std::array<char, sizeof...(A) + 4> signature{type_letter<R>(), '(', type_letter<A>()..., ')', '\0'};

  template <size_t... K>
  [[gnu::always_inline]] static void one(int lane, void* result, const void* const* args, std::index_sequence<K...>) {
    if constexpr (std::is_void_v<R>) {
      Function(static_cast<const A*>(args[K])[lane]...);
    } else {
      static_cast<R*>(result)[lane] = Function(static_cast<const A*>(args[K])[lane]...);
    }
  }

  // Each active lane by itself: for functions that write through pointers or cost more than a lane is worth.
  static void active(uint32_t mask, void* result, const void* const* args) {
    for (; mask != 0; mask &= mask - 1) one(std::countr_zero(mask), result, args, std::index_sequence_for<A...>{});
  }

  // All 32 lanes, so that the compiler can work on vectors of them.
  [[gnu::always_inline]] static void each(void* result, const void* const* args) {
    for (int lane = 0; lane < 32; ++lane) one(lane, result, args, std::index_sequence_for<A...>{});
  }
  static void all(uint32_t, void* result, const void* const* args) { each(result, args); }
  WB_FOR_EACH_VECTOR_WIDTH static void vectors(uint32_t, void* result, const void* const* args) { each(result, args); }
};

}  // namespace warpbeam::isa::library
