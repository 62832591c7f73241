// What a program learns at its end if it did not ask: a kernel has failed, and every call since then.
#pragma once
#include <driver_types.h>

namespace warpbeam::cuda {

// A context has failed: from now on calls that fail are counted, and an exit with status 0, or by a signal, is told of.
void report_at_exit(cudaError_t error) noexcept;
void count_failed_call(cudaError_t status) noexcept;
void failure_was_seen() noexcept;  // the program has asked for an error's code or words

}  // namespace warpbeam::cuda
