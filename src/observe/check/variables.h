// Names of memory: `tile[3][5]` for a place in an array. Sizes come from the program; how an array is divided comes from
// the compiler driver, which asks the front end: a line `name;elements;element bytes;dimensions…` per variable.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warpbeam::observe::check {

struct Shape {
  uint32_t element = 0;               // bytes
  std::vector<uint64_t> dimensions;   // 0: open (extern __shared__)
};

class Shapes {
 public:
  void read(const std::string& path);
  const Shape* find(std::string_view name) const;  // as in PTX
  // `tile[3][5]`, or `tile+0x1c` when the shape is unknown; `name` is mangled.
  std::string place(std::string_view name, uint64_t offset) const;

 private:
  std::unordered_map<std::string, Shape> shapes_;
};

// `tile` of `_ZZ6kernelPiE4tile`.
std::string plain_name(std::string_view mangled);

}  // namespace warpbeam::observe::check
