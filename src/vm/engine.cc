#include "vm/engine.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "vm/builtins.h"
#include "vm/flatten.h"
#include "vm/matrix_lanes.h"
#include "vm/texture_lanes.h"
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
  static const EngineServices services{library_function_call(),
                                       flatten,
                                       [](Block& b) { b.become_next(); },
                                       [](Block& b) { b.begin_watch(); },
                                       [](Block& b) { b.end_watch(); },
                                       [](Block& b) { b.prepare_warps(); },
                                       [](Block& b) { b.take_local_memory(); },
                                       report_accesses,
                                       report_meeting,
                                       describe_access,
                                       place_warp,
                                       place_lanes,
                                       resume,
                                       Warp::location,
                                       reads_lanes,
                                       read_lanes,
                                       load_rows,
                                       store_rows};
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
constexpr uint64_t kWorthWaiting = 4u << 20;  // what is to be steady waits for its code, or does without
constexpr uint64_t kLittle = 1024;          // launches with so little to do are never worth it
constexpr uint64_t kFewTurns = 16;          // of a loop of which nothing is known
constexpr uint64_t kMostTurns = 1u << 31;
constexpr int64_t kInterpreted = 10;        // nanoseconds, about, for an instruction of a warp
// Nanoseconds. What a block has taken is waited for, and so is what is guessed to be longer than this, no longer than that.
constexpr int64_t kLongGuess = 50'000'000, kMostPatience = 100'000'000, kAnyPatience = 600'000'000'000;

// The largest whole number that the branch at `k` depends on.
uint64_t bound_of(const FunctionCode& code, size_t k) {
  constexpr size_t kNear = 16;  // the comparison stands just before
  const int32_t guard = code.insns[k].guard;
  uint64_t most = 0;
  for (size_t j = k; guard >= 0 && j-- > 0 && k - j < kNear;) {
    const Insn& i = code.insns[j];
    const isa::Row* row = i.source && !i.call ? i.source->form.row : nullptr;
    if (!row || row->kind != isa::Kind::Compare || i.op[0] != guard) continue;
    if (isa::is_float(i.type())) break;
    const size_t bytes = static_cast<size_t>(isa::bytes_of(i.type()));
    for (const int32_t at : {i.op[1], i.op[2]}) {
      uint64_t number = 0;
      const int64_t from = int64_t{at} - code.constants_at;
      if (from < 0 || from + static_cast<int64_t>(bytes) > static_cast<int64_t>(code.constants.size())) continue;
      std::memcpy(&number, code.constants.data() + from, bytes);
      if (number < kMostTurns) most = std::max(most, number);
    }
    break;
  }
  return most;
}

void look_through(const FunctionCode& code, KeptForEngine& kept) {
  std::vector<int32_t> deeper(code.insns.size() + 1);
  kept.turns = kFewTurns;
  size_t left = size_t{1} << 20;  // looks at instructions of loops, which may be many and long
  for (size_t k = 0; k < code.insns.size(); ++k) {
    const uint32_t begin = code.insns[k].target;
    if (begin > k) continue;  // no way back; kNoTarget is beyond all
    ++deeper[begin];
    --deeper[k + 1];
    for (size_t j = begin; j <= k && left; ++j, --left)
      if (const uint32_t to = code.insns[j].target; to != kNoTarget && (j == k || to < begin || to > k))
        kept.turns = std::max(kept.turns, bound_of(code, j));
  }
  int32_t depth = 0;
  for (size_t k = 0; k < code.insns.size(); ++k) {
    depth += deeper[k];
    ++kept.instructions[static_cast<size_t>(std::clamp(depth, 0, 2))];
  }
}

