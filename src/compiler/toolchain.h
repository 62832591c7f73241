// Where the compiler, our headers and our runtime are, and what this toolchain says it is.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace warpbeam::compiler {

inline constexpr const char* kVersion = "0.2.0";
// The release whose language and API are implemented; macros and --version say so.
inline constexpr int kCudaMajor = 13;
inline constexpr int kCudaMinor = 0;
inline constexpr int kCudaBuild = 88;

struct Toolchain {
  std::string clang = "clang++-19";
  std::string c_compiler = "clang-19";
  std::string archiver = "ar";
  std::string line_reader = "addr2line";
  std::string openmp_directory = "/usr/lib/llvm-19/lib";
  std::string sysroot;            // headers and start files that came along, where the system has none; else empty
  std::string gcc;                // of the system, with C++, where the compiler would take a newer one without; else empty
  std::string root;               // has bin/nvcc, include and lib64, like a CUDA toolkit
  std::string include_directory;  // our CUDA headers
  std::string library_directory;  // libwarpbeam.so
  std::string driver;             // this executable
};

// Found from the place of this executable, or of the library that this is part of: beside an installed tree's include/ and lib/, or in a build directory.
// Packages bring a compiler in lib/warpbeam; else it is the system's.
const Toolchain& toolchain();

// Folders of GCCs under `system` (/), empty where there is none. clang takes the newest, also where only its C is there (gcc-12 beside g++-11), and then
// finds no <iostream>.
struct SystemGcc {
  std::filesystem::path newest, with_cpp;
};
SystemGcc gcc_of(const std::filesystem::path& system);

// How a command of the compiler begins.
std::vector<std::string> compiler_words(const std::string& compiler);

// What -include takes for a file of ours in include/warpbeam.
std::string header_ahead(const std::string& name);

// What others link with who ask for the steps (CMake's CUDA language), in an installed tree (package/host_linker); the compiler elsewhere.
std::string host_linker();

// The plugin of clang's that changes device code (src/lowering); empty where it was not built.
std::string lowering_library();

}  // namespace warpbeam::compiler
