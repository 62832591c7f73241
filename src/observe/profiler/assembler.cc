#include "observe/profiler/assembler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "vm/code.h"

namespace warpbeam::observe {
namespace {

bool is_plain(std::string_view path) { return path.find('\'') == path.npos; }

std::string find_ptxas() {
  std::string folders = std::getenv("PATH") ? std::getenv("PATH") : "";
  folders += ":/usr/local/cuda/bin";
  for (size_t at = 0; at <= folders.size();) {
    size_t end = folders.find(':', at);
    if (end == std::string::npos) end = folders.size();
    std::string path = folders.substr(at, end - at) + "/ptxas";
    if (end > at && is_plain(path) && access(path.c_str(), X_OK) == 0) return path;
    at = end + 1;
  }
  return "";
}

std::string folder_for_files() {
  const char* folder = std::getenv("TMPDIR");
  return folder && *folder && is_plain(folder) ? folder : "/tmp";
}

// ptxas -v says `Compiling entry function 'k' for 'sm_90'`, and later `Used 12 registers, …`.
std::map<std::string, uint32_t> ask(const std::string& ptxas, const ptx::Module& module) {
  std::map<std::string, uint32_t> registers;
  std::string path = folder_for_files() + "/warpbeam-ptxas-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) return registers;
  FILE* text = fdopen(file, "w");
  std::fwrite(module.text.data(), 1, module.text.size(), text);
  std::fclose(text);
  FILE* pipe = popen(
      fmt::format("'{}' -v -arch=sm_{} -o /dev/null '{}' 2>&1 </dev/null", ptxas, module.target_sm, path).c_str(), "r");
  std::string entry;
  char line[4096];
  while (pipe && std::fgets(line, sizeof line, pipe)) {
    const std::string_view said = line;
    constexpr std::string_view kEntry = "Compiling entry function '", kUsed = "Used ";
    if (size_t at = said.find(kEntry); at != said.npos) {
      at += kEntry.size();
      entry = said.substr(at, said.find('\'', at) - at);
    } else if (size_t used = said.find(kUsed); used != said.npos && !entry.empty()) {
      registers[entry] = static_cast<uint32_t>(std::strtoul(line + used + kUsed.size(), nullptr, 10));
    }
  }
  if (pipe) pclose(pipe);
  unlink(path.c_str());
  return registers;
}

}  // namespace

uint32_t Assembler::registers(const vm::Launch& launch) {
  // Never destroyed: kernels may run while the process ends.
  static const std::string& ptxas = *new std::string(find_ptxas());
  if (ptxas.empty()) return 0;
  const ptx::Module& module = *launch.kernel->code->function->module;
  const size_t key = std::hash<std::string>()(module.text);
  auto [it, fresh] = known_.try_emplace(key);
  if (fresh) it->second = ask(ptxas, module);
  const auto found = it->second.find(launch.kernel->name);
  return found == it->second.end() ? 0 : found->second;
}

}  // namespace warpbeam::observe
