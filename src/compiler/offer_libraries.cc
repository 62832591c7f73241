// The environment in which other people's programs find Warpbeam where they look for CUDA.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "compiler/process.h"
#include "compiler/toolchain.h"

namespace warpbeam::compiler {

namespace {

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// `place` before what the list has.
void put_first(const char* list, const std::string& place) {
  const char* set = std::getenv(list);
  const std::string_view rest = set ? set : "";
  if (rest == place || rest.starts_with(place + ":")) return;
  setenv(list, (place + (rest.empty() ? "" : ":") + std::string(rest)).c_str(), 1);
}

}  // namespace

void offer_libraries() {
  if (const char* set = std::getenv("WARPBEAM"); set && std::string_view(set) == "off") return;
  const Toolchain& own = toolchain();
  put_first("LD_LIBRARY_PATH", own.library_directory);
  // A library path comes behind RPATHs, and absolute paths do not ask for it (src/audit).
  if (const std::string audit = own.library_directory + "/libwarpbeam_audit.so"; exists(audit)) {
    put_first("LD_AUDIT", audit);
    // With an auditor the loader gives out the room for threads' own variables before it knows how much a program's libraries want (rustc's: 24 KB).
    const char* set = std::getenv("GLIBC_TUNABLES");
    const std::string tunables = set ? set : "";
    if (tunables.find("optional_static_tls") == tunables.npos)
      setenv("GLIBC_TUNABLES", (tunables + (tunables.empty() ? "" : ":") + "glibc.rtld.optional_static_tls=32768").c_str(), 1);
  }
  const std::string tools = own.root + "/bin";
  if (exists(tools + "/nvcc")) put_first("PATH", tools);
  if (const std::string clients = own.library_directory + "/warpbeam/clients"; exists(clients))
    put_first("PYTHONPATH", clients);  // src/clients
  // Where packages look for a toolkit's headers, tools and device library.
  if (exists(own.root + "/nvvm"))
    for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"}) setenv(name, own.root.c_str(), 0);
  // Triton has an assembler of its own, which makes what only NVIDIA's GPUs run, unless it is told of another one.
  setenv("TRITON_LIBCUDA_PATH", own.library_directory.c_str(), 0);
  if (const std::string assembler = tools + "/ptxas"; exists(assembler))
    for (const char* name : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"}) setenv(name, assembler.c_str(), 0);
}

}  // namespace warpbeam::compiler
