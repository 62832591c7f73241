// Small changes to the PTX text that clang made, and what can be read off it. The text's layout is clang's: one
// statement per line, directives at the start of a line; hand-written PTX does not come through here.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "compiler/options.h"

namespace warpbeam::compiler {

// Applies -maxrregcount, -dlcm, -dscm, and for relocatable code the names of static variables.
void adjust_ptx(std::string& ptx, const Options& options);

// In relocatable code static kernels get names of their own, as clang gives them where it knows __global__: NAME and the
// suffix that the host object uses.
void separate_static_kernels(std::string& ptx, const std::string& suffix);
std::optional<std::string> static_kernel_suffix(std::string_view host_object);

struct DeviceSymbols {
  std::set<std::string> defined;
  std::set<std::string> undefined;
};

// The names that a relocatable module gives to others and takes from them. Functions that the machine provides
// (printf and the like) are among the undefined ones.
DeviceSymbols device_symbols(std::string_view ptx);

// An error line for each kernel whose static shared memory no launch could have; else empty.
std::string too_much_shared(std::string_view ptx, const CodeTarget& target);

// A paragraph per kernel in the form of ptxas -v, with what PTX says: there are no registers before assembly.
std::string resource_lines(std::string_view ptx, const CodeTarget& target);

}  // namespace warpbeam::compiler
