#include "observe/profiler/assembler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

#include "vm/code.h"

namespace warpbeam::observe {
namespace {

std::string find_ptxas() {
  std::string folders = std::getenv("PATH") ? std::getenv("PATH") : "";
  folders += ":/usr/local/cuda/bin";
  for (size_t at = 0; at <= folders.size();) {
    size_t end = folders.find(':', at);
    if (end == std::string::npos) end = folders.size();
    std::string path = folders.substr(at, end - at) + "/ptxas";
    if (end > at && access(path.c_str(), X_OK) == 0) return path;
    at = end + 1;
  }
  return "";
}

std::string folder_for_files() {
  const char* folder = std::getenv("TMPDIR");
  return folder && *folder ? folder : "/tmp";
}

// What a command says, on both of its outputs; null where it does not start.
class Said {
 public:
  explicit Said(std::vector<std::string> words) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    posix_spawn_file_actions_adddup2(&files, ends[1], 2);
    std::vector<char*> list;
    for (std::string& word : words) list.push_back(word.data());
    list.push_back(nullptr);
    if (posix_spawn(&process_, list[0], &files, nullptr, list.data(), environ) != 0) process_ = 0;
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (process_) text_ = fdopen(ends[0], "r");
    if (!text_) close(ends[0]);
  }
  ~Said() {
    if (text_) std::fclose(text_);
    if (process_) waitpid(process_, nullptr, 0);
  }
  Said(const Said&) = delete;
  FILE* text() const { return text_; }

 private:
  pid_t process_ = 0;
  FILE* text_ = nullptr;
};

// ptxas -v says `Compiling entry function 'k' for 'sm_90'`, and later `Used 12 registers, …`.
std::map<std::string, uint32_t> ask(const std::string& ptxas, const ptx::Module& module) {
  std::map<std::string, uint32_t> registers;
  std::string path = folder_for_files() + "/warpbeam-ptxas-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) return registers;
  FILE* text = fdopen(file, "w");
  std::fwrite(module.text.data(), 1, module.text.size(), text);
  std::fclose(text);
  const Said said_by_ptxas({ptxas, "-v", fmt::format("-arch=sm_{}", module.target_sm), "-o", "/dev/null", path});
  std::string entry;
  char line[4096];
  while (said_by_ptxas.text() && std::fgets(line, sizeof line, said_by_ptxas.text())) {
    const std::string_view said = line;
    constexpr std::string_view kEntry = "Compiling entry function '", kUsed = "Used ";
    if (size_t at = said.find(kEntry); at != said.npos) {
      at += kEntry.size();
      entry = said.substr(at, said.find('\'', at) - at);
    } else if (size_t used = said.find(kUsed); used != said.npos && !entry.empty()) {
      registers[entry] = static_cast<uint32_t>(std::strtoul(line + used + kUsed.size(), nullptr, 10));
    }
  }
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
