#include "driver/toolchain.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <filesystem>

namespace warpbeam::driver {

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

Toolchain find_toolchain() {
  namespace fs = std::filesystem;
  Toolchain found;
  found.driver = own_path();
  fs::path prefix = fs::path(found.driver).parent_path().parent_path();
  found.library_directory = prefix / "lib";
  found.root = prefix;
  // Of a build directory, the sources' own: messages name them, and its link to them is for others.
  std::error_code ignored;
  const fs::path sources = prefix.parent_path().parent_path() / "include";
  found.include_directory = fs::exists(sources / "warpbeam" / "prelude.h", ignored) ? sources : prefix / "include";
  return found;
}

}  // namespace

const Toolchain& toolchain() {
  static const Toolchain found = find_toolchain();
  return found;
}

std::string lowering_library() {
  const std::string file = toolchain().library_directory + "/libwarpbeam_lowering.so";
  std::error_code ignored;
  return std::filesystem::exists(file, ignored) ? file : std::string();
}

}  // namespace warpbeam::driver
