// A way out of LLVM: over code that nobody has tried before it may go round in circles, or find that it cannot go on, which
// would end the process.
#pragma once
#include <functional>
#include <string>

namespace warpbeam::jit {

// Does `work`, or leaves it in its midst: when LLVM declares that it cannot go on, or when this thread has spent a minute of
// processor time there (WARPBEAM_COMPILE_SECONDS names another limit). Empty: it is done; otherwise why it is not, and what it
// was about has to be left lying as it is, as nothing of it can be trusted or freed.
std::string do_or_leave(const std::function<void()>& work);

}  // namespace warpbeam::jit
