// Where a section of a loaded program or library lies. Section names are not in memory; they are read from its file.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace warpbeam::cuda {

struct SectionRange {
  const void* begin;
  size_t bytes;
};

// The range of the section of that name in the module that holds `address`, if the section holds `address` too.
std::optional<SectionRange> section_around(const void* address, std::string_view section);

}  // namespace warpbeam::cuda
