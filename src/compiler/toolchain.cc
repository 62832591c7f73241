#include "compiler/toolchain.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace warpbeam::compiler {

namespace {

std::string own_path() {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&toolchain), &here) && here.dli_fname) {
    std::error_code failed;
    auto library = std::filesystem::canonical(here.dli_fname, failed);
    if (!failed && library.string().find(".so") != std::string::npos) return library;
  }
  char buffer[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer);
  return length > 0 ? std::string(buffer, length) : std::string();
}

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Headers of C and C++ and what programs start with. They are taken from the system where it has them: the other libraries' are there too.
bool system_compiles() {
  std::error_code ignored;
  const char* set = std::getenv("WARPBEAM_HEADERS");
  if (set && std::string_view(set) == "own") return false;
  const bool starts = is_there("/usr/lib/x86_64-linux-gnu/crt1.o") || is_there("/usr/lib64/crt1.o") || is_there("/usr/lib/crt1.o");
  return starts && is_there("/usr/include/stdlib.h") && !fs::is_empty("/usr/include/c++", ignored) && !ignored;
}

void find_own_compiler(Toolchain& found, const fs::path& place) {
  const fs::path tools = place / "bin";
  if (!is_there(tools / "clang++-19")) return;
  found.clang = tools / "clang++-19";
  found.c_compiler = tools / "clang-19";
  found.archiver = tools / "ar";
  found.line_reader = tools / "addr2line";
  found.openmp_directory = place / "lib";
  if (!system_compiles()) found.sysroot = place / "sysroot";
}

Toolchain find_toolchain() {
  Toolchain found;
  found.driver = own_path();
  fs::path prefix = fs::path(found.driver).parent_path().parent_path();
  found.library_directory = prefix / "lib";
  found.root = prefix;
  // Of a build directory, the sources' own: messages name them, and its link to them is for others.
  const fs::path sources = prefix.parent_path().parent_path() / "include";
  found.include_directory = is_there(sources / "warpbeam" / "prelude.h") ? sources : prefix / "include";
  find_own_compiler(found, prefix / "lib" / "warpbeam");
  return found;
}

}  // namespace

const Toolchain& toolchain() {
  static const Toolchain found = find_toolchain();
  return found;
}

std::vector<std::string> compiler_words(const std::string& compiler) {
  if (toolchain().sysroot.empty()) return {compiler};
  // The system may have no C++ library either.
  return {compiler, "--sysroot=" + toolchain().sysroot, "-static-libstdc++"};
}

std::string lowering_library() {
  const std::string file = toolchain().library_directory + "/libwarpbeam_lowering.so";
  return is_there(file) ? file : std::string();
}

}  // namespace warpbeam::compiler
