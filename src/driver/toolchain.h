// Where the compiler, our headers and our runtime are, and what this toolchain says it is.
#pragma once
#include <string>

namespace warpbeam::driver {

inline constexpr const char* kVersion = "0.1.0";
// The release whose language and API are implemented; macros and --version say so.
inline constexpr int kCudaMajor = 13;
inline constexpr int kCudaMinor = 0;
inline constexpr int kCudaBuild = 88;

struct Toolchain {
  std::string clang = "clang++-19";
  std::string c_compiler = "clang-19";
  std::string archiver = "ar";
  std::string root;               // has bin/nvcc, include and lib64, like a CUDA toolkit
  std::string include_directory;  // our CUDA headers
  std::string library_directory;  // libwarpbeam.so
  std::string driver;             // this executable
};

// Found from the place of this executable, or of the library that this is part of: beside an installed tree's include/ and lib/, or in a build directory.
const Toolchain& toolchain();

// The plugin of clang's that changes device code (src/lowering); empty where it was not built.
std::string lowering_library();

}  // namespace warpbeam::driver
