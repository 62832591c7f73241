// The files named by a make rule, as compilers and linkers write them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warpbeam::compiler {

// The prerequisites of the first rule.
std::vector<std::string> parse_depfile(std::string_view text);

// The same of a file; nothing when it is not there.
std::vector<std::string> read_depfile(const std::string& path);

}  // namespace warpbeam::compiler
