// The watchers there are: a row per value of WARPBEAM_TOOL.
#pragma once
#include <array>
#include <memory>
#include <string_view>

#include "observe/tool.h"

namespace warpbeam::observe {

std::unique_ptr<Tool> make_profiler();
std::unique_ptr<Tool> make_checker();
std::unique_ptr<Tool> make_device_clock();  // WARPBEAM_CLOCK=device; null: there is no such device

struct ToolRow {
  std::string_view name;
  std::unique_ptr<Tool> (*make)();
};

inline constexpr std::array kTools{
    ToolRow{"profile", make_profiler},
    ToolRow{"check", make_checker},
};

}  // namespace warpbeam::observe
