// Waiting for what others do soon: to sleep and be woken takes a thread longer than a small kernel runs, on virtual machines
// several times as long.
#pragma once
#include <chrono>
#include <mutex>
#include <thread>

namespace warpbeam::vm {

inline constexpr std::chrono::microseconds kSoon{50};

inline void pause() { __builtin_ia32_pause(); }

// Looks until it is done, for so long at most; false: it is not.
template <class Done>
bool soon(Done done, std::chrono::nanoseconds most = kSoon) {
  static const bool alone = std::thread::hardware_concurrency() == 1;
  if (done()) return true;
  if (alone) return false;
  const auto until = std::chrono::steady_clock::now() + most;
  do {
    for (int k = 0; k < 8; ++k) {
      pause();
      if (done()) return true;
    }
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

// Of a mutex that nobody holds for long.
inline std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  for (int k = 0; k < 64; ++k) {
    if (mutex.try_lock()) return {mutex, std::adopt_lock};
    pause();
  }
  return std::unique_lock(mutex);
}

}  // namespace warpbeam::vm
