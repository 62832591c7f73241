// The machine's own threads: which of them sleep, and which one is woken, where.
//
// To wake a thread takes longer than a small kernel runs, and one too many takes the processor from those that run it. And
// where the host's scheduler does not know which processors share a cache, as in many virtual machines, it wakes a thread
// where it ran last, though whoever wakes it goes on there and another processor has nothing to do.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace warpbeam::vm {

// Which of the processors that the process could use when it began this thread runs on: from 0 on, without gaps.
unsigned current_processor();

// One mutex, which is the machine's, is held by whoever calls; `sleep` lets go of it meanwhile.
class Workers {
 public:
  // Each runs `loop`; the second time nothing happens.
  void start(unsigned count, const std::function<void()>& loop);

  static bool has_this_thread() { return self_; }

  // There is something to do for so many threads, `coming` of which come by themselves. Wakes as many as are missing beside
  // those that look for something to do.
  void call(uint64_t wanted, uint64_t coming);
  void call_one();

  // The thread that calls, a worker, until it is called, or for so long.
  void sleep(std::unique_lock<std::mutex>& lock);
  void sleep(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds most);

  // Of a worker, which need not hold the mutex: it has something to do and will not look for more.
  void begin_work() { ++busy_; }
  void end_work() { --busy_; }

 private:
  struct Worker {
    std::thread thread;
    std::condition_variable called;
    bool asleep = false;
    pid_t id = 0;
    int processor = -1;    // where it ran when it last fell asleep or woke
    bool kept_off = false;
    cpu_set_t usual;       // where it may run otherwise
  };
  static void fall_asleep();
  static void wake_up();
  static void keep_off(Worker& worker, const cpu_set_t& processors);
  uint64_t awake() const;

  static thread_local Worker* self_;
  std::deque<Worker> all_;
  std::atomic<uint64_t> busy_{0};
};

}  // namespace warpbeam::vm
