// Where a section of a loaded program or library lies. Section names are not in memory; they are read from its file.
#pragma once
#include <string_view>

namespace warpbeam::cuda {

bool in_section(const void* address, std::string_view section);

}  // namespace warpbeam::cuda
