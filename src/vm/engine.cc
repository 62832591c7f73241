#include "vm/engine.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "vm/builtins.h"
#include "vm/flatten.h"
#include "vm/flow_handlers.h"
#include "vm/warp.h"

namespace warpbeam::vm {

namespace {

void place_warp(Block& block, uint32_t warp, const Insn* at, uint32_t active) {
  Warp& w = *block.warps[warp];
  w.groups.clear();
  w.active = active;
  w.live = active;
  w.ip = at;
}

void place_lanes(Block& block, uint32_t warp, const Insn* at, uint32_t lanes) {
  Warp& w = *block.warps[warp];
  Group g;
  g.mask = lanes;
  g.ip = at;
  g.frame = w.frame;
  w.groups.push_back(g);
  w.live |= lanes;
}

void resume(Block& block) {
  block.live_threads = 0;
  for (auto& w : block.warps) {
    w->frame->lanes = w->live;
    block.live_threads += static_cast<uint32_t>(__builtin_popcount(w->live));
  }
}

Engine* load() {
  const char* choice = std::getenv("WARPBEAM_ENGINE");
  const std::string_view name = choice && *choice ? choice : "auto";
  if (name == "interpreter") return nullptr;
  // The library stands beside the one that holds this function, or in ../lib of a program that was linked whole.
  Dl_info here{};
  std::string folder;
  if (dladdr(reinterpret_cast<void*>(&place_warp), &here) && here.dli_fname) folder = here.dli_fname;
  folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/'));
  void* library = nullptr;
  for (const char* below : {"/libwarpbeam_jit.so", "/../lib/libwarpbeam_jit.so"})
    if (!library) library = dlopen((folder + below).c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto make = library ? reinterpret_cast<MakeEngine>(dlsym(library, kMakeEngine)) : nullptr;
  if (!make) {
    if (name == "jit") fmt::print(stderr, "warpbeam: the fast engine cannot be loaded: {}\n", dlerror());
    return nullptr;
  }
  static const EngineServices services{exec_label, exec_jump, exec_branch, exec_branch_table, exec_call, exec_call_builtin,
                                       exec_call_indirect, exec_pick_target, exec_ret, exec_exit, exec_not_pred, exec_read_special,
                                       library_function_call(), flatten, [](Block& b) { b.become_next(); },
                                       [](Block& b) { b.begin_watch(); }, [](Block& b) { b.end_watch(); }, [](Block& b) { b.prepare_warps(); }, [](Block& b) { b.take_local_memory(); },
                                       report_accesses, report_meeting, describe_access, place_warp, place_lanes, resume};
  return make(services);
}

std::atomic<Engine*> loaded{nullptr};

}  // namespace

Engine* engine() {
  static Engine* const chosen = loaded = load();
  return chosen;
}

void stop_engine_with_main_thread() {
  struct Stop {
    ~Stop() {
      if (Engine* e = loaded) e->stop();
    }
  };
  static thread_local bool looked = false;
  if (std::exchange(looked, true)) return;
  if (getpid() == gettid()) static thread_local Stop stop;
}

namespace {
[[maybe_unused]] const bool stops = (stop_engine_with_main_thread(), true);
}  // namespace

}  // namespace warpbeam::vm
