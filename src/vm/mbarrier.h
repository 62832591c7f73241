// Barriers in shared memory, as asynchronous copies see them.
#pragma once
#include "vm/warp.h"

namespace warpbeam::vm {

// The object's eight bytes, from the lowest bit on: awaited arrivals, arrivals of a phase, bytes still to come (counted from
// kZeroTransactions), whether it is one, phase.
inline constexpr uint32_t kMostCount = (1u << 20) - 1;
inline constexpr int64_t kZeroTransactions = int64_t{1} << 21;
inline constexpr int kExpectedAt = 20, kTransactionsAt = 40, kValidAt = 62, kPhaseAt = 63;
inline constexpr uint64_t kTransactionsMask = 0x3fffff;

// A copy of `bytes` that the mbarrier at `address` (of any block of the cluster) waits for is complete.
void complete_transactions(Warp& w, const Insn& i, int lane, uint64_t address, uint64_t bytes);

}  // namespace warpbeam::vm
