// Memory and events that processes share.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "cuda/devices/context.h"
#include "cuda/streams/ops.h"

namespace warpbeam::cuda {

// How often an event has been recorded by any process, and the latest record that is done.
struct SharedMoment {
  std::atomic<uint64_t> recorded, done;
  bool is_done() const { return done.load(std::memory_order_acquire) >= recorded.load(std::memory_order_acquire); }
};

// The pages of the allocation belong to several processes: they cannot be dropped to clear them.
bool shared_between_processes(uint64_t base);
// The allocation goes: its handle opens nothing any more. Who has opened it keeps it.
void forget_exported(uint64_t base);

// Null for events of this process alone.
std::shared_ptr<SharedMoment> shared_moment(const Event& event);
// A record of such an event on the stream.
void record_shared(const std::shared_ptr<SharedMoment>& moment, const StreamRef& stream);
// Keeps the stream waiting until what is recorded now is done, in whichever process.
void wait_shared(const std::shared_ptr<SharedMoment>& moment, const StreamRef& stream);
void forget_shared(const Event& event);

}  // namespace warpbeam::cuda
