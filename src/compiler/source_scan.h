// Walking through a source as its author wrote it.
#pragma once
#include <cctype>
#include <string_view>

namespace warpbeam::compiler {

inline bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The end of the comment, literal or directive that begins at i; i if none does.
size_t past_opaque(std::string_view s, size_t i, bool line_start);

}  // namespace warpbeam::compiler
