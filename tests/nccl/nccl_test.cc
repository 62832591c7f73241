// Several devices of one process, and processes, talk with each other.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <nccl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#define OK(expression) ASSERT_EQ(expression, ncclSuccess)
#define CUDA(expression) ASSERT_EQ(expression, cudaSuccess)

namespace {

constexpr int kRanks = 3;
// Before the runtime counts its devices.
const int environment = setenv("WARPBEAM_DEVICES", "3", 1);

// The first test of all: once the runtime has threads a process cannot be divided.
int rank_in_process(int rank, const ncclUniqueId& id, bool dies) {
  ncclComm_t comm;
  if (ncclCommInitRank(&comm, 3, id, rank) != ncclSuccess) return 1;
  if (dies && rank == 2) _exit(0);
  float* values;
  std::vector<float> host(70000, static_cast<float>(rank + 1));
  cudaMalloc(&values, host.size() * sizeof(float));
  cudaMemcpy(values, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  if (ncclAllReduce(values, values, host.size(), ncclFloat, ncclSum, comm, nullptr) != ncclSuccess) return 2;
  cudaMemcpy(host.data(), values, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  ncclResult_t error = ncclInProgress;
  ncclCommGetAsyncError(comm, &error);
  if (dies) return error == ncclRemoteError ? 0 : 3;
  for (float v : host)
    if (v != 6) return 4;
  return ncclCommDestroy(comm) == ncclSuccess ? 0 : 5;
}

TEST(NcclOf, processes) {
  for (bool dies : {false, true}) {
    ncclUniqueId id;
    OK(ncclGetUniqueId(&id));
    std::vector<pid_t> children;
    for (int r = 0; r < 3; ++r) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) _exit(rank_in_process(r, id, dies));
      children.push_back(child);
    }
    for (pid_t child : children) {
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
  }
}

// In a process of its own, which a signal ends where it waits for ever.
int status_of(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

ncclResult_t join(const ncclUniqueId& id, int ranks, int rank) {
  ncclComm_t comm;
  return ncclCommInitRank(&comm, ranks, id, rank);
}

std::string room_file(const ncclUniqueId& id) { return std::string("/dev/shm") + id.internal; }

TEST(NcclOf, a_first_rank_that_is_killed_while_it_makes_the_meeting_place) {
  ncclUniqueId id;
  OK(ncclGetUniqueId(&id));
  const int file = open(room_file(id).c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);  // and no further
  ASSERT_GE(file, 0);
  close(file);
  EXPECT_EQ(status_of([&] { return join(id, 1, 0) == ncclSuccess ? 0 : 1; }), 0);
}

TEST(NcclOf, a_rank_that_is_killed_while_it_waits) {
  ncclUniqueId id;
  OK(ncclGetUniqueId(&id));
  const pid_t first = fork();
  if (first == 0) _exit(join(id, 3, 0) == ncclSuccess ? 1 : 2);
  while (access(room_file(id).c_str(), F_OK) != 0) usleep(1000);
  usleep(100000);
  kill(first, SIGKILL);
  waitpid(first, nullptr, 0);
  EXPECT_EQ(status_of([&] { return join(id, 3, 1) == ncclRemoteError ? 0 : 1; }), 0);
  unlink(room_file(id).c_str());  // who comes within a minute finds it closed; then it is taken away as below
}

TEST(NcclOf, ranks_that_never_come) {
  ncclUniqueId id;
  OK(ncclGetUniqueId(&id));
  setenv("WARPBEAM_NCCL_TIMEOUT", "1", 1);
  EXPECT_EQ(status_of([&] { return join(id, 2, 0) == ncclSystemError ? 0 : 1; }), 0);
  unsetenv("WARPBEAM_NCCL_TIMEOUT");
}

TEST(NcclOf, leftovers_are_taken_away) {
  ncclUniqueId killed, used, fresh, next;
  for (ncclUniqueId* id : {&killed, &used, &fresh, &next}) OK(ncclGetUniqueId(id));
  std::vector<int> files;
  for (const ncclUniqueId* id : {&killed, &used, &fresh}) {
    files.push_back(open(room_file(*id).c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
    ASSERT_GE(files.back(), 0);
  }
  flock somebody_is_inside{};
  somebody_is_inside.l_type = F_RDLCK;
  somebody_is_inside.l_whence = SEEK_SET;
  somebody_is_inside.l_start = 1;
  somebody_is_inside.l_len = 1;
  ASSERT_EQ(fcntl(files[1], F_OFD_SETLK, &somebody_is_inside), 0);
  timespec old[2] = {{1000, 0}, {1000, 0}};
  for (int k : {0, 1}) ASSERT_EQ(futimens(files[static_cast<size_t>(k)], old), 0);
  EXPECT_EQ(status_of([&] { return join(next, 1, 0) == ncclSuccess ? 0 : 1; }), 0);
  EXPECT_NE(access(room_file(killed).c_str(), F_OK), 0);
  EXPECT_EQ(access(room_file(used).c_str(), F_OK), 0);
  EXPECT_EQ(access(room_file(fresh).c_str(), F_OK), 0) << "its maker may be about to lock it";
  for (const ncclUniqueId* id : {&used, &fresh}) unlink(room_file(*id).c_str());
  for (int file : files) close(file);
}

// A buffer on every device.
template <class T>
struct Buffers {
  explicit Buffers(size_t count) : count(count) {
    for (int r = 0; r < kRanks; ++r) {
      cudaSetDevice(r);
      cudaMalloc(&at[r], count * sizeof(T));
      cudaMemset(at[r], 0, count * sizeof(T));
    }
  }
  ~Buffers() {
    for (T* p : at) cudaFree(p);
  }
  void fill(const std::function<T(int, size_t)>& value) {
    for (int r = 0; r < kRanks; ++r) {
      std::vector<T> values;
      for (size_t i = 0; i < count; ++i) values.push_back(value(r, i));
      cudaMemcpy(at[r], values.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
  }
  std::vector<T> get(int r) const {
    std::vector<T> values(count);
    cudaMemcpy(values.data(), at[r], count * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }
  size_t count;
  T* at[kRanks];
};

class Nccl : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(environment, 0);
    OK(ncclCommInitAll(comm, kRanks, nullptr));
    for (int r = 0; r < kRanks; ++r) {
      CUDA(cudaSetDevice(r));
      CUDA(cudaStreamCreate(&stream[r]));
    }
  }
  void TearDown() override {
    for (int r = 0; r < kRanks; ++r) {
      ncclCommDestroy(comm[r]);
      cudaSetDevice(r);
      cudaStreamDestroy(stream[r]);
      cudaDeviceReset();
    }
    cudaSetDevice(0);
  }
  // One thread speaks for all ranks.
  void all(const std::function<ncclResult_t(int)>& call) {
    OK(ncclGroupStart());
    for (int r = 0; r < kRanks; ++r) OK(call(r));
    OK(ncclGroupEnd());
    for (cudaStream_t s : stream) CUDA(cudaStreamSynchronize(s));
  }
  ncclComm_t comm[kRanks] = {};
  cudaStream_t stream[kRanks];
};

TEST_F(Nccl, tells_who_is_there) {
  for (int r = 0; r < kRanks; ++r) {
    int count = 0, device = -1, rank = -1;
    OK(ncclCommCount(comm[r], &count));
    OK(ncclCommCuDevice(comm[r], &device));
    OK(pncclCommUserRank(comm[r], &rank));
    EXPECT_EQ(count, kRanks);
    EXPECT_EQ(device, r);
    EXPECT_EQ(rank, r);
    ncclResult_t error = ncclInProgress;
    OK(ncclCommGetAsyncError(comm[r], &error));
    EXPECT_EQ(error, ncclSuccess);
  }
  int version = 0;
  OK(ncclGetVersion(&version));
  EXPECT_EQ(version, NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH));
  EXPECT_STREQ(ncclGetErrorString(ncclSuccess), "no error");
}

// More than fits into a slot, and no multiple of anything.
constexpr size_t kLong = 200001;

TEST_F(Nccl, sums_are_the_same_for_all) {
  Buffers<float> in(kLong), out(kLong);
  in.fill([](int r, size_t i) { return static_cast<float>((r + 1) * static_cast<int>(i % 1000)); });
  all([&](int r) { return ncclAllReduce(in.at[r], out.at[r], kLong, ncclFloat, ncclSum, comm[r], stream[r]); });
  for (int r = 0; r < kRanks; ++r) {
    const auto got = out.get(r);
    for (size_t i = 0; i < kLong; ++i) ASSERT_EQ(got[i], 6.0f * static_cast<float>(i % 1000)) << r << " " << i;
  }
}

TEST_F(Nccl, operations_in_place) {
  struct Expected {
    ncclRedOp_t op;
    int64_t value;
  };
  for (const Expected e :
       {Expected{ncclSum, 2 - 7 + 11}, {ncclProd, 2 * -7 * 11}, {ncclMax, 11}, {ncclMin, -7}, {ncclAvg, (2 - 7 + 11) / 3}}) {
    Buffers<int64_t> both(5);
    both.fill([](int r, size_t) { return r == 0 ? 2 : r == 1 ? -7 : 11; });
    all([&](int r) { return ncclAllReduce(both.at[r], both.at[r], 5, ncclInt64, e.op, comm[r], stream[r]); });
    for (int r = 0; r < kRanks; ++r) EXPECT_EQ(both.get(r), std::vector<int64_t>(5, e.value)) << e.op;
  }
}

template <class T>
void small_floats(ncclDataType_t type, const std::function<void(const std::function<ncclResult_t(int)>&)>& all, ncclComm_t* comm,
                  cudaStream_t* stream) {
  Buffers<T> both(300);
  both.fill([](int r, size_t i) { return T(static_cast<float>(r) + static_cast<float>(i % 4)); });
  all([&](int r) { return ncclAllReduce(both.at[r], both.at[r], 300, type, ncclSum, comm[r], stream[r]); });
  const auto got = both.get(2);
  for (size_t i = 0; i < 300; ++i)
    ASSERT_EQ(static_cast<float>(got[i]), static_cast<float>(T(3.0f + 3.0f * static_cast<float>(i % 4)))) << i;
}

TEST_F(Nccl, small_types) {
  const auto together = [&](const std::function<ncclResult_t(int)>& call) { all(call); };
  small_floats<__half>(ncclHalf, together, comm, stream);
  small_floats<__nv_bfloat16>(ncclBfloat16, together, comm, stream);
  small_floats<__nv_fp8_e4m3>(ncclFloat8e4m3, together, comm, stream);
  small_floats<__nv_fp8_e5m2>(ncclFloat8e5m2, together, comm, stream);
  Buffers<uint8_t> bytes(1);
  bytes.fill([](int, size_t) { return 100; });
  all([&](int r) { return ncclAllReduce(bytes.at[r], bytes.at[r], 1, ncclUint8, ncclSum, comm[r], stream[r]); });
  EXPECT_EQ(bytes.get(1)[0], 300 % 256);
}

TEST_F(Nccl, factors_of_ones_own) {
  double factors[kRanks] = {2, 0.5, 10};
  double* on_device = nullptr;
  CUDA(cudaSetDevice(2));
  CUDA(cudaMalloc(&on_device, sizeof(double)));
  CUDA(cudaMemcpy(on_device, &factors[2], sizeof(double), cudaMemcpyHostToDevice));
  ncclRedOp_t op[kRanks];
  for (int r = 0; r < 2; ++r) OK(ncclRedOpCreatePreMulSum(&op[r], &factors[r], ncclDouble, ncclScalarHostImmediate, comm[r]));
  OK(ncclRedOpCreatePreMulSum(&op[2], on_device, ncclDouble, ncclScalarDevice, comm[2]));
  Buffers<double> both(10);
  both.fill([](int r, size_t i) { return r + 1 + static_cast<double>(i); });
  all([&](int r) { return ncclAllReduce(both.at[r], both.at[r], 10, ncclDouble, op[r], comm[r], stream[r]); });
  for (size_t i = 0; i < 10; ++i)
    EXPECT_EQ(both.get(0)[i],
              2.0 * (1 + static_cast<double>(i)) + 0.5 * (2 + static_cast<double>(i)) + 10.0 * (3 + static_cast<double>(i)));
  EXPECT_EQ(ncclAllReduce(both.at[0], both.at[0], 10, ncclFloat, op[0], comm[0], stream[0]), ncclInvalidArgument);
  for (int r = 0; r < kRanks; ++r) OK(ncclRedOpDestroy(op[r], comm[r]));
  EXPECT_EQ(ncclRedOpDestroy(op[0], comm[0]), ncclInvalidArgument);
  CUDA(cudaFree(on_device));
}

TEST_F(Nccl, one_root) {
  Buffers<int> in(kLong), out(kLong), gathered(kLong * kRanks);
  const auto value = [](int r, size_t i) { return r * 1000000 + static_cast<int>(i); };
  in.fill(value);
  all([&](int r) { return ncclReduce(in.at[r], r == 1 ? out.at[r] : nullptr, kLong, ncclInt, ncclMax, 1, comm[r], stream[r]); });
  EXPECT_EQ(out.get(1)[kLong - 1], value(2, kLong - 1));
  EXPECT_EQ(out.get(0)[5], 0);
  all([&](int r) { return ncclBroadcast(in.at[r], out.at[r], kLong, ncclInt, 2, comm[r], stream[r]); });
  for (int r = 0; r < kRanks; ++r) EXPECT_EQ(out.get(r), in.get(2));
  all([&](int r) { return ncclGather(in.at[r], gathered.at[r], kLong, ncclInt, 0, comm[r], stream[r]); });
  for (size_t r = 0; r < kRanks; ++r)
    for (size_t i : {size_t{0}, kLong - 1}) EXPECT_EQ(gathered.get(0)[r * kLong + i], value(static_cast<int>(r), i));
  all([&](int r) { return ncclScatter(gathered.at[r], out.at[r], kLong, ncclInt, 0, comm[r], stream[r]); });
  for (int r = 0; r < kRanks; ++r) EXPECT_EQ(out.get(r), in.get(r));
  all([&](int r) { return ncclBcast(in.at[r], kLong, ncclInt, 0, comm[r], stream[r]); });
  for (int r = 0; r < kRanks; ++r) EXPECT_EQ(in.get(r)[7], value(0, 7));
}

TEST_F(Nccl, parts_for_everybody) {
  constexpr size_t n = 100003;
  Buffers<int> in(n * kRanks), out(n * kRanks);
  in.fill([](int r, size_t i) { return r * 1000 + static_cast<int>(i % 777); });
  all([&](int r) { return ncclReduceScatter(in.at[r], out.at[r], n, ncclInt, ncclSum, comm[r], stream[r]); });
  for (size_t r = 0; r < kRanks; ++r) {
    const auto got = out.get(static_cast<int>(r));
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], 3000 + 3 * static_cast<int>((r * n + i) % 777));
  }
  // In place: this rank's part is where it will be.
  all([&](int r) { return ncclAllGather(in.at[r] + n * static_cast<size_t>(r), in.at[r], n, ncclInt, comm[r], stream[r]); });
  for (int r = 0; r < kRanks; ++r) {
    const auto got = in.get(r);
    for (size_t i = 0; i < n * kRanks; ++i) ASSERT_EQ(got[i], static_cast<int>(i / n) * 1000 + static_cast<int>(i % 777));
  }
  in.fill([](int r, size_t i) { return r * 1000000 + static_cast<int>(i); });
  all([&](int r) { return ncclAlltoAll(in.at[r], out.at[r], n, ncclInt, comm[r], stream[r]); });
  for (size_t r = 0; r < kRanks; ++r) {
    const auto got = out.get(static_cast<int>(r));
    for (size_t i = 0; i < n * kRanks; ++i) ASSERT_EQ(got[i], static_cast<int>(i / n * 1000000 + r * n + i % n));
  }
}

// A ring: each sends to the next, and what is sent twice comes in its order.
TEST_F(Nccl, messages) {
  Buffers<int> in(kLong), out(kLong);
  in.fill([](int r, size_t i) { return r * 1000000 + static_cast<int>(i); });
  const size_t half = kLong / 2;
  all([&](int r) {
    const int next = (r + 1) % kRanks, before = (r + kRanks - 1) % kRanks;
    ncclSend(in.at[r], half, ncclInt, next, comm[r], stream[r]);
    ncclSend(in.at[r] + half, kLong - half, ncclInt, next, comm[r], stream[r]);
    ncclRecv(out.at[r], half, ncclInt, before, comm[r], stream[r]);
    return ncclRecv(out.at[r] + half, kLong - half, ncclInt, before, comm[r], stream[r]);
  });
  for (int r = 0; r < kRanks; ++r) EXPECT_EQ(out.get(r), in.get((r + kRanks - 1) % kRanks));
  all([&](int r) {
    ncclSend(in.at[r], kLong, ncclInt, r, comm[r], stream[r]);
    return ncclRecv(out.at[r], kLong, ncclInt, r, comm[r], stream[r]);
  });
  for (int r = 0; r < kRanks; ++r) EXPECT_EQ(out.get(r), in.get(r));
}

TEST_F(Nccl, what_follows_in_the_stream_waits) {
  Buffers<int> both(kLong);
  std::vector<int> copy(kLong);
  both.fill([](int, size_t) { return 1; });
  for (int round = 0; round < 10; ++round)
    for (int r = 0; r < kRanks; ++r) {
      CUDA(cudaSetDevice(r));
      OK(ncclAllReduce(both.at[r], both.at[r], kLong, ncclInt, ncclSum, comm[r], stream[r]));
    }
  CUDA(cudaSetDevice(1));
  CUDA(cudaMemcpyAsync(copy.data(), both.at[1], kLong * sizeof(int), cudaMemcpyDeviceToHost, stream[1]));
  CUDA(cudaStreamSynchronize(stream[1]));
  EXPECT_EQ(copy, std::vector<int>(kLong, 59049));
}

TEST_F(Nccl, parts_of_a_communicator) {
  ncclComm_t part[kRanks];
  OK(ncclGroupStart());
  for (int r = 0; r < kRanks; ++r) OK(ncclCommSplit(comm[r], r == 1 ? NCCL_SPLIT_NOCOLOR : 4, -r, &part[r], nullptr));
  OK(ncclGroupEnd());
  EXPECT_EQ(part[1], nullptr);
  for (int r : {0, 2}) {
    int rank = -1, count = 0;
    OK(ncclCommUserRank(part[r], &rank));
    OK(ncclCommCount(part[r], &count));
    EXPECT_EQ(rank, r == 2 ? 0 : 1);  // the lower key comes first
    EXPECT_EQ(count, 2);
  }
  Buffers<int> both(1);
  both.fill([](int r, size_t) { return r + 1; });
  OK(ncclGroupStart());
  for (int r : {0, 2}) OK(ncclAllReduce(both.at[r], both.at[r], 1, ncclInt, ncclSum, part[r], stream[r]));
  OK(ncclGroupEnd());
  for (int r : {0, 2}) {
    CUDA(cudaStreamSynchronize(stream[r]));
    EXPECT_EQ(both.get(r)[0], 4);
    OK(ncclCommDestroy(part[r]));
  }
}

TEST_F(Nccl, threads_for_ranks) {
  ncclUniqueId id;
  OK(ncclGetUniqueId(&id));
  std::vector<std::thread> threads;
  std::vector<int> got(kRanks);
  for (int r = 0; r < kRanks; ++r)
    threads.emplace_back([&, r] {
      cudaSetDevice(r);
      ncclComm_t own;
      ASSERT_EQ(ncclCommInitRank(&own, kRanks, id, r), ncclSuccess);
      int* value;
      const int mine = r * r;
      cudaMalloc(&value, sizeof(int));
      cudaMemcpy(value, &mine, sizeof(int), cudaMemcpyHostToDevice);
      ncclAllReduce(value, value, 1, ncclInt, ncclSum, own, nullptr);
      cudaMemcpy(&got[static_cast<size_t>(r)], value, sizeof(int), cudaMemcpyDeviceToHost);
      cudaFree(value);
      ncclCommDestroy(own);
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(got, std::vector<int>(kRanks, 5));
}

TEST_F(Nccl, mistakes) {
  int* p = nullptr;
  ncclUniqueId id;
  std::memset(&id, 'x', sizeof id);
  ncclComm_t other;
  EXPECT_EQ(ncclCommInitRank(&other, 1, id, 0), ncclInvalidArgument);
  OK(ncclGetUniqueId(&id));
  EXPECT_EQ(ncclCommInitRank(&other, 2, id, 2), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(p, p, 1, ncclInt, ncclSum, nullptr, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(p, p, 1, ncclNumTypes, ncclSum, comm[0], nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(p, p, 1, ncclInt, ncclNumOps, comm[0], nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclBroadcast(p, p, 1, ncclInt, kRanks, comm[0], nullptr), ncclInvalidArgument);
  EXPECT_STRNE(ncclGetLastError(nullptr), "");
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  const int twice[] = {1, 1}, absent[] = {0, 7};
  ncclComm_t pair[2];
  EXPECT_EQ(ncclCommInitAll(pair, 2, twice), ncclInvalidUsage);
  EXPECT_EQ(ncclCommInitAll(pair, 2, absent), ncclInvalidArgument);
  CUDA(cudaSetDevice(0));
  CUDA(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeRelaxed));
  EXPECT_EQ(ncclAllReduce(p, p, 1, ncclInt, ncclSum, comm[0], stream[0]), ncclInvalidUsage);
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(stream[0], &graph));
  CUDA(cudaGraphDestroy(graph));
}

// The others learn of it instead of waiting for ever.
TEST_F(Nccl, an_address_that_is_not_there) {
  Buffers<int> both(4);
  for (int r : {0, 2}) OK(ncclAllReduce(both.at[r], both.at[r], 4, ncclInt, ncclSum, comm[r], stream[r]));
  ncclAllReduce(both.at[1] + (1 << 30), both.at[1], 4, ncclInt, ncclSum, comm[1],
                stream[1]);  // the device may say so at once
  CUDA(cudaSetDevice(1));
  EXPECT_EQ(cudaStreamSynchronize(stream[1]), cudaErrorIllegalAddress);
  CUDA(cudaSetDevice(0));
  CUDA(cudaStreamSynchronize(stream[0]));
  ncclResult_t error = ncclSuccess;
  OK(ncclCommGetAsyncError(comm[0], &error));
  EXPECT_EQ(error, ncclRemoteError);
}

TEST_F(Nccl, aborts) {
  Buffers<int> both(4);
  OK(ncclAllReduce(both.at[0], both.at[0], 4, ncclInt, ncclSum, comm[0], stream[0]));
  OK(ncclCommAbort(comm[0]));
  CUDA(cudaSetDevice(0));
  CUDA(cudaStreamSynchronize(stream[0]));
  comm[0] = nullptr;
}

}  // namespace
