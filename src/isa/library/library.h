// The device library: external functions that device code may call and the machine provides natively, with libdevice's
// names (`__nv_sinf` …).
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace warpbeam::isa {

struct LibraryFunction {
  const char* name;
  // Result and arguments: f=f32 d=f64 i=i32 u=u32 l=i64 s=i16 h=u16 v=nothing; a capital letter is a pointer to such a
  // value ("f(fI)": float frexpf(float, int*)).
  const char* signature;
  // result and args[k] point at 32 contiguous values; pointer arguments are 32 checked host pointers. Only lanes of
  // `mask` may write through pointers.
  void (*lanes)(uint32_t mask, void* result, const void* const* args);
  double ulp;  // documented bound
};

const LibraryFunction* find_library_function(std::string_view name);
std::span<const LibraryFunction> library_functions();

constexpr bool library_type_is_pointer(char c) { return c >= 'A' && c <= 'Z'; }
constexpr int library_type_bytes(char c) {
  switch (c) {
    case 'd':
    case 'D':
    case 'l':
    case 'L': return 8;
    case 's':
    case 'S':
    case 'h':
    case 'H': return 2;
    case 'v': return 0;
    default: return 4;
  }
}

}  // namespace warpbeam::isa
