// A program may end without coming to its end: by a signal, or by _exit. What has been recorded is written then too.
#pragma once
#include <functional>

namespace warpbeam::observe {

// Calls `write` once, when the process is about to end like that, with the signal or 0. Not on the thread that ends it, which waits for a few
// seconds; where a signal comes while something that `write` needs is locked, it goes without. Calls `save` every now and then, as
// nobody is told that a process is killed.
void on_sudden_end(std::function<void(int signal)> write, std::function<void()> save);

// The process is about to end by a function that runs no destructors.
void end_suddenly();

}  // namespace warpbeam::observe
