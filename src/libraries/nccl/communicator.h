// One rank of a communicator. Its calls take their places in streams; when a stream has come to one, the rank's own
// thread talks with the other ranks, in the order in which the calls were made, and the stream waits for it.
#pragma once
#include <cuda_runtime_api.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "libraries/nccl/messages.h"

namespace warpbeam::nccl {

struct Range {
  const void* address;
  size_t bytes;
};

// A call before it is issued: `work`, or a transfer that goes on with others of its group.
struct Call {
  std::string name;
  cudaStream_t stream = nullptr;
  std::vector<Range> reads, writes;
  std::function<void(Room&)> work;
  std::optional<Transfer> transfer;
};

class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  Communicator(const std::string& room, int ranks, int rank, int device);
  ~Communicator();

  Room& room() { return room_; }
  int device() const { return device_; }
  ncclResult_t issue(std::vector<Call> calls);
  // Work that no stream waits for, behind what was issued.
  struct Job;
  std::shared_ptr<Job> begin(std::function<void(Room&)> work);
  void wait(const std::shared_ptr<Job>& job);  // fails as the communicator has
  void finish();                               // waits for what was issued
  void abort();                                // ends it, here and for the other ranks
  ncclResult_t error() const { return error_.load(); }
  const std::string& last_error() const { return last_error_; }

  ncclRedOp_t add(const Factor* factor, const void* on_device, ncclDataType_t type);  // a user's operation
  bool remove(ncclRedOp_t op);
  // Nothing: there is no such operation for the type. The factor may be known only later, from device memory.
  struct Operation {
    std::optional<Factor> factor;
    const void* on_device = nullptr;
    ncclDataType_t type = ncclInt8;
  };
  std::optional<Operation> operation(ncclRedOp_t op, ncclDataType_t type);

  const std::string name;  // of the room
  int splits = 0;

 private:
  struct Turn;
  void serve();
  void drop(Job& job);
  void post(const std::shared_ptr<Job>& job);
  void fail(const Failure& failure);

  const int device_;
  Room room_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> jobs_;
  bool leaving_ = false, busy_ = false;
  std::atomic<ncclResult_t> error_ = ncclSuccess;
  std::string last_error_;
  std::map<int, Operation> operations_;
  int next_operation_ = ncclNumOps;
  std::thread thread_;
};

// The current device, for as long as this lives.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    cudaGetDevice(&before_);
    if (before_ != device) cudaSetDevice(device);
  }
  ~OnDevice() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

}  // namespace warpbeam::nccl
