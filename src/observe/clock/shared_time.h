// What the processes of one machine have in common while they live on a device's time: the clock, which of their threads are in the
// runtime, and when each of them keeps the devices busy. It lies in memory that they share; a file in /dev/shm has its name until the
// last of them has ended.
//
// Of one machine are those that were started by one another, the ranks that one mpirun or srun has started, and whoever has the same word in
// WARPBEAM_MACHINE. Where there is no such memory a process is alone on its machine.
#pragma once
#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace warpbeam::observe {

struct Span {
  double begin = 0, end = 0;  // nanoseconds on the clock
};

// Parts of a device that processes take turns to use.
enum class SharedUnit : uint8_t { Kernels, ToDevice, ToHost };
inline constexpr size_t kUnits = 3;

struct SharedTime {
  static constexpr size_t kThreads = 2048, kProcesses = 64, kDevices = 8, kSpans = 32;
  static constexpr int kClocks = 12;  // CLOCK_REALTIME … CLOCK_TAI

  struct Thread {
    pid_t process, id;  // 0: nobody's
    int rank;  // of its process among those that came
    bool inside, waiting, looks_again;
    double until;  // when it wants to go on
    uint64_t seen;  // of what the others ask of the devices, if it looks_again
  };
  struct Busy {
    uint32_t count;
    Span spans[kSpans];
  };
  struct Process {
    pid_t id;  // 0: nobody's, or it has ended
    int64_t fresh;  // it was forked off at that real time, and has asked for nothing yet; 0: it has
    Busy busy[kDevices][kUnits];
  };

  // With the mutex held, from here on.
  double time;
  int64_t begun, seen;  // real time; up to which `time` has gone on
  int64_t looked;  // for processes that have died
  int inside, live;  // threads: in the runtime; at all
  int came;  // processes, ever
  size_t most_threads, most_processes;  // places that were ever taken
  int64_t started[kClocks];  // what the system's clocks said when it began
  uint64_t version;  // of what processes ask of the devices
  Thread threads[kThreads];
  Process processes[kProcesses];

  pthread_mutex_t mutex;
  std::atomic<int> alive;  // processes that have asked for something
  std::atomic<int64_t> forked;  // real time at which the last one was that has asked for nothing yet
  std::atomic<uint32_t> changed, waiters;
  std::atomic<uint32_t> ready;  // whether all this has been made

  void lock();
  void unlock() { pthread_mutex_unlock(&mutex); }
  // Without the mutex: somebody may go on; until then, or until so much later.
  void tell();
  void wait(uint32_t since, int64_t nanoseconds);

  // The slots of the calling process and of one of its threads; null: there are too many.
  Process* enter_process(int64_t fresh);
  void not_fresh(Process& process);
  Thread* enter_thread(int rank);
  void leave_thread(Thread& thread);
  void leave_process(pid_t id);
  void remove_dead();
};

// The machine of this process, which joins it. `now` gives what the system's clocks say.
SharedTime& shared_time(int64_t (*now)(int clock));
// In the child.
void forked_from_shared_time();

}  // namespace warpbeam::observe
