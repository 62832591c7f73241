// Where the ranks of a communicator meet: shared memory that they find by its name, whether they are threads of one
// process or processes. Every rank has a slot that the others read, and there is a mailbox for each sender and
// receiver.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "nccl.h"

namespace warpbeam::nccl {

// What a call ends with.
struct Failure : std::runtime_error {
  Failure(ncclResult_t result, const std::string& why) : std::runtime_error(why), result(result) {}
  ncclResult_t result;
};

constexpr char kRoomPrefix[] = "/warpbeam-nccl-";  // of rooms' names
constexpr size_t kSlotBytes = 256 << 10;
constexpr size_t kLetterBytes = 64 << 10;

// A letter is under way while fewer have been taken than sent.
struct Mailbox {
  alignas(64) std::atomic<uint64_t> sent;
  alignas(64) std::atomic<uint64_t> taken;
  alignas(64) std::byte letter[kLetterBytes];
};

struct Wish {  // what a rank asks for when a communicator is split
  int color, key;
};

class Room {
 public:
  // Makes the room if nobody is there yet.
  Room(const std::string& name, int ranks, int rank);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }
  void wait_for_all();                                  // have come in, but no longer than WARPBEAM_NCCL_TIMEOUT seconds (600)
  void meet();                                          // returns when all have called it
  void wait_until(const std::function<bool()>& ready);  // fails when the room is closed or a process is gone
  void close();                                         // everybody's waits fail

  std::byte* slot(int rank);
  std::byte* result();  // of a reduction, for all
  Mailbox& mailbox(int from, int to);
  Wish& wish(int rank);

 private:
  struct Head;
  struct Person;
  void enter();
  void look_for_the_gone();
  void reserve(size_t offset, size_t bytes);  // memory that is not there is an error here, and no signal later
  Person& person(int rank) const;

  std::string name_;
  int ranks_, rank_;
  int file_ = -1;
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
  uint64_t meetings_ = 0;
  std::vector<char> has_mailbox_;
};

}  // namespace warpbeam::nccl
