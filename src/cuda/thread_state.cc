#include "cuda/thread_state.h"

#include <atomic>
#include <type_traits>

namespace warpbeam::cuda {

static_assert(std::is_trivially_destructible_v<ThreadState>);

ThreadState& this_thread() {
  static std::atomic<unsigned long long> threads{0};
  thread_local ThreadState state;
  if (state.id == 0) state.id = ++threads;
  return state;
}

}  // namespace warpbeam::cuda
