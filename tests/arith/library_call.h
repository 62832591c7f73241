// Calls a row of the device library with numbers, whatever their types: value arguments in order, pointers to scratch.
#pragma once
#include <cmath>
#include <string_view>
#include <vector>

#include "isa/library/library.h"

namespace warpbeam::arith_test {

struct Answer {
  double value = 0;            // the result, or for functions that return nothing the first value written
  double written[2] = {0, 0};  // what went through the pointers
};

inline int32_t to_int(double x) { return x != x ? 0 : x >= 2147483647.0 ? INT32_MAX : x <= -2147483648.0 ? INT32_MIN : int32_t(x); }

inline Answer call(const isa::LibraryFunction& f, const std::vector<double>& values) {
  alignas(64) std::byte storage[6][256], result[256] = {}, written[2][8] = {};
  char written_type[2] = {0, 0};
  const void* args[6];
  const std::string_view signature = f.signature;
  size_t value = 0, pointer = 0;
  for (size_t k = 0; signature[k + 2] != ')'; ++k) {
    const char type = signature[k + 2];
    args[k] = storage[k];
    for (int lane = 0; lane < 32; ++lane) {
      if (isa::library_type_is_pointer(type)) reinterpret_cast<void**>(storage[k])[lane] = written[pointer];
      if (type == 'f') reinterpret_cast<float*>(storage[k])[lane] = static_cast<float>(values[value]);
      if (type == 'd') reinterpret_cast<double*>(storage[k])[lane] = values[value];
      if (type == 'i') reinterpret_cast<int32_t*>(storage[k])[lane] = to_int(values[value]);
    }
    if (isa::library_type_is_pointer(type)) {
      written_type[pointer++] = type;
    } else {
      ++value;
    }
  }
  // One lane in the middle: rows that work lane by lane must look at the mask.
  f.lanes(1u << 5, result, args);
  auto read = [](char type, const std::byte* at) -> double {
    switch (type) {
      case 'f':
      case 'F': return *reinterpret_cast<const float*>(at);
      case 'd':
      case 'D': return *reinterpret_cast<const double*>(at);
      case 'l': return static_cast<double>(*reinterpret_cast<const int64_t*>(at));
      case 'i':
      case 'I': return *reinterpret_cast<const int32_t*>(at);
      default: return 0;
    }
  };
  Answer a;
  for (size_t p = 0; p < pointer; ++p) a.written[p] = read(written_type[p], written[p]);
  a.value = signature[0] == 'v' ? a.written[0] : read(signature[0], result + 5 * isa::library_type_bytes(signature[0]));
  return a;
}

}  // namespace warpbeam::arith_test
