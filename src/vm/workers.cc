#include "vm/workers.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "vm/host_threads.h"

namespace warpbeam::vm {

namespace {

// For each of the host's processors.
std::array<unsigned, CPU_SETSIZE> processor_numbers() {
  std::array<unsigned, CPU_SETSIZE> numbers{};
  cpu_set_t ours;
  if (sched_getaffinity(0, sizeof ours, &ours) != 0) return numbers;
  for (unsigned k = 0, next = 0; k < CPU_SETSIZE; ++k)
    if (CPU_ISSET(k, &ours)) numbers[k] = next++;
  return numbers;
}

}  // namespace

unsigned current_processor() {
  static const std::array<unsigned, CPU_SETSIZE> numbers = processor_numbers();
  const int here = sched_getcpu();
  return here < 0 || here >= CPU_SETSIZE ? 0 : numbers[static_cast<size_t>(here)];
}

thread_local Workers::Worker* Workers::self_ = nullptr;

void Workers::start(unsigned count, const std::function<void()>& loop) {
  if (!all_.empty()) return;
  for (unsigned k = 0; k < count; ++k) {
    Worker& worker = all_.emplace_back();
    try {
      worker.thread = std::thread([&worker, loop] {
        const OwnThread own;
        self_ = &worker;
        worker.id = gettid();
        loop();
      });
    } catch (const std::system_error&) {  // the host gives no more threads: those there are run all blocks
      all_.pop_back();
      if (all_.empty()) throw;
      return;
    }
  }
}

uint64_t Workers::awake() const {
  return static_cast<uint64_t>(std::ranges::count_if(all_, [](const Worker& w) { return !w.asleep; }));
}

void Workers::call(uint64_t wanted, uint64_t coming) {
  const uint64_t looking = awake() - std::min<uint64_t>(awake(), busy_) + coming;
  for (uint64_t k = looking; k < wanted && awake() < all_.size(); ++k) call_one();
}

void Workers::call_one() {
  cpu_set_t taken;
  CPU_ZERO(&taken);
  const auto take = [&](int processor) {
    if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(processor, &taken);
  };
  take(sched_getcpu());
  for (const Worker& w : all_)
    if (!w.asleep) take(w.processor);
  const auto is_taken = [&](const Worker& w) { return w.processor >= 0 && w.processor < CPU_SETSIZE && CPU_ISSET(w.processor, &taken); };
  auto best = std::ranges::find_if(all_, [&](const Worker& w) { return w.asleep && !is_taken(w); });
  if (best == all_.end()) {
    best = std::ranges::find_if(all_, &Worker::asleep);
    if (best == all_.end()) return;
    keep_off(*best, taken);
  }
  best->asleep = false;
  best->called.notify_one();
}

// Until it is awake there.
void Workers::keep_off(Worker& worker, const cpu_set_t& processors) {
  if (sched_getaffinity(worker.id, sizeof worker.usual, &worker.usual) != 0) return;
  cpu_set_t others;
  CPU_XOR(&others, &worker.usual, &processors);
  CPU_AND(&others, &others, &worker.usual);
  worker.kept_off = CPU_COUNT(&others) && sched_setaffinity(worker.id, sizeof others, &others) == 0;
}

void Workers::fall_asleep() {
  self_->processor = sched_getcpu();
  self_->asleep = true;
}

void Workers::wake_up() {
  self_->asleep = false;
  if (self_->kept_off) sched_setaffinity(0, sizeof self_->usual, &self_->usual);
  self_->kept_off = false;
  self_->processor = sched_getcpu();
}

void Workers::sleep(std::unique_lock<std::mutex>& lock) {
  fall_asleep();
  self_->called.wait(lock, [] { return !self_->asleep; });
  wake_up();
}

void Workers::sleep(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds most) {
  fall_asleep();
  self_->called.wait_for(lock, most, [] { return !self_->asleep; });
  wake_up();
}

}  // namespace warpbeam::vm
