// What collective calls do once every rank has come to them: rounds in which each rank fills its slot and then takes
// what it needs from the others'.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "libraries/nccl/reduce.h"
#include "libraries/nccl/room.h"

namespace warpbeam::nccl {

// A call's buffers; null where a rank has none.
struct Buffers {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclInt8;
  size_t bytes() const { return count * bytes_of(type); }
};

struct Reduction {
  ncclRedOp_t op = ncclSum;
  std::optional<Factor> factor;
};

void all_reduce(Room& room, const Buffers& buffers, const Reduction& reduction);
void reduce_to(Room& room, const Buffers& buffers, const Reduction& reduction, int root);
void reduce_scatter(Room& room, const Buffers& buffers, const Reduction& reduction);
void broadcast(Room& room, const Buffers& buffers, int root);
void all_gather(Room& room, const Buffers& buffers);
void all_to_all(Room& room, const Buffers& buffers);
void gather(Room& room, const Buffers& buffers, int root);
void scatter(Room& room, const Buffers& buffers, int root);

// A message to another rank or from it.
struct Transfer {
  bool sends = false;
  int peer = 0;
  std::byte* data = nullptr;
  size_t bytes = 0;
};
// All at once: each goes on when its partner does.
void exchange(Room& room, const std::vector<Transfer>& transfers);

}  // namespace warpbeam::nccl
