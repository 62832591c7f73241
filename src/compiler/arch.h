// Architectures: what -arch, -code and -gencode name, and what clang makes of them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warpbeam::compiler {

struct Arch {
  int cc = 0;             // 90 for sm_90
  bool specific = false;  // sm_90a
  bool operator==(const Arch&) const = default;
  std::string sm() const;       // "sm_90a"
  std::string compute() const;  // "compute_90a"
};

// One device pass and what it is embedded as. Code for several real architectures of one virtual architecture is the
// same PTX, so it is embedded once.
struct CodeTarget {
  Arch arch;
  bool operator==(const CodeTarget&) const = default;
  // Clang's NVPTX back end starts at sm_20. Older architectures are compiled as that, with their own __CUDA_ARCH__.
  std::string clang_arch() const;
  int cuda_arch_macro() const { return arch.cc * 10; }
};

// Every architecture that -arch accepts, oldest first.
const std::vector<Arch>& known_archs();

// The newest feature level.
inline constexpr int kNewestCc = 90;

// Reads "sm_90", "compute_90a", "lto_90"; the prefix must be one of those.
Result<Arch> parse_arch(std::string_view text);

// True for a well-formed name beyond what clang-19 knows, such as sm_120a.
bool is_newer_arch(std::string_view text);

// What -arch and -code ask for together: the value of -arch (empty if absent) and the list of -code.
Result<std::vector<CodeTarget>> targets_of_arch(std::string_view arch, const std::vector<std::string>& code, int default_cc);

// One -gencode: "arch=compute_70,code=sm_70", "arch=compute_70,code=[compute_70,sm_70]". Nothing when the
// architecture is newer than any that is known; the caller warns.
Result<std::vector<CodeTarget>> targets_of_gencode(std::string_view spec);

}  // namespace warpbeam::compiler
