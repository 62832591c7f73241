// The C interface: what may be asked is checked here, and what is said between ncclGroupStart and ncclGroupEnd is kept.
#include "nccl.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <random>
#include <unordered_map>
#include <utility>

#include "libraries/nccl/communicator.h"

// Under both names.
#define WB_NCCL(name, arguments)                                                                             \
  extern "C" __attribute__((visibility("default"), alias("nccl" #name))) ncclResult_t pnccl##name arguments; \
  extern "C" __attribute__((visibility("default"))) ncclResult_t nccl##name arguments

namespace {

using namespace warpbeam::nccl;
using Ref = std::shared_ptr<Communicator>;

struct Live {
  std::mutex mutex;
  std::unordered_map<const void*, Ref> all;
};

// Never destroyed: programs call until their last moment.
Live& live() {
  static auto* live = new Live;
  return *live;
}

thread_local std::string t_last_error;

ncclResult_t refuse(ncclResult_t result, std::string why) {
  t_last_error = std::move(why);
  return result;
}

template <class Body>
ncclResult_t guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const Failure& failure) {
    return refuse(failure.result, failure.what());
  } catch (const std::bad_alloc&) {
    return refuse(ncclSystemError, "out of memory");
  } catch (const std::exception& exception) {
    return refuse(ncclInternalError, exception.what());
  }
}

Ref find(ncclComm_t handle) {
  std::lock_guard lock(live().mutex);
  const auto found = live().all.find(handle);
  if (found == live().all.end()) throw Failure(ncclInvalidArgument, "not a communicator");
  return found->second;
}

ncclComm_t publish(const Ref& communicator) {
  std::lock_guard lock(live().mutex);
  live().all[communicator.get()] = communicator;
  return reinterpret_cast<ncclComm_t>(communicator.get());
}

Ref forget(ncclComm_t handle) {
  std::lock_guard lock(live().mutex);
  const auto found = live().all.find(handle);
  if (found == live().all.end()) throw Failure(ncclInvalidArgument, "not a communicator");
  Ref out = std::move(found->second);
  live().all.erase(found);
  return out;
}

// What a thread has asked for since ncclGroupStart. All of a step is done before any of the next: one thread may speak
// for several ranks, which wait for each other.
struct Group {
  int depth = 0;
  std::vector<std::pair<Ref, Call>> calls;
  std::vector<std::function<ncclResult_t()>> steps[2];
  ncclResult_t failed = ncclSuccess;  // the first failure of a call in it

  ncclResult_t run() {
    Group asked = std::exchange(*this, Group());
    ncclResult_t result = asked.failed;
    for (auto& some : asked.steps)
      for (auto& step : some)
        if (result == ncclSuccess) result = guarded(step);
    while (result == ncclSuccess && !asked.calls.empty()) {
      const Ref of = asked.calls.front().first;
      std::vector<Call> together;
      for (auto& [communicator, call] : asked.calls)
        if (communicator == of) together.push_back(std::move(call));
      std::erase_if(asked.calls, [&](const auto& c) { return c.first == of; });
      result = guarded([&] { return of->issue(std::move(together)); });
    }
    return result;
  }
};

thread_local Group t_group;

template <class Body>
ncclResult_t in_group(Body&& body) noexcept {
  const ncclResult_t result = guarded([&] {
    body(t_group);
    return t_group.depth == 0 ? t_group.run() : ncclSuccess;
  });
  if (result == ncclSuccess) return result;
  if (t_group.depth == 0) t_group = Group();
  else if (t_group.failed == ncclSuccess) t_group.failed = result;
  return result;
}

void require(bool holds, const char* why) {
  if (!holds) throw Failure(ncclInvalidArgument, why);
}

void require_type(ncclDataType_t type) { require(type >= 0 && type < ncclNumTypes, "not a data type"); }
void require_rank(const Ref& of, int rank) { require(rank >= 0 && rank < of->room().ranks(), "not a rank of this communicator"); }

const std::byte* bytes(const void* p) { return static_cast<const std::byte*>(p); }
std::byte* bytes(void* p) { return static_cast<std::byte*>(p); }

// The operation as it is when the call is made; a factor in device memory is read when its turn has come.
std::function<Reduction()> reduction_of(const Ref& of, ncclRedOp_t op, ncclDataType_t type) {
  if (op >= 0 && op < ncclNumOps) return [op] { return Reduction{op, std::nullopt}; };
  const auto own = of->operation(op, type);
  require(own.has_value(), "not a reduction of this communicator and type");
  return [own = *own] {
    Reduction reduction{ncclSum, own.factor};
    if (own.on_device) {
      reduction.factor.emplace();
      std::memcpy(reduction.factor->bits, own.on_device, bytes_of(own.type));
    }
    return reduction;
  };
}

constexpr int kNoRoot = -1;

// What a rank is in a collective call, and what it does there: how many times `count` it reads and writes.
struct Share {
  size_t ranks;
  bool is_root;
};
struct Part {
  size_t reads, writes;
  std::function<void(Room&)> work;
};

template <class Prepare>
ncclResult_t collective(const char* name, const Buffers& b, int root, ncclComm_t comm, cudaStream_t stream, Prepare&& prepare) {
  return in_group([&](Group& group) {
    const Ref of = find(comm);
    require_type(b.type);
    if (root != kNoRoot) require_rank(of, root);
    Part part = prepare(of, b, Share{static_cast<size_t>(of->room().ranks()), of->room().rank() == root});
    Call call{name, stream, {}, {}, std::move(part.work), std::nullopt};
    if (part.reads) call.reads.push_back({b.from, part.reads * b.bytes()});
    if (part.writes) call.writes.push_back({b.to, part.writes * b.bytes()});
    group.calls.emplace_back(of, std::move(call));
  });
}

ncclUniqueId new_id() {
  ncclUniqueId id = {};
  std::random_device random;
  snprintf(id.internal, sizeof id.internal, "%s%08x%08x%08x", kRoomPrefix, random(), random(), random());
  return id;
}

std::string room_of(const ncclUniqueId& id) {
  const std::string name(id.internal, strnlen(id.internal, sizeof id.internal));
  require(name.starts_with(kRoomPrefix) && name.find('/', 1) == name.npos, "the id is not from ncclGetUniqueId");
  return name;
}

void init(Group& group, ncclComm_t* out, int ranks, const ncclUniqueId& id, int rank, int device) {
  require(out != nullptr, "no place for the communicator");
  *out = nullptr;
  require(ranks >= 1 && rank >= 0 && rank < ranks, "the rank is not one of the communicator's");
  const auto made = std::make_shared<Communicator>(room_of(id), ranks, rank, device);
  *out = publish(made);
  group.steps[1].push_back([made] {
    made->room().wait_for_all();
    return ncclSuccess;
  });
}

int current_device() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) throw Failure(ncclUnhandledCudaError, "there is no device");
  return device;
}

