// The call that the calling thread is in, and what it leaves to the next one.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace warpbeam::observe {

struct CallState {
  double entered = 0;       // when it began
  bool charged = false;     // it has a cost
  bool asked = false;       // and asked only
  bool has_waited = false;  // and waited, on that device, for these operations (of many some), which end at that time
  bool sleeps = false;      // in what it is going to wait for
  int waited_on = 0;
  std::array<uint64_t, 16> waited_for{};
  size_t waited_count = 0;
  double waited_until = 0;
  bool quick = false;       // and left the host's caches as they were
  double cold = 1;          // how much of what a launch needs they have not
  double cold_memory = 1;   // the same, of what an allocation needs
  bool allocates = false;   // or frees
  double went = 0;          // when the thread left the runtime last
  uint64_t looks = 0;       // at the clock, when it launched last
  uint64_t last_stream = 0; // that it launched in
  double launched_apart = -1;  // what threads had done by themselves then, in all their launches; less than 0: it has launched nothing
  double graph_nodes = 0, graph_branches = 0;  // of the graph that it makes, brings up to date or destroys
  uint64_t last_launch = 0; // of this call; 0: none
};
inline thread_local CallState this_call;

}  // namespace warpbeam::observe
