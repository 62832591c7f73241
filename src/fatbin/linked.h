// What cuLinkComplete gives and cuModuleLoad takes again: the texts that were linked, in one container ("cubin").
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warpbeam::fatbin {

bool is_linked(const void* image);
std::string pack_linked(const std::vector<std::string>& texts);

// Of bytes in memory, whose size they tell themselves.
std::vector<std::string> unpack_linked(const void* image);

// Whether `bytes`, which begin as linked code does, hold all of it.
bool linked_fits(std::string_view bytes);

}  // namespace warpbeam::fatbin
