#include "vm/engine.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

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

Engine* load_library(bool say) {
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
    if (say) fmt::print(stderr, "warpbeam: the fast engine cannot be loaded: {}\n", dlerror());
    return nullptr;
  }
  static const EngineServices services{exec_label, exec_jump, exec_branch, exec_branch_table, exec_call, exec_call_builtin,
                                       exec_call_indirect, exec_pick_target, exec_ret, exec_exit, exec_not_pred, exec_read_special,
                                       library_function_call(), flatten, [](Block& b) { b.become_next(); },
                                       [](Block& b) { b.begin_watch(); }, [](Block& b) { b.end_watch(); }, [](Block& b) { b.prepare_warps(); }, [](Block& b) { b.take_local_memory(); },
                                       report_accesses, report_meeting, describe_access, place_warp, place_lanes, resume};
  return make(services);
}

// The engine, once a kernel is worth it.
struct Loading {
  enum class Choice : uint8_t { Interpreter, Auto, Jit } choice = Choice::Auto;
  std::mutex mutex;
  bool over = false;  // nothing is loaded any more: it was tried, or the process ends
  std::atomic<Engine*> engine{nullptr};

  Loading() {
    const char* set = std::getenv("WARPBEAM_ENGINE");
    const std::string_view name = set ? set : "";
    if (name == "interpreter") choice = Choice::Interpreter;
    if (name == "jit") choice = Choice::Jit;
  }
  Engine* load() {
    std::lock_guard lock(mutex);
    if (!std::exchange(over, true)) engine = load_library(choice == Choice::Jit);
    return engine;
  }
  void stop() {
    std::lock_guard lock(mutex);
    over = true;
    if (Engine* e = engine) e->stop();
  }
};

// Never destroyed: host threads go on while a process ends.
Loading& loading() {
  static Loading& one = *new Loading;
  return one;
}

// What compiling costs must be won back.
constexpr uint64_t kWorthCompiling = 1u << 20;

// How much a thread does in a kernel, in instructions, guessed: a loop is taken to turn so many times.
uint64_t guess_work(const FunctionCode& code) {
  constexpr uint64_t kTurns = 16;
  std::vector<int32_t> deeper(code.insns.size() + 1);
  for (size_t k = 0; k < code.insns.size(); ++k)
    if (const uint32_t to = code.insns[k].target; to <= k) {  // a way back; kNoTarget is beyond all
      ++deeper[to];
      --deeper[k + 1];
    }
  uint64_t work = 0;
  int32_t depth = 0;
  for (size_t k = 0; k < code.insns.size(); ++k) {
    depth += deeper[k];
    work += depth <= 0 ? 1 : depth == 1 ? kTurns : kTurns * kTurns;
  }
  return work;
}

KeptForEngine& kept_for(const Code& code) {
  static std::mutex& mutex = *new std::mutex;
  std::lock_guard lock(mutex);
  if (!code.compiled) code.compiled = std::make_shared<KeptForEngine>();
  return *static_cast<KeptForEngine*>(code.compiled.get());
}

// Counts the launch, or an other look at it.
bool is_worth_it(const Launch& launch) {
  KeptForEngine& kept = kept_for(*launch.kernel->code);
  std::lock_guard lock(kept.mutex);
  if (!kept.work_of_warp) kept.work_of_warp = guess_work(*launch.kernel->code->function);
  const uint64_t warps = (uint64_t(launch.block[0]) * launch.block[1] * launch.block[2] + kWarpSize - 1) / kWarpSize;
  uint64_t& work = kept.work[version_of(launch)];
  if (work < kWorthCompiling) work += uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] * warps * kept.work_of_warp;
  return work >= kWorthCompiling;
}

}  // namespace

Engine::Found find_compiled(const Launch& launch, bool long_run) {
  Loading& l = loading();
  if (l.choice == Loading::Choice::Interpreter) return {};
  const bool worth_it = is_worth_it(launch) || long_run || l.choice == Loading::Choice::Jit;
  Engine* engine = l.engine;
  if (!engine) {
    if (!worth_it) return {nullptr, true};
    engine = l.load();
  }
  return engine ? engine->find(launch, worth_it) : Engine::Found{};
}

uint64_t compiled_so_far() {
  const Engine* engine = loading().engine;
  return engine ? engine->ready.load() : 0;
}

void stop_engine_with_main_thread() {
  struct Stop {
    ~Stop() { loading().stop(); }
  };
  static thread_local bool looked = false;
  if (std::exchange(looked, true)) return;
  if (getpid() == gettid()) static thread_local Stop stop;
}

namespace {
[[maybe_unused]] const bool stops = (stop_engine_with_main_thread(), true);
}  // namespace

}  // namespace warpbeam::vm
