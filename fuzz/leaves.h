// What stands at the leaves of a random kernel: single statements, and the few that belong together.
#pragma once
#include "fuzz/kernel.h"
#include "fuzz/palette.h"

namespace warpbeam::fuzz {

// What is known where a node stands.
struct Place {
  bool uniform = false;          // all threads of the block come by together: barriers may stand here
  bool masked = false;           // the lanes that are here are known: they may speak to each other
  bool may_break = false;        // a loop is around that any lane may leave
  bool breaks_together = false;  // directly in a loop whose other lanes notice who leaves
  bool function = false;         // in a function, which has registers alone
  bool exited = false;           // threads may have ended
  int callable = 0;              // functions below this number may be called
  int depth = 0, loops = 0;
};

class Leaves {
 public:
  Leaves(const Kernel& kernel, Random& random, const Palette& palette) : kernel_(kernel), random_(random), palette_(palette) {}
  Node make(const Place& place);

 private:
  using Lines = std::vector<std::string>;
  std::string guarded(const std::string& statement);
  Lines compute();
  Lines carry();
  Lines input();
  Lines own_place(const Place& place);
  Lines own_atomic();
  Lines cell(const Place& place);
  Lines local();
  Lines constant();
  Lines special();
  Lines call(const Place& place);
  Lines among_lanes(const Place& place);
  Lines barrier(const Place& place);
  // A statement that waits for others or orders what others see, in a form that `barrier` does not write.
  Lines meeting(const Place& place);
  Lines exchange();
  Lines async_copy();
  // Leaves the address of this thread's place of the size in %a0 (or %t0, of shared memory); gives what stands in [..].
  std::string place_address(Lines& lines, bool shared, int size_log2);
  std::string index(Lines& lines, uint32_t limit);

  const Kernel& kernel_;
  Random& random_;
  const Palette& palette_;
  Random others_{kernel_.seed ^ 0x6d656574};  // does not change what follows a choice of `random_`: seeds keep their kernels otherwise
};

}  // namespace warpbeam::fuzz
