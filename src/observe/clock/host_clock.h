// The clock of a program that lives on a device's time (--clock device, WARPBEAM_CLOCK=device).
//
// It goes with real time, at --host-scale, while the program's own code runs, and stands still while a thread is inside the
// runtime, where all that our host computes would not be computed on a GPU's. What a call takes instead, the call adds:
// its own cost and what it waits for. Threads, and processes of one machine (shared_time.h), share one clock: a call that ends sets it to
// the end of that call, if it is not further already. Sleeping moves it on without taking the time; with several threads it takes as long as the others
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
#include <vector>

#include "observe/clock/shared_time.h"

namespace warpbeam::observe {

class HostClock {
 public:
  // Null: the program lives on its host's time.
  static HostClock* instance();

  double now();  // nanoseconds since the program began
  double floor();  // no thread asks the device for anything before
  // Others may ask for something meanwhile: threads of this process, or other processes of its machine.
  bool several_threads() const { return threads_.load(std::memory_order_relaxed) > 1 || other_processes(); }
  bool other_processes() const;  // there are some, or one has just been forked off
  bool several_processes() const { return shared_.alive.load(std::memory_order_relaxed) > 1; }
  // The calling thread is inside until that moment; returns when no other thread is going to ask for something before it. `again` says what
  // has become of the moment, where other processes have asked the devices for something since.
  void wait_turn(double until, const std::function<double()>& again = nullptr);
  // Which of the processes of its machine this is, in the order in which they came.
  int process();

  // When this process keeps that part of a device busy, as far as is known now; true: that is news.
  bool keep_busy(int device, SharedUnit unit, const std::vector<Span>& spans);
  // When others do, if that has changed since `*seen`.
  bool others_busy(int device, uint64_t* seen, std::vector<Span> (&spans)[kUnits]);
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
  int64_t started(int clock_id);  // that of the processor time: of this process
  double scale() const { return scale_; }

 private:
  explicit HostClock(double scale);
  struct Thread;
  class Lock;
  static Thread& self();
  void go_on(int64_t now);  // with the mutex held, as the next three
  Thread& register_self();
  void register_process();
  bool is_my_turn(const Thread& self, bool of_entry, bool* busy);
  bool somebody_runs();
  void take_turn(Thread& self, double until, bool of_entry, const std::function<double()>& again);
  void look_for_dead(int64_t now);
  void forked();

  const double scale_;
  SharedTime& shared_;
  SharedTime::Process* process_ = nullptr;  // as soon as a thread of it has asked for the time
  int rank_ = 0;
  double came_ = 0;
  bool left_ = false;  // it ends: what its threads do counts for nobody else
  std::atomic<const std::function<void()>*> before_looks_ = nullptr;  // never destroyed, as the clock
  std::atomic<int> threads_ = 0;  // of this process that were ever seen
  std::atomic<int> numbered_ = 0;
  std::atomic<int64_t> patience_for_order_;
};

}  // namespace warpbeam::observe
