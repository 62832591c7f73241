#include "libraries/nccl/communicator.h"

#include <algorithm>

#include "cuda/library_calls.h"

namespace warpbeam::nccl {

// Calls that were issued together.
struct Communicator::Job {
  std::vector<Call> calls;
  size_t missing = 0;  // calls that their streams have not come to
  bool dropped = false;
  std::atomic<bool> done = false;

  void run(Room& room) const {
    std::vector<Transfer> transfers;
    for (const Call& call : calls) {
      if (call.transfer) transfers.push_back(*call.transfer);
      if (call.work) call.work(room);
    }
    exchange(room, transfers);
  }
};

// A call's place in its stream. When the stream never comes to it, or finds that the addresses are bad, the other ranks
// must not wait for this one.
struct Communicator::Turn {
  std::shared_ptr<Communicator> of;
  std::shared_ptr<Job> job;
  bool come = false;
  ~Turn() {
    if (!come) of->drop(*job);
  }
};

Communicator::Communicator(const std::string& room, int ranks, int rank, int device)
    : name(room), device_(device), room_(room, ranks, rank), thread_([this] { serve(); }) {}

Communicator::~Communicator() {
  {
    std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Communicator::fail(const Failure& failure) {
  std::lock_guard lock(mutex_);
  if (error_ == ncclSuccess) {
    last_error_ = failure.what();
    error_ = failure.result;
  }
}

void Communicator::serve() {
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return jobs_.empty() ? leaving_ : jobs_.front()->missing == 0 || jobs_.front()->dropped; });
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
      busy_ = true;
    }
    try {
      if (error_ == ncclSuccess && !job->dropped) job->run(room_);
    } catch (const Failure& failure) {
      fail(failure);
    } catch (const std::exception& failure) {
      fail({ncclInternalError, failure.what()});
    }
    {
      std::lock_guard lock(mutex_);
      job->done = true;
      busy_ = false;
    }
    changed_.notify_all();
  }
}

void Communicator::post(const std::shared_ptr<Job>& job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(job);
  }
  changed_.notify_all();
}

ncclResult_t Communicator::issue(std::vector<Call> calls) {
  OnDevice on(device_);
  for (const Call& call : calls) {
    cudaStreamCaptureStatus status;
    if (cudaStreamIsCapturing(call.stream, &status) != cudaSuccess) return ncclUnhandledCudaError;
    if (status != cudaStreamCaptureStatusNone) return ncclInvalidUsage;  // a graph cannot have it
  }
  auto job = std::make_shared<Job>();
  job->calls = std::move(calls);
  job->missing = job->calls.size();
  post(job);
  std::vector<cudaStream_t> streams;
  for (const Call& call : job->calls) {
    auto turn = std::make_shared<Turn>(shared_from_this(), job);
    const cudaError_t queued = cuda::enqueue_library_call(call.stream, call.name, 0, [turn, &call](cuda::LibraryMemory& memory) {
      for (const Range& r : call.reads) memory.reads(r.address, r.bytes);
      for (const Range& w : call.writes) memory.writes(w.address, w.bytes);
      turn->come = true;
      {
        std::lock_guard lock(turn->of->mutex_);
        --turn->job->missing;
      }
      turn->of->changed_.notify_all();
    });
    if (queued != cudaSuccess) return ncclUnhandledCudaError;
    if (std::ranges::find(streams, call.stream) == streams.end()) streams.push_back(call.stream);
  }
  for (cudaStream_t stream : streams)
    if (cuda::enqueue_library_wait(stream, [job] { return job->done.load(); }) != cudaSuccess) return ncclUnhandledCudaError;
  return ncclSuccess;
}

void Communicator::drop(Job& job) {
  {
    std::lock_guard lock(mutex_);
    job.dropped = true;
  }
  changed_.notify_all();
  room_.close();
}

void Communicator::abort() {
  {
    std::lock_guard lock(mutex_);
    for (const auto& job : jobs_) job->dropped = true;
  }
  changed_.notify_all();
  room_.close();
  finish();
}

std::shared_ptr<Communicator::Job> Communicator::begin(std::function<void(Room&)> work) {
  auto job = std::make_shared<Job>();
  Call call;
  call.work = std::move(work);
  job->calls.push_back(std::move(call));
  post(job);
  return job;
}

void Communicator::wait(const std::shared_ptr<Job>& job) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return job->done.load(); });
  if (error_ != ncclSuccess) throw Failure(error_, last_error_);
}

void Communicator::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty() && !busy_; });
}

ncclRedOp_t Communicator::add(const Factor* factor, const void* on_device, ncclDataType_t type) {
  std::lock_guard lock(mutex_);
  Operation& operation = operations_[next_operation_];
  if (factor) operation.factor = *factor;
  operation.on_device = on_device;
  operation.type = type;
  return static_cast<ncclRedOp_t>(next_operation_++);
}

bool Communicator::remove(ncclRedOp_t op) {
  std::lock_guard lock(mutex_);
  return operations_.erase(op) == 1;
}

std::optional<Communicator::Operation> Communicator::operation(ncclRedOp_t op, ncclDataType_t type) {
  std::lock_guard lock(mutex_);
  const auto found = operations_.find(op);
  if (found == operations_.end() || found->second.type != type) return std::nullopt;
  return found->second;
}

}  // namespace warpbeam::nccl
