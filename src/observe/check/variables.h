// Names of memory: `tile[3][5]` for a place in an array. Sizes come from the program; how an array is divided comes from
// the compiler driver, which asks the front end: a line `name;element bytes;dimensions…` per variable, and a line
// `~kernel;bytes;from-to;…` per structure with gaps to which a kernel's parameters lead. It says as well, `^kernel;line`,
// behind which line a kernel returns nowhere but at its end.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warpbeam::observe::check {

// A structure, with the bytes that belong to no member.
struct Gaps {
  uint64_t bytes = 0;
  std::vector<bool> is_gap;  // of each byte
  bool holds(uint64_t offset, uint32_t n) const {
    for (uint32_t k = 0; k < n; ++k)
      if (!is_gap[(offset + k) % bytes]) return false;
    return true;
  }
};

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
  std::vector<Gaps> gaps(const std::string& kernel) const;  // mangled
  // Behind this line its threads end at its end only: who misses a barrier there has not returned, but gone around it. 0: it
  // has no early return; nothing: it is not known.
  std::optional<uint32_t> last_return(const std::string& kernel) const {
    const auto it = last_returns_.find(kernel);
    return it == last_returns_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  void read_gaps(const std::string& line);
  std::unordered_map<std::string, Shape> shapes_;
  std::unordered_multimap<std::string, Gaps> gaps_;  // by kernel
  std::unordered_map<std::string, uint32_t> last_returns_;  // of kernels
};

// `tile` of `_ZZ6kernelPiE4tile`.
std::string plain_name(std::string_view mangled);

}  // namespace warpbeam::observe::check
