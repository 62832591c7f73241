#include "base/demangle.h"

#include <cxxabi.h>
#include <llvm/Demangle/Demangle.h>

#include <cstdlib>

namespace warpbeam {

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  // Since version 18 clang writes the kinds of template parameters into names (`fillIiTnNSt9enable_if...`), which the C++
  // library of older GCCs does not know.
  if (!text) text = llvm::itaniumDemangle(name);
  std::string out = text ? text : name;
  std::free(text);
  return out;
}

}  // namespace warpbeam
