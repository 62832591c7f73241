// What one access costs, by the rules of the device (model/transactions.h).
#pragma once
#include "model/device.h"
#include "model/transactions.h"
#include "observe/profiler/totals.h"
#include "vm/code.h"
#include "vm/observer.h"

namespace warpbeam::observe {

// False: lanes as far apart make other traffic at another place, be it a multiple of 256 bytes away.
bool count_access(const model::Device& device, model::BankMode mode, const vm::Insn& insn, const vm::Access& access, Counts& counts);

// Whether a GPU has no instruction for it, an atomic operation on shared memory, and goes round a loop: sums of floats, and 8 bytes
// but for plain exchanges.
bool is_shared_loop(const vm::Insn& insn, int cc);

// Whether it goes to shared memory by the name of a block of the cluster.
bool to_cluster(const vm::Access& access);
// What a lane asks for that is longer is a bulk copy.
inline constexpr uint32_t kMostOfLane = 32;

// So many accesses to words where lanes that want one word get it together: different words in the fullest bank, and altogether.
SharedPasses passes_of_words(uint64_t times, uint64_t most, uint64_t words);

// Both sides of a cp.async, by a device of 8.0 or later.
void count_copy(const model::Device& device, const vm::Insn& insn, const vm::Access& from, const vm::Access& to, Counts& counts);

// Bytes that one pass over the device's banks moves at best.
uint64_t bank_bytes(const model::Device& device);

}  // namespace warpbeam::observe
