#include "vm/lockstep.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <thread>

#include "vm/code.h"
#include "vm/grid.h"
#include "vm/host_threads.h"
#include "vm/trace_text.h"

namespace warpbeam::vm {

namespace {

// What device memory held at some time.
class Snapshot {
 public:
  explicit Snapshot(const DeviceMemory& memory) : allocations_(memory.live()) {
    for (const Allocation& a : allocations_) {
      const auto* at = reinterpret_cast<const std::byte*>(a.base);
      bytes_.emplace_back(at, at + a.size);
    }
  }
  void restore() const {
    for (size_t k = 0; k < allocations_.size(); ++k)
      std::memcpy(reinterpret_cast<void*>(allocations_[k].base), bytes_[k].data(), bytes_[k].size());
  }
  bool same_allocations(const Snapshot& other) const {
    return std::equal(allocations_.begin(), allocations_.end(), other.allocations_.begin(), other.allocations_.end(),
                      [](const Allocation& a, const Allocation& b) { return a.serial == b.serial; });
  }
  // Says where the first difference is; empty when there is none.
  std::string difference(const Snapshot& other) const {
    for (size_t k = 0; k < allocations_.size(); ++k) {
      const auto [a, b] = std::mismatch(bytes_[k].begin(), bytes_[k].end(), other.bytes_[k].begin());
      if (a == bytes_[k].end()) continue;
      const auto offset = a - bytes_[k].begin();
      return fmt::format("byte {} of {} bytes at {:#x} ({}): {:#04x} and {:#04x}", offset, allocations_[k].size, allocations_[k].base,
                         allocations_[k].origin, static_cast<unsigned>(*a), static_cast<unsigned>(*b));
    }
    return "";
  }

 private:
  std::vector<Allocation> allocations_;
  std::vector<std::vector<std::byte>> bytes_;
};

// Runs the launch with recording code on both engines, from the same memory.
class Tracer {
 public:
  Tracer(const Launch& launch, const RunLaunch& first, const RunLaunch& second, const Snapshot& before)
      : launch_(launch), first_(first), second_(second), before_(before) {}

  std::string find() {
    const uint64_t per_block = uint64_t{launch_.block[0]} * launch_.block[1] * launch_.block[2];
    const uint64_t blocks = uint64_t{launch_.grid[0]} * launch_.grid[1] * launch_.grid[2];
    if (per_block * blocks > kMostThreads) return "the grid is too large to trace\n";
    TraceBuffer buffer;
    buffer.grid = launch_.grid;
    buffer.block = launch_.block;
    buffer.threads = static_cast<uint32_t>(per_block * blocks);
    if (auto failure = run(buffer); !failure.empty()) return failure;
    uint64_t block = blocks;
    for (uint64_t t = 0; t < buffer.threads && block == blocks; ++t)
      if (std::memcmp(&a_[t * buffer.stride()], &b_[t * buffer.stride()], 8)) block = t / per_block;
    if (block == blocks) return "with code that records registers the difference goes away\n";

    buffer.first_thread = static_cast<uint32_t>(block * per_block);
    buffer.threads = static_cast<uint32_t>(per_block);
    buffer.records = static_cast<uint32_t>(std::clamp<uint64_t>(kRecordBytes / 16 / per_block, 16, 1 << 20));
    for (int window = 0; window < kMostWindows; ++window, buffer.skip += buffer.records) {
      if (auto failure = run(buffer); !failure.empty()) return failure;
      if (auto text = compare(buffer, block); !text.empty()) return text;
    }
    return fmt::format("block {} computes a different register after more than {} values of a thread\n", block, buffer.skip);
  }

 private:
  static constexpr uint64_t kMostThreads = uint64_t{1} << 27;
  static constexpr uint64_t kRecordBytes = uint64_t{64} << 20;
  static constexpr int kMostWindows = 64;

  // Leaves what the two engines recorded in a_ and b_. Gives a text when it could not be done.
  std::string run(TraceBuffer& buffer) {
    DeviceMemory& memory = *launch_.memory;
    auto allocation = memory.allocate(buffer.bytes(), 256, MemoryKind::Device, "trace");
    if (!allocation) return "there is no memory left to trace\n";
    buffer.base = allocation->base;
    points_.clear();
    std::vector<std::string> texts;
    for (const auto& module : launch_.program->image().modules) texts.push_back(add_trace(*module, buffer, points_));
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    LoadOptions options;
    options.same_places = launch_.program;
    options.device_cc = launch_.program->image().device_cc;
    auto program = Program::load(views, memory, options);
    std::string failure;
    if (!program) {
      failure = "the recording code was refused: " + program.error().message + "\n";
    } else {
      Launch traced = launch_;
      traced.program = program->get();
      traced.kernel = (*program)->find_kernel(launch_.kernel->name);
      for (auto& [engine, record] : {std::pair{&first_, &a_}, {&second_, &b_}}) {
        before_.restore();
        std::memset(reinterpret_cast<void*>(buffer.base), 0, buffer.bytes());
        (*engine)(traced);
        const auto* at = reinterpret_cast<const std::byte*>(buffer.base);
        record->assign(at, at + buffer.bytes());
      }
    }
    memory.free(buffer.base);
    return failure;
  }

