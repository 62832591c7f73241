// Idea: rows of threads whose length is no power of two (10 by 10) begin at any lane, and go on in the next warp: nothing grows evenly in
// them. They are laid out so that each begins at a multiple of a power of two, with lanes behind it that are no threads: threadIdx.x then
// grows in runs as it does in rows of 16, and accesses are vectors.
// Precondition: nobody asks which threads are a warp: no instruction for warps, no lane numbers, no volatile words between lanes, no
// watcher. Postcondition: every thread does what it would. Fallback: lanes as threads are numbered.
#pragma once
#include "jit/plan.h"

namespace warpbeam::jit {

// How many threads a row has, if it is to be filled up; else 0.
uint32_t row_to_fill(const Flow& flow, const PlanRequest& request);
// The lanes of a warp that lacks none: where rows are filled up those that are threads.
uint32_t whole_warp(const KernelPlan& plan);
// The block with its rows filled up.
std::array<uint32_t, 3> filled(std::array<uint32_t, 3> block, uint32_t row);

}  // namespace warpbeam::jit