// How often loops turn, guessed: as often as the largest whole number says that the kernel is given.
uint64_t guess_turns(const Launch& launch, uint64_t turns) {
  for (const KernelParam& p : launch.kernel->params) {
    uint64_t number = 0;
    if (!p.may_count || p.size > sizeof(number) || p.offset + p.size > launch.params.size()) continue;
    std::memcpy(&number, launch.params.data() + p.offset, p.size);
    if (number < kMostTurns) turns = std::max(turns, number);  // else it is a pointer, or less than nothing
  }
  return turns;
}

// The instructions of a warp.
uint64_t guess_work(const KeptForEngine& kept, uint64_t turns) {
  return kept.instructions[0] + (kept.instructions[1] + kept.instructions[2] * kFewTurns) * turns;
}

KeptForEngine& kept_for(const Code& code) {
  static std::mutex& mutex = *new std::mutex;
  std::lock_guard lock(mutex);
  if (!code.compiled) code.compiled = std::make_shared<KeptForEngine>();
  return *static_cast<KeptForEngine*>(code.compiled.get());
}

// By all warps of a launch, before it has run.
uint64_t guess_all(const Launch& launch, const KeptForEngine& kept) {
  const uint64_t warps = (uint64_t(launch.block[0]) * launch.block[1] * launch.block[2] + kWarpSize - 1) / kWarpSize;
  return uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] * warps * guess_work(kept, kFewTurns);
}

struct Prospect {
  bool worth_it = false;
  int64_t patience = 0;
};

// Counts the launch, or another look at it.
Prospect prospect_of(const Launch& launch) {
  KeptForEngine& kept = kept_for(*launch.kernel->code);
  std::lock_guard lock(kept.mutex);
  if (!kept.turns) look_through(*launch.kernel->code->function, kept);
  const uint64_t warps = (uint64_t(launch.block[0]) * launch.block[1] * launch.block[2] + kWarpSize - 1) / kWarpSize;
  auto& [work, slowest] = kept.seen[version_of(launch)];
  if (work < kWorthWaiting) work += guess_all(launch, kept);
  const bool steady = is_steady(launch);
  if (slowest && !steady) return {true, slowest};
  // Blocks of a cooperative launch begin together, and the interpreter's go on with it to their ends.
  const uint64_t together = launch.cooperative ? uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] : 1;
  const double guess =
      static_cast<double>(together * warps) * static_cast<double>(guess_work(kept, guess_turns(launch, kept.turns))) * kInterpreted;
  if (guess > kLongGuess) return {true, steady ? kAnyPatience : kMostPatience};
  return {work >= (steady ? kWorthWaiting : kWorthCompiling), steady ? kAnyPatience : 0};
}

}  // namespace

Engine::Found find_compiled(const Launch& launch, bool long_run, bool may_wait) {
  Loading& l = loading();
  if (l.choice == Loading::Choice::Interpreter) return {};
  const Prospect prospect = prospect_of(launch);
  const bool worth_it = prospect.worth_it || long_run || l.choice == Loading::Choice::Jit;
  Engine* engine = l.engine;
  if (!engine) {
    if (!worth_it) return {nullptr, true};
    engine = l.load();
  }
  return engine ? engine->find(launch, worth_it, may_wait ? prospect.patience : 0) : Engine::Found{};
}

void tell_of_block(const Launch& launch, int64_t took) {
  KeptForEngine& kept = kept_for(*launch.kernel->code);
  {
    std::lock_guard lock(kept.mutex);
    int64_t& slowest = kept.seen[version_of(launch)].slowest;
    if (took <= slowest) return;
    slowest = took;
  }
  find_compiled(launch, true, false);  // for the next launch
}

void tell_of_work(const Launch& launch, const Wanted& wanted, uint64_t instructions) {
  if (!wanted.steady || instructions < kWorthWaiting / kLittle) return;
  KeptForEngine& kept = kept_for(*launch.kernel->code);
  std::lock_guard lock(kept.mutex);
  uint64_t& work = kept.seen[version_of(launch, wanted)].work;
  if (work < kWorthWaiting) work += instructions - std::min(instructions, guess_all(launch, kept));  // the guess was counted before
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
