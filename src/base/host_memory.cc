#include "base/host_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace warpbeam {
namespace {

// The number behind a word of a file of such lines, as /proc/meminfo and memory.stat are.
std::optional<uint64_t> number_behind(const std::string& file, const std::string& word) {
  std::ifstream in(file);
  for (std::string name; in >> name;) {
    uint64_t number = 0;
    if (name == word && in >> number) return number;
    in.clear();
    std::getline(in, name);
  }
  return std::nullopt;
}

std::optional<uint64_t> number_in(const std::string& file) {
  std::ifstream in(file);
  uint64_t number = 0;
  if (in >> number) return number;
  return std::nullopt;  // "max", or no such file
}

// What a group and those around it leave. Pages that only cache files are given back when there is need of them.
uint64_t left_by_group(const std::string& mount, std::string path, const char* limit, const char* usage, const char* cache) {
  uint64_t least = UINT64_MAX;
  for (;;) {
    const std::string folder = mount + path + "/";
    const auto most = number_in(folder + limit), used = number_in(folder + usage);
    if (most && used) {
      const uint64_t taken = *used - std::min(*used, number_behind(folder + "memory.stat", cache).value_or(0));
      least = std::min(least, *most - std::min(*most, taken));
    }
    const size_t slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos) return least;
    path.resize(slash);
  }
}

uint64_t left_by_groups() {
  uint64_t least = UINT64_MAX;
  std::ifstream in("/proc/self/cgroup");  // number:controllers:path
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (controllers.empty())
      least = std::min(least, left_by_group("/sys/fs/cgroup", path, "memory.max", "memory.current", "inactive_file"));
    else if (("," + controllers + ",").find(",memory,") != std::string::npos)
      least = std::min(
          least, left_by_group("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"));
  }
  return least;
}

}  // namespace

uint64_t available_host_memory() {
  const auto available = number_behind("/proc/meminfo", "MemAvailable:");
  const uint64_t swap = number_behind("/proc/meminfo", "SwapFree:").value_or(0);
  return std::min(available ? (*available + swap) * 1024 : UINT64_MAX, left_by_groups());
}

}  // namespace warpbeam