  // Of the threads' first differing records, one of a value that came from no other thread, if there is one.
  std::string compare(const TraceBuffer& buffer, uint64_t block) const {
    std::string found;
    for (uint32_t t = 0; t < buffer.threads; ++t) {
      const std::byte *a = &a_[t * buffer.stride()], *b = &b_[t * buffer.stride()];
      uint64_t count_a, count_b;
      std::memcpy(&count_a, a, 8);
      std::memcpy(&count_b, b, 8);
      const uint64_t most = std::max(count_a, count_b);
      const uint64_t records = most <= buffer.skip ? 0 : std::min<uint64_t>(most - buffer.skip, buffer.records);
      for (uint64_t k = 0; k < records; ++k) {
        TraceRecord x, y;
        std::memcpy(&x, a + 16 + 16 * k, 16);
        std::memcpy(&y, b + 16 + 16 * k, 16);
        const bool only_one = buffer.skip + k >= std::min(count_a, count_b);
        if (!only_one && x.value == y.value && x.point == y.point) continue;
        const TracePoint& point = points_[only_one && count_a < count_b ? y.point : x.point];
        if (found.empty() || !point.from_elsewhere) found = describe(point, t, block, x, y, only_one);
        if (!point.from_elsewhere) return found;
        break;
      }
    }
    return found;
  }

  std::string describe(const TracePoint& p, uint32_t thread, uint64_t block, const TraceRecord& x, const TraceRecord& y,
                       bool only_one) const {
    const auto& n = launch_.block;
    const auto& g = launch_.grid;
    std::string text = fmt::format("    first differing register: {} of thread ({},{},{}) in block ({},{},{})", p.reg, thread % n[0],
                                   thread / n[0] % n[1], thread / n[0] / n[1], block % g[0], block / g[0] % g[1], block / g[0] / g[1]);
    if (only_one || x.point != y.point) text += ": the threads go different ways from here on\n";
    else text += fmt::format(": {:#x} and {:#x}\n", x.value, y.value);
    text += fmt::format("    PTX line {}: {}\n", p.line, p.statement);
    if (!p.source.empty()) text += fmt::format("    from {}\n", p.source);
    return text;
  }

  const Launch& launch_;
  const RunLaunch &first_, &second_;
  const Snapshot& before_;
  std::vector<TracePoint> points_;
  std::vector<std::byte> a_, b_;
};

std::string trap_of(const LaunchResult& r) { return r.trap.kind == TrapKind::None ? "no fault" : r.trap.paragraph(); }

}  // namespace

bool lockstep_wanted() {
  static const bool wanted = [] {
    const char* choice = std::getenv("WARPBEAM_ENGINE");
    return choice && std::string_view(choice) == "lockstep";
  }();
  return wanted;
}

LockstepResult run_in_lockstep(const Launch& launch, const RunLaunch& first, const RunLaunch& second) {
  const Snapshot before(*launch.memory);
  const LaunchResult a = first(launch);
  const Snapshot after_a(*launch.memory);
  // What the kernel took or freed cannot be undone.
  if (!before.same_allocations(after_a)) return {a, ""};
  before.restore();
  LockstepResult both{second(launch), ""};
  const LaunchResult& b = both.result;
  const Snapshot after_b(*launch.memory);
  if (!after_a.same_allocations(after_b)) return both;

  std::string what;
  if (trap_of(a) != trap_of(b)) what = fmt::format("    faults: {}    and: {}", trap_of(a) + "\n", trap_of(b) + "\n");
  else if (a.printed != b.printed) what = fmt::format("    printed: {}\n    and: {}\n", a.printed, b.printed);
  // After a fault memory holds whatever other warps had written by then.
  else if (b.trap.kind == TrapKind::None)
    if (const std::string bytes = after_a.difference(after_b); !bytes.empty()) what = "    " + bytes + "\n";
  if (what.empty()) return both;
  both.difference = fmt::format("the engines differ in {}, grid ({},{},{}), block ({},{},{})\n{}", launch.kernel->display_name,
                                launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1], launch.block[2], what);
  both.difference += Tracer(launch, first, second, before).find();
  after_b.restore();
  return both;
}

std::shared_ptr<Grid> start_in_lockstep(Launch launch, std::function<void(LaunchResult&&)> done) {
  // Stands for the launch while its runs go on: it has no blocks of its own and never seems to wait.
  auto grid = std::make_shared<Grid>();
  grid->launch = launch;
  grid->last_progress = std::numeric_limits<int64_t>::max();
  std::thread([grid, launch = std::move(launch), done = std::move(done)]() mutable {
    const OwnThread own;
    static std::mutex one_launch;
    LockstepResult both;
    {
      std::lock_guard lock(one_launch);
      launch.one_block_at_a_time = true;
      const auto on = [](bool interpret) {
        return [interpret](Launch l) {
          l.interpret = interpret;
          return Machine::instance().run(std::move(l));
        };
      };
      both = run_in_lockstep(launch, on(false), on(true));
    }
    if (!both.difference.empty()) {
      std::fflush(nullptr);
      fmt::print(stderr, "========= lockstep: {}    (the fast engine's value stands first)\n", both.difference);
      std::fflush(stderr);
      _exit(kLockstepStatus);
    }
    done(std::move(both.result));
    std::lock_guard lock(grid->mutex);
    grid->finished = true;
    grid->finished_cv.notify_all();
  }).detach();
  return grid;
}

}  // namespace warpbeam::vm
