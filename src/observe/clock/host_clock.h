// The clock of a program that lives on a device's time (--clock device, WARPBEAM_CLOCK=device).
//
// It goes with real time, at --host-scale, while the program's own code runs, and stands still while a thread is inside the
// runtime, where all that our host computes would not be computed on a GPU's. What a call takes instead, the call adds:
// its own cost and what it waits for. Threads share one clock: a call that ends sets it to the end of that call, if it is
// not further already. Sleeping moves it on without taking the time; with several threads it takes as long as the others
// leave the clock behind, and never longer than it says.
//
// Where several threads wait for a device, the one whose wait ends first goes on first: a thread whose call ends later than it
// began stays in it (wait_turn) until no other one can ask for something before that. The others are where they can, once each of
// them waits as well, is inside no call and sleeps in the system, or has moved the clock that far by itself. Where host code is free
// threads also take turns to enter, by their times and then by their numbers, so that a run is like the next one.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace warpbeam::observe {

class HostClock {
 public:
  // Null: the program lives on its host's time.
  static HostClock* instance();

  double now();    // nanoseconds since the program began
  double floor();  // no thread asks the device for anything before
  bool several_threads() const { return threads_.load(std::memory_order_relaxed) > 1; }
  // The calling thread is inside until that moment; returns when no other thread is going to ask for something before it.
  void wait_turn(double until);
  // The calling thread in a timeline: its number in the system, or, where host code is free, which of those that called the runtime it is.
  int thread();

  // The calling thread enters the runtime and leaves it; calls within calls are told too.
  bool enter();  // true: it was outside
  bool leave();  // true: it is outside now
  bool inside() const;
  bool outermost() const;  // inside, and not of a call within a call
  uint64_t looks() const;  // how often the calling thread has read a clock outside
  double& here();  // the time of the calling thread, which is inside

  // The calling thread runs a function of the program's that a stream calls, from that moment on.
  void begin_function(double at);
  double end_function();  // how long it took

  void sleep(double nanoseconds);

  // Called whenever a thread outside of the runtime looks at the clock, before it sees what it says; it may have more to add (go_on_to).
  void before_looks(std::function<void()> what) { before_looks_ = new std::function(std::move(what)); }
  void go_on_to(double moment);

  // Real time, and what it was when the program began; the same for clocks of the system.
  static int64_t real();
  int64_t started(int clock_id);
  double scale() const { return scale_; }

 private:
  explicit HostClock(double scale);
  struct Thread;
  static Thread& self();
  void go_on(int64_t now);  // with the mutex held
  Thread& register_self();
  bool is_my_turn(const Thread& self, bool of_entry, bool* busy);  // with the mutex held
  bool somebody_runs(const Thread& self);
  void take_turn(Thread& self, double until, bool of_entry);

  const double scale_;
  const int64_t begun_;
  std::mutex mutex_;
  double time_ = 0;
  int64_t seen_;  // real time up to which time_ has gone on
  int inside_ = 0;  // threads
  std::vector<Thread*> all_;  // threads that were seen and live
  std::condition_variable changed_;
  std::atomic<const std::function<void()>*> before_looks_ = nullptr;  // never destroyed, as the clock
  std::atomic<int> threads_ = 0;  // that were ever seen
  std::atomic<int> numbered_ = 0;
};

}  // namespace warpbeam::observe
