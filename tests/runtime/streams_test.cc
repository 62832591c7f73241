// Streams and events: order, queries, host functions, timing.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "kernels.h"

namespace {

// A kernel that runs until the test lets go.
class Gate {
 public:
  Gate() {
    if (cudaMallocHost(&flag_, 4) == cudaSuccess) *flag_ = 0;
  }
  ~Gate() {
    open();
    cudaDeviceSynchronize();
    cudaFreeHost(flag_);
  }
  cudaError_t close(cudaStream_t stream) {
    return kernels::launch(kernels::wait_for_flag, 1, 1, stream, 0, static_cast<volatile int*>(flag_));
  }
  void open() { *static_cast<volatile int*>(flag_) = 1; }

 private:
  int* flag_ = nullptr;
};

// The default stream that other streams wait for: what 0 means unless each thread has one of its own.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
const cudaStream_t kDefault = cudaStreamLegacy;
#else
const cudaStream_t kDefault = nullptr;
#endif

class Streams : public testing::Test {
 protected:
  void SetUp() override {
    OK(cudaStreamCreate(&blocking));
    OK(cudaStreamCreate(&other));
    OK(cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking));
    OK(cudaEventCreate(&event));
    OK(cudaMallocManaged(&data, 64));
    *data = 0;
  }
  void TearDown() override {
    OK(cudaDeviceSynchronize());
    OK(cudaStreamDestroy(blocking));
    OK(cudaStreamDestroy(other));
    OK(cudaStreamDestroy(free));
    OK(cudaEventDestroy(event));
    OK(cudaFree(data));
    cudaGetLastError();
  }
  cudaError_t store(cudaStream_t stream, int value) { return kernels::launch(kernels::store, 1, 1, stream, 0, data, value); }
  cudaStream_t blocking, other, free;
  cudaEvent_t event;
  int* data;
};

TEST_F(Streams, work_of_a_stream_runs_in_order) {
  for (int i = 1; i <= 100; ++i) OK(store(blocking, i));
  OK(cudaStreamSynchronize(blocking));
  EXPECT_EQ(*data, 100);
}

TEST_F(Streams, the_default_stream_waits_for_blocking_streams_and_they_for_it) {
  Gate gate;
  OK(gate.close(blocking));
  OK(store(kDefault, 1));
  OK(store(other, 2));
  EXPECT_EQ(cudaStreamQuery(blocking), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(kDefault), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "not ready is not an error";
  EXPECT_EQ(cudaStreamQuery(free), cudaSuccess);
  EXPECT_EQ(*data, 0);
  gate.open();
  OK(cudaStreamSynchronize(other));
  EXPECT_EQ(*data, 2);
}

TEST_F(Streams, a_non_blocking_stream_ignores_the_default_stream) {
  Gate gate;
  OK(gate.close(kDefault));
  OK(store(free, 3));
  OK(cudaStreamSynchronize(free));
  EXPECT_EQ(*data, 3);
  EXPECT_EQ(cudaStreamQuery(cudaStreamLegacy), cudaErrorNotReady);
}

TEST_F(Streams, a_thread_s_own_default_stream_is_a_blocking_one) {
  Gate gate;
  OK(gate.close(kDefault));
  OK(store(cudaStreamPerThread, 4));
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
  gate.open();
  OK(cudaStreamSynchronize(cudaStreamPerThread));
  EXPECT_EQ(*data, 4);
  unsigned long long mine = 0, theirs = 0;
  OK(cudaStreamGetId(cudaStreamPerThread, &mine));
  std::thread([&] { OK(cudaStreamGetId(cudaStreamPerThread, &theirs)); }).join();
  EXPECT_NE(mine, theirs);
}

TEST_F(Streams, a_stream_waits_for_an_event_of_another) {
  Gate gate;
  OK(cudaStreamWaitEvent(free, event, 0)) << "an event that was never recorded holds nobody up";
  OK(gate.close(blocking));
  OK(cudaEventRecord(event, blocking));
  OK(cudaStreamWaitEvent(free, event));
  OK(store(free, 5));
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(free), cudaErrorNotReady);
  EXPECT_EQ(*data, 0);
  gate.open();
  OK(cudaStreamSynchronize(free));
  EXPECT_EQ(*data, 5);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(free, event, 5), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamWaitEvent(free, nullptr, 0), cudaErrorInvalidResourceHandle);
}

