// The techniques by name. `WARPBEAM_JIT_SHOW=plan` prints those that a kernel got, in this order; README.md says where each is
// decided and which test fails when it does not happen any more.
#pragma once
#include <cstdint>
#include <string_view>

namespace warpbeam::jit {

#define WB_TECHNIQUES(X)                           \
  X(DecisionsOfTheBlock, "decisions of the block") \
  X(LeavesEarly, "lanes leave early")              \
  X(UnrolledWhole, "unrolled to its end")          \
  X(UnrolledInPart, "unrolled block")              \
  X(BlockAfterBlock, "block after block")          \
  X(BlocksInAWarp, "blocks in a warp")             \
  X(LoneThread, "a lone thread")                   \
  X(FilledRows, "rows filled up")                  \
  X(OncePerBlock, "once for the block")            \
  X(RegionSpills, "spilled across barriers")       \
  X(IdleWarps, "idle warps")                       \
  X(GuessedMasks, "guessed masks")                 \
  X(PrefixLanes, "prefix lanes")                   \
  X(LonelyLanes, "lonely lanes")                   \
  X(WholeLoops, "whole loops")                     \
  X(SubwarpLoops, "subwarp loops")                 \
  X(WarpCoarsening, "warp coarsening")             \
  X(Counts, "counts")                              \
  X(Straight, "straight code")                     \
  X(Masks, "masks of stretches")                   \
  X(Dense, "dense accesses")                       \
  X(Windows, "windows")                            \
  X(Steps, "every second element")                 \
  X(RuntimeStrides, "runtime strides")             \
  X(Patterns, "uniform plus pattern")              \
  X(Stretches, "stretches")                        \
  X(CompressedStores, "compressed stores")         \
  X(InterleavedLoads, "interleaved loads")         \
  X(InterleavedStores, "interleaved stores")       \
  X(Records, "records")                            \
  X(DeferredTransposes, "deferred transposes")     \
  X(Streaming, "stores past the caches")           \
  X(NextBlocks, "next blocks named")               \
  X(NextTurns, "next turns named")                 \
  X(Gathers, "gathers")                            \
  X(Atomics, "atomics")                            \
  X(Cells, "cells")                                \
  X(LocalArrays, "local arrays")                   \
  X(Copies, "copies")                              \
  X(MemoryBarriers, "barriers in memory")          \
  X(Awaited, "cut at barriers in memory")          \
  X(Stops, "from stop to stop")                    \
  X(Waits, "stops to wait for others")             \
  X(SpecialFunctions, "special functions")         \
  X(Directed, "directed rounding")                 \
  X(LateNans, "NaNs looked for late")              \
  X(BytesAndHalves, "bytes and halves")            \
  X(Matrices, "matrices")                          \
  X(Textures, "textures")                          \
  X(ChosenCalls, "chosen calls")                   \
  X(LibraryCalls, "library calls")

enum class Technique : uint8_t {
#define X(name, words) name,
  WB_TECHNIQUES(X)
#undef X
};

constexpr std::string_view name_of(Technique t) {
  constexpr std::string_view kNames[] = {
#define X(name, words) words,
      WB_TECHNIQUES(X)
#undef X
  };
  return kNames[static_cast<int>(t)];
}

}  // namespace warpbeam::jit