void check(const ncclConfig_t* config) {
  require(!config || config->magic == NCCL_API_MAGIC, "the configuration was not made with NCCL_CONFIG_INITIALIZER");
}

// A rank's place among those that asked for the same colour.
struct Place {
  int rank = 0, ranks = 0;
};
Place place_in(Room& room, int color) {
  std::vector<std::pair<int, int>> alike;
  for (int r = 0; r < room.ranks(); ++r)
    if (room.wish(r).color == color) alike.emplace_back(room.wish(r).key, r);
  std::sort(alike.begin(), alike.end());
  Place place{0, static_cast<int>(alike.size())};
  while (alike[static_cast<size_t>(place.rank)].second != room.rank()) ++place.rank;
  return place;
}

}  // namespace

WB_NCCL(GetVersion, (int* version)) {
  if (!version) return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

WB_NCCL(GetUniqueId, (ncclUniqueId * id)) {
  return guarded([&] {
    require(id != nullptr, "no place for the id");
    *id = new_id();
    return ncclSuccess;
  });
}

extern "C" __attribute__((visibility("default"))) const char* ncclGetErrorString(ncclResult_t result) {
  static constexpr const char* kTexts[] = {"no error",
                                           "unhandled cuda error",
                                           "unhandled system error",
                                           "internal error",
                                           "invalid argument",
                                           "invalid usage",
                                           "remote process exited or there was a network error",
                                           "NCCL operation in progress"};
  return result >= 0 && result < ncclNumResults ? kTexts[result] : "unknown result code";
}
extern "C" __attribute__((visibility("default"), alias("ncclGetErrorString"))) const char* pncclGetErrorString(ncclResult_t result);

extern "C" __attribute__((visibility("default"))) const char* ncclGetLastError(ncclComm_t comm) {
  guarded([&] {
    if (comm)
      if (const Ref of = find(comm); of->error() != ncclSuccess) t_last_error = of->last_error();
    return ncclSuccess;
  });
  return t_last_error.c_str();
}
extern "C" __attribute__((visibility("default"), alias("ncclGetLastError"))) const char* pncclGetLastError(ncclComm_t comm);

WB_NCCL(CommInitRankConfig, (ncclComm_t * comm, int nranks, ncclUniqueId id, int rank, ncclConfig_t* config)) {
  return in_group([&](Group& group) {
    check(config);
    init(group, comm, nranks, id, rank, current_device());
  });
}

WB_NCCL(CommInitRank, (ncclComm_t * comm, int nranks, ncclUniqueId id, int rank)) {
  return ncclCommInitRankConfig(comm, nranks, id, rank, nullptr);
}

WB_NCCL(CommInitRankScalable, (ncclComm_t * comm, int nranks, int rank, int count, ncclUniqueId* ids, ncclConfig_t* config)) {
  if (count < 1 || !ids) return refuse(ncclInvalidArgument, "there is no id");
  return ncclCommInitRankConfig(comm, nranks, ids[0], rank, config);
}

WB_NCCL(CommInitAll, (ncclComm_t * comms, int count, const int* devices)) {
  return in_group([&](Group& group) {
    int present = 0;
    if (cudaGetDeviceCount(&present) != cudaSuccess) throw Failure(ncclUnhandledCudaError, "there is no device");
    require(comms != nullptr && count >= 0, "no place for the communicators");
    const auto device = [&](int i) { return devices ? devices[i] : i; };
    for (int i = 0; i < count; ++i) {
      require(device(i) >= 0 && device(i) < present, "there is no such device (WARPBEAM_DEVICES says how many there are)");
      for (int k = 0; k < i; ++k)
        if (device(k) == device(i)) throw Failure(ncclInvalidUsage, "a device is listed twice");
    }
    const ncclUniqueId id = new_id();
    for (int i = 0; i < count; ++i) init(group, comms + i, count, id, i, device(i));
  });
}

WB_NCCL(CommSplit, (ncclComm_t comm, int color, int key, ncclComm_t* out, ncclConfig_t* config)) {
  return in_group([&](Group& group) {
    check(config);
    require(out != nullptr, "no place for the communicator");
    require(color >= 0 || color == NCCL_SPLIT_NOCOLOR, "a colour is not negative");
    *out = nullptr;
    const Ref of = find(comm);
    const auto place = std::make_shared<Place>();
    const auto asked = of->begin([=](Room& room) {
      room.wish(room.rank()) = {color, key};
      room.meet();
      *place = place_in(room, color);
      room.meet();
    });
    const std::string name = of->name + "-" + std::to_string(of->splits++) + "-" + std::to_string(color);
    const auto made = std::make_shared<Ref>();
    group.steps[0].push_back([=] {
      of->wait(asked);
      if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
      *made = std::make_shared<Communicator>(name, place->ranks, place->rank, of->device());
      *out = publish(*made);
      return ncclSuccess;
    });
    group.steps[1].push_back([=] {
      if (*made) (*made)->room().wait_for_all();
      return ncclSuccess;
    });
  });
}

WB_NCCL(CommFinalize, (ncclComm_t comm)) {
  return guarded([&] {
    find(comm)->finish();
    return ncclSuccess;
  });
}

WB_NCCL(CommDestroy, (ncclComm_t comm)) {
  if (!comm) return ncclSuccess;
  return guarded([&] {
    forget(comm)->finish();
    return ncclSuccess;
  });
}

WB_NCCL(CommAbort, (ncclComm_t comm)) {
  if (!comm) return ncclSuccess;
  return guarded([&] {
    forget(comm)->abort();
    return ncclSuccess;
  });
}

WB_NCCL(CommGetAsyncError, (ncclComm_t comm, ncclResult_t* error)) {
  return guarded([&] {
    require(error != nullptr, "no place for the error");
    *error = find(comm)->error();
    return ncclSuccess;
  });
}

WB_NCCL(CommCount, (const ncclComm_t comm, int* count)) {
  return guarded([&] {
    require(count != nullptr, "no place for the count");
    *count = find(comm)->room().ranks();
    return ncclSuccess;
  });
}

WB_NCCL(CommCuDevice, (const ncclComm_t comm, int* device)) {
  return guarded([&] {
    require(device != nullptr, "no place for the device");
    *device = find(comm)->device();
    return ncclSuccess;
  });
}

WB_NCCL(CommUserRank, (const ncclComm_t comm, int* rank)) {
  return guarded([&] {
    require(rank != nullptr, "no place for the rank");
    *rank = find(comm)->room().rank();
    return ncclSuccess;
  });
}

WB_NCCL(MemAlloc, (void** pointer, size_t size)) {
  if (!pointer || size == 0) return refuse(ncclInvalidArgument, "nothing to allocate");
  return cudaMalloc(pointer, size) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
WB_NCCL(MemFree, (void* pointer)) { return cudaFree(pointer) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError; }

// Messages go the same way whether their memory was registered or not.
WB_NCCL(CommRegister, (const ncclComm_t comm, void* buffer, size_t size, void** handle)) {
  return guarded([&] {
    require(handle != nullptr && buffer != nullptr && size > 0, "nothing to register");
    find(comm);
    *handle = buffer;
    return ncclSuccess;
  });
}
WB_NCCL(CommDeregister, (const ncclComm_t comm, void*)) {
  return guarded([&] {
    find(comm);
    return ncclSuccess;
  });
}

WB_NCCL(RedOpCreatePreMulSum, (ncclRedOp_t * op, void* scalar, ncclDataType_t type, ncclScalarResidence_t where, ncclComm_t comm)) {
  return guarded([&] {
    require(op != nullptr && scalar != nullptr, "no place for the operation, or no factor");
    require_type(type);
    Factor factor = {};
    if (where == ncclScalarHostImmediate) std::memcpy(factor.bits, scalar, bytes_of(type));
    const bool now = where == ncclScalarHostImmediate;
    *op = find(comm)->add(now ? &factor : nullptr, now ? nullptr : scalar, type);
    return ncclSuccess;
  });
}
WB_NCCL(RedOpDestroy, (ncclRedOp_t op, ncclComm_t comm)) {
  return guarded([&] {
    require(find(comm)->remove(op), "not an operation of this communicator");
    return ncclSuccess;
  });
}

WB_NCCL(AllReduce, (const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)) {
  return collective("ncclAllReduce", {bytes(from), bytes(to), count, type}, kNoRoot, comm, stream,
                    [&](const Ref& of, const Buffers& b, const Share&) -> Part {
                      return {1, 1, [b, how = reduction_of(of, op, type)](Room& room) { all_reduce(room, b, how()); }};
                    });
}

WB_NCCL(Reduce,
        (const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)) {
  return collective("ncclReduce", {bytes(from), bytes(to), count, type}, root, comm, stream,
                    [&](const Ref& of, const Buffers& b, const Share& share) -> Part {
                      const auto how = reduction_of(of, op, type);
                      return {1, share.is_root, [=](Room& room) { reduce_to(room, b, how(), root); }};
                    });
}

WB_NCCL(ReduceScatter,
        (const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)) {
  return collective("ncclReduceScatter", {bytes(from), bytes(to), count, type}, kNoRoot, comm, stream,
                    [&](const Ref& of, const Buffers& b, const Share& share) -> Part {
                      const auto how = reduction_of(of, op, type);
                      return {share.ranks, 1, [=](Room& room) { reduce_scatter(room, b, how()); }};
                    });
}

WB_NCCL(Broadcast, (const void* from, void* to, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream)) {
  return collective("ncclBroadcast", {bytes(from), bytes(to), count, type}, root, comm, stream,
                    [&](const Ref&, const Buffers& b, const Share& share) -> Part {
                      return {share.is_root, 1, [=](Room& room) { broadcast(room, b, root); }};
                    });
}

WB_NCCL(Bcast, (void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream)) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

WB_NCCL(AllGather, (const void* from, void* to, size_t count, ncclDataType_t type, ncclComm_t comm, cudaStream_t stream)) {
  return collective(
      "ncclAllGather", {bytes(from), bytes(to), count, type}, kNoRoot, comm, stream,
      [](const Ref&, const Buffers& b, const Share& share) -> Part { return {1, share.ranks, [=](Room& room) { all_gather(room, b); }}; });
}

WB_NCCL(AlltoAll, (const void* from, void* to, size_t count, ncclDataType_t type, ncclComm_t comm, cudaStream_t stream)) {
  return collective("ncclAlltoAll", {bytes(from), bytes(to), count, type}, kNoRoot, comm, stream,
                    [](const Ref&, const Buffers& b, const Share& share) -> Part {
                      return {share.ranks, share.ranks, [=](Room& room) { all_to_all(room, b); }};
                    });
}

WB_NCCL(Gather, (const void* from, void* to, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream)) {
  return collective("ncclGather", {bytes(from), bytes(to), count, type}, root, comm, stream,
                    [&](const Ref&, const Buffers& b, const Share& share) -> Part {
                      return {1, share.is_root * share.ranks, [=](Room& room) { gather(room, b, root); }};
                    });
}

WB_NCCL(Scatter, (const void* from, void* to, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream)) {
  return collective("ncclScatter", {bytes(from), bytes(to), count, type}, root, comm, stream,
                    [&](const Ref&, const Buffers& b, const Share& share) -> Part {
                      return {share.is_root * share.ranks, 1, [=](Room& room) { scatter(room, b, root); }};
                    });
}

WB_NCCL(Send, (const void* from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)) {
  return in_group([&](Group& group) {
    const Ref of = find(comm);
    require_type(type);
    require_rank(of, peer);
    const size_t size = count * bytes_of(type);
    group.calls.emplace_back(of,
                             Call{"ncclSend", stream, {{from, size}}, {}, {}, Transfer{true, peer, bytes(const_cast<void*>(from)), size}});
  });
}

WB_NCCL(Recv, (void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)) {
  return in_group([&](Group& group) {
    const Ref of = find(comm);
    require_type(type);
    require_rank(of, peer);
    const size_t size = count * bytes_of(type);
    group.calls.emplace_back(of, Call{"ncclRecv", stream, {}, {{to, size}}, {}, Transfer{false, peer, bytes(to), size}});
  });
}

WB_NCCL(GroupStart, ()) {
  ++t_group.depth;
  return ncclSuccess;
}

WB_NCCL(GroupEnd, ()) {
  if (t_group.depth == 0) return refuse(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  return --t_group.depth > 0 ? ncclSuccess : t_group.run();
}