TEST_F(Streams, host_functions_run_in_stream_order_and_may_not_call_cuda) {
  struct Seen {
    int* data;
    int value = -1;
    cudaError_t call = cudaSuccess, status = cudaErrorUnknown;
    std::thread::id thread{};
  } seen{data};
  OK(store(blocking, 6));
  OK(cudaLaunchHostFunc(
      blocking,
      [](void* p) {
        auto* seen = static_cast<Seen*>(p);
        seen->value = *seen->data;
        void* memory;
        seen->call = cudaMalloc(&memory, 4);
        seen->thread = std::this_thread::get_id();
      },
      &seen));
  OK(store(blocking, 7));
  OK(cudaStreamAddCallback(
      blocking,
      [](cudaStream_t stream, cudaError_t status, void* p) {
        auto* seen = static_cast<Seen*>(p);
        seen->status = status;
        EXPECT_EQ(*seen->data, 7);
        EXPECT_NE(stream, nullptr);
      },
      &seen, 0));
  OK(cudaStreamSynchronize(blocking));
  EXPECT_EQ(seen.value, 6);
  EXPECT_EQ(seen.call, cudaErrorNotPermitted);
  EXPECT_EQ(seen.status, cudaSuccess);
  EXPECT_NE(seen.thread, std::this_thread::get_id());
  EXPECT_EQ(cudaLaunchHostFunc(blocking, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamAddCallback(blocking, nullptr, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamAddCallback(blocking, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 1), cudaErrorInvalidValue);
}

TEST_F(Streams, attributes_are_what_was_asked_for) {
  unsigned flags = 9;
  OK(cudaStreamGetFlags(free, &flags));
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  OK(cudaStreamGetFlags(nullptr, &flags));
  EXPECT_EQ(flags, 0u);
  int least = 9, greatest = 9, priority = 9, device = 9;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_LT(greatest, 0);
  cudaStream_t urgent;
  OK(cudaStreamCreateWithPriority(&urgent, cudaStreamDefault, -100));
  OK(cudaStreamGetPriority(urgent, &priority));
  EXPECT_EQ(priority, greatest);
  OK(cudaStreamGetDevice(urgent, &device));
  EXPECT_EQ(device, 0);
  cudaStreamCaptureStatus capturing;
  OK(cudaStreamIsCapturing(urgent, &capturing));
  EXPECT_EQ(capturing, cudaStreamCaptureStatusNone);
  OK(cudaStreamGetCaptureInfo(urgent, &capturing));
  cudaStreamAttrValue value = {}, back = {};
  value.syncPolicy = cudaSyncPolicySpin;
  OK(cudaStreamSetAttribute(urgent, cudaLaunchAttributeSynchronizationPolicy, &value));
  OK(cudaStreamCopyAttributes(blocking, urgent));
  OK(cudaStreamGetAttribute(blocking, cudaLaunchAttributeSynchronizationPolicy, &back));
  EXPECT_EQ(back.syncPolicy, cudaSyncPolicySpin);
  OK(cudaStreamGetAttribute(urgent, cudaLaunchAttributePriority, &back));
  EXPECT_EQ(back.priority, greatest);
  EXPECT_EQ(cudaStreamGetAttribute(urgent, static_cast<cudaLaunchAttributeID>(99), &back), cudaErrorInvalidValue);
  value.accessPolicyWindow = {data, 64, 2.0f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
  EXPECT_EQ(cudaStreamSetAttribute(urgent, cudaLaunchAttributeAccessPolicyWindow, &value), cudaErrorInvalidValue);
  value.accessPolicyWindow.hitRatio = 0.5f;
  OK(cudaStreamSetAttribute(urgent, cudaLaunchAttributeAccessPolicyWindow, &value));
  OK(cudaStreamDestroy(urgent));
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
  OK(cudaCtxResetPersistingL2Cache());
}

TEST_F(Streams, strangers_are_refused) {
  cudaStream_t gone;
  OK(cudaStreamCreate(&gone));
  OK(cudaStreamDestroy(gone));
  EXPECT_EQ(cudaStreamDestroy(gone), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamQuery(gone), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(gone), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(kernels::launch(kernels::nothing, 1, 1, gone, 0), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(cudaStreamLegacy), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(cudaStreamPerThread), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamCreateWithFlags(&gone, 7), cudaErrorInvalidValue);
}

TEST_F(Streams, a_destroyed_stream_finishes_its_work) {
  Gate gate;
  cudaStream_t going;
  OK(cudaStreamCreate(&going));
  OK(gate.close(going));
  OK(store(going, 8));
  OK(cudaStreamDestroy(going));
  gate.open();
  OK(cudaStreamSynchronize(kDefault));  // the default stream still waits for it
  EXPECT_EQ(*data, 8);
}

class Events : public Streams {};

TEST_F(Events, time_passes_between_them) {
  cudaEvent_t end;
  OK(cudaEventCreate(&end));
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, event, end), cudaErrorInvalidResourceHandle) << "never recorded";
  OK(cudaEventRecord(event));
  OK(cudaLaunchHostFunc(nullptr, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr));
  OK(cudaEventRecord(end));
  EXPECT_EQ(cudaEventElapsedTime(&ms, event, end), cudaErrorNotReady);
  OK(cudaEventSynchronize(end));
  OK(cudaEventElapsedTime(&ms, event, end));
  EXPECT_GE(ms, 19.9f);
  EXPECT_LT(ms, 10000.f);
  OK(cudaEventElapsedTime(&ms, end, event));
  EXPECT_LT(ms, 0.f);
  EXPECT_EQ(cudaEventElapsedTime(nullptr, event, end), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventElapsedTime(nullptr, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventElapsedTime(&ms, event, nullptr), cudaErrorInvalidResourceHandle);
  OK(cudaEventDestroy(end));
}

TEST_F(Events, flags_are_checked) {
  cudaEvent_t other_event;
  for (unsigned flags : {cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming, cudaEventDisableTiming | cudaEventInterprocess}) {
    OK(cudaEventCreateWithFlags(&other_event, flags));
    OK(cudaEventRecord(other_event));
    OK(cudaEventSynchronize(other_event));
    OK(cudaEventDestroy(other_event));
  }
  EXPECT_EQ(cudaEventCreateWithFlags(&other_event, 0x40), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreateWithFlags(&other_event, cudaEventInterprocess), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreate(static_cast<cudaEvent_t*>(nullptr)), cudaErrorInvalidValue);

  OK(cudaEventCreateWithFlags(&other_event, cudaEventDisableTiming));
  OK(cudaEventRecord(other_event));
  OK(cudaEventRecordWithFlags(event, blocking, cudaEventRecordDefault));
  OK(cudaDeviceSynchronize());
  float ms;
  EXPECT_EQ(cudaEventElapsedTime(&ms, event, other_event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecordWithFlags(event, blocking, 9), cudaErrorInvalidValue);
  OK(cudaEventDestroy(other_event));
  EXPECT_EQ(cudaEventDestroy(other_event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventQuery(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventSynchronize(nullptr), cudaErrorInvalidResourceHandle);
}

TEST_F(Events, one_that_was_never_recorded_counts_as_done) {
  OK(cudaEventQuery(event));
  OK(cudaEventSynchronize(event));
}

TEST(Threads, many_drive_many_streams) {
  constexpr int kThreads = 8, kRounds = 50;
  int* counters;
  OK(cudaMallocManaged(&counters, kThreads * sizeof(int)));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      counters[t] = 0;
      cudaStream_t stream;
      OK(t % 2 ? cudaStreamCreate(&stream) : cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      cudaEvent_t event;
      OK(cudaEventCreate(&event));
      for (int i = 0; i < kRounds; ++i) {
        OK(kernels::launch(kernels::count_up, 2, 32, stream, 0, counters + t));
        void* scratch;
        OK(cudaMallocAsync(&scratch, 1000, stream));
        OK(cudaMemsetAsync(scratch, i, 1000, stream));
        OK(cudaFreeAsync(scratch, stream));
        OK(cudaEventRecord(event, stream));
        if (i % 7 == 0) OK(cudaEventSynchronize(event));
        if (i % 11 == 0) OK(cudaStreamSynchronize(stream));
        if (i % 13 == 0) OK(kernels::launch(kernels::nothing, 1, 1, nullptr, 0));
      }
      OK(cudaStreamSynchronize(stream));
      EXPECT_EQ(counters[t], kRounds * 64);
      OK(cudaEventDestroy(event));
      OK(cudaStreamDestroy(stream));
    });
  for (auto& thread : threads) thread.join();
  OK(cudaDeviceSynchronize());
  OK(cudaFree(counters));
}

TEST(Threads, each_has_its_own_last_error) {
  int local;
  EXPECT_EQ(cudaFree(&local), cudaErrorInvalidValue);
  std::thread([] {
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  }).join();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

}  // namespace
