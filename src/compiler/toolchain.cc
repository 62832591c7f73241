#include "compiler/toolchain.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

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

// Numbers of a version, which compare one by one: 9, 12, 13.2.0. None where it does not begin with one.
std::vector<int> numbers_of(const std::string& version) {
  std::vector<int> found;
  for (size_t at = 0; at < version.size() && std::isdigit(static_cast<unsigned char>(version[at])); ++at) {
    found.push_back(std::atoi(version.c_str() + at));
    at = std::min(version.find('.', at), version.size());
  }
  return found;
}

// Headers of C and C++ and what programs start with. They are taken from the system where it has them: the other libraries' are there too.
bool system_compiles() {
  const char* set = std::getenv("WARPBEAM_HEADERS");
  if (set && std::string_view(set) == "own") return false;
  const bool starts = is_there("/usr/lib/x86_64-linux-gnu/crt1.o") || is_there("/usr/lib64/crt1.o") || is_there("/usr/lib/crt1.o");
  return starts && is_there("/usr/include/stdlib.h") && !gcc_of("/").with_cpp.empty();
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
  if (const auto gcc = gcc_of("/"); found.sysroot.empty() && gcc.with_cpp != gcc.newest) found.gcc = gcc.with_cpp;
  return found;
}

}  // namespace

const Toolchain& toolchain() {
  static const Toolchain found = find_toolchain();
  return found;
}

SystemGcc gcc_of(const fs::path& system) {
  SystemGcc found;
  std::vector<int> newest, newest_with;
  std::error_code ignored;
  for (const char* folder :
       {"lib/gcc/x86_64-linux-gnu", "lib/gcc/x86_64-redhat-linux", "lib64/gcc/x86_64-suse-linux", "lib/gcc/x86_64-pc-linux-gnu"}) {
    for (const auto& entry : fs::directory_iterator(system / "usr" / folder, ignored)) {
      const auto name = entry.path().filename();
      const auto version = numbers_of(name);
      if (version.empty() || !is_there(entry.path() / "crtbegin.o")) continue;
      if (version > newest) newest = version, found.newest = entry.path();
      if (version > newest_with && is_there(system / "usr/include/c++" / name / "iostream"))
        newest_with = version, found.with_cpp = entry.path();
    }
  }
  return found;
}

std::vector<std::string> compiler_words(const std::string& compiler) {
  if (!toolchain().gcc.empty()) return {compiler, "--gcc-install-dir=" + toolchain().gcc};
  if (toolchain().sysroot.empty()) return {compiler};
  // The system may have no C++ library either.
  return {compiler, "--sysroot=" + toolchain().sysroot, "-static-libstdc++"};
}

std::string header_ahead(const std::string& name) {
  // clang makes an #include "…" of it, in which no quote can be written: then it is found where all our headers are.
  const std::string& folder = toolchain().include_directory;
  return (folder.find('"') == folder.npos ? folder + "/" : "") + "warpbeam/" + name;
}

std::string host_linker() {
  const std::string file = toolchain().library_directory + "/warpbeam/bin/clang++";
  return is_there(file) ? file : toolchain().clang;
}

std::string lowering_library() {
  const std::string file = toolchain().library_directory + "/libwarpbeam_lowering.so";
  return is_there(file) ? file : std::string();
}

}  // namespace warpbeam::compiler
