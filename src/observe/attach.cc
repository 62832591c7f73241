#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/known_once.h"
#include "observe/activity.h"
#include "observe/clock/host_clock.h"
#include "observe/tool.h"
#include "observe/tools.h"

namespace warpbeam::observe {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::unique_ptr<Tool> make_tool() {
  const std::string_view name = environment("WARPBEAM_TOOL");
  if (name.empty()) return HostClock::instance() ? make_device_clock() : nullptr;
  for (const ToolRow& row : kTools)
    if (row.name == name) return row.make();
  fmt::print(stderr, "warpbeam: WARPBEAM_TOOL={}: there is no such tool\n", name);
  return nullptr;
}

const void* own_module() {
  static const void* base = [] {
    Dl_info info{};
    return dladdr(reinterpret_cast<void*>(&own_module), &info) ? info.dli_fbase : nullptr;
  }();
  return base;
}

struct Module {
  uint64_t begin = ~uint64_t{0}, end = 0;
  bool is_ours = false;
};

// In the folder of this library there are those on top of it: cuBLAS and the like.
std::vector<Module> loaded_modules() {
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(&own_module), &own);
  const std::string_view file = own.dli_fname ? own.dli_fname : "";
  struct Found {
    std::string_view folder;
    std::vector<Module> all;
  } found{file.substr(0, file.rfind('/') + 1), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& into = *static_cast<Found*>(data);
        Module module;
        for (int k = 0; k < info->dlpi_phnum; ++k) {
          const ElfW(Phdr)& part = info->dlpi_phdr[k];
          if (part.p_type != PT_LOAD) continue;
          module.begin = std::min<uint64_t>(module.begin, info->dlpi_addr + part.p_vaddr);
          module.end = std::max<uint64_t>(module.end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
        }
        const std::string_view name = info->dlpi_name ? info->dlpi_name : "";
        const auto here = reinterpret_cast<uint64_t>(&own_module);
        module.is_ours =
            (here >= module.begin && here < module.end) || (!into.folder.empty() && name.substr(0, name.rfind('/') + 1) == into.folder);
        into.all.push_back(module);
        return 0;
      },
      &found);
  return found.all;
}

// Whether code at an address is of the runtime or of a library of its own. Every launch asks for some: dladdr looks for
// names each time.
bool in_platform(uint64_t address) {
  static std::mutex mutex;
  static std::vector<Module>& modules = *new std::vector<Module>(loaded_modules());
  const auto holds = [&](const Module& m) { return address >= m.begin && address < m.end; };
  std::lock_guard lock(mutex);
  auto found = std::ranges::find_if(modules, holds);
  if (found == modules.end()) {  // loaded since
    modules = loaded_modules();
    found = std::ranges::find_if(modules, holds);
  }
  return found != modules.end() && found->is_ours;
}

}  // namespace

// Never destroyed: kernels may run while the process ends.
Tool* tool() {
  static Tool* const attached = [] {
    Tool* fresh = make_tool().release();
    auto finish = [] {
      if (Tool* last = tool()) last->finish();
    };
    if (fresh) std::atexit(finish), std::at_quick_exit(finish);
    return fresh;
  }();
  return attached ? attached : activity_tool();
}

std::string recording_path() {
  const std::string_view folder = environment("WARPBEAM_RECORDING");
  return folder.empty() ? "" : fmt::format("{}/{}.json", folder, getpid());
}

std::string tool_options() {
  const std::string_view text = environment("WARPBEAM_TOOL_OPTIONS");
  return text.empty() ? "{}" : std::string(text);
}

std::vector<uint64_t> callers(size_t limit) {
  struct Walk {
    std::vector<uint64_t> found;
    size_t limit;
  } walk{{}, limit};
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* data) {
        auto& walk = *static_cast<Walk*>(data);
        const uint64_t address = _Unwind_GetIP(context);
        if (address && !in_platform(address)) walk.found.push_back(address);
        return walk.found.size() < walk.limit ? _URC_NO_REASON : _URC_END_OF_STACK;
      },
      &walk);
  return walk.found;
}

std::string called_function() {
  struct Place {
    bool is_ours = false;
    std::string name;  // of the exported function there
  };
  // dladdr looks at all that is exported each time.
  static KnownOnce<uint64_t, Place>& known = *new KnownOnce<uint64_t, Place>;
  std::string name;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* data) {
        const uint64_t address = _Unwind_GetIP(context);
        const Place& place = known.get(address, [&] {
          Dl_info info{};
          const bool is_ours = dladdr(reinterpret_cast<void*>(address), &info) && info.dli_fbase == own_module();
          return Place{is_ours, is_ours && info.dli_sname ? info.dli_sname : ""};
        });
        if (!place.is_ours) return _URC_END_OF_STACK;
        if (!place.name.empty()) *static_cast<std::string*>(data) = place.name;
        return _URC_NO_REASON;
      },
      &name);
  for (const char* twin : {"_ptsz", "_ptds"})
    if (name.ends_with(twin)) name.resize(name.size() - 5);
  return name;
}

std::string module_offset(uint64_t address) {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(address), &info) || !info.dli_fname) return "";
  // The loader knows the program itself only by the name it was called.
  std::string file = info.dli_fname;
  char path[4096];
  if (!file.starts_with("/"))
    if (const ssize_t n = readlink("/proc/self/exe", path, sizeof path); n > 0) file.assign(path, static_cast<size_t>(n));
  return fmt::format("{}+{:#x}", file, address - reinterpret_cast<uint64_t>(info.dli_fbase));
}

}  // namespace warpbeam::observe
