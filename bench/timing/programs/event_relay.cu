// Two and four streams that hand work to each other by events, and what the objects themselves cost.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    const cudaError_t error = call;                                                       \
    if (error != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (0)

static double seconds() { return std::chrono::duration<double>(std::chrono::high_resolution_clock::now().time_since_epoch()).count(); }

// The median of what some runs of it take, in microseconds.
template <class Work>
static double time_us(int runs, Work work) {
  std::vector<double> all;
  for (int k = 0; k < runs; ++k) {
    const double begin = seconds();
    work();
    all.push_back((seconds() - begin) * 1e6);
  }
  std::nth_element(all.begin(), all.begin() + runs / 2, all.end());
  return all[runs / 2];
}

__global__ void busy(long long cycles) {
  for (const long long begin = clock64(); clock64() - begin < cycles;) {}
}

int main() {
  std::vector<cudaStream_t> streams(4);
  for (auto& s : streams) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  std::vector<cudaEvent_t> events(64);
  std::printf("event_create: %.3f us\n", time_us(1, [&] {
                                           for (auto& e : events) CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
                                         }) / 64);
  for (auto s : streams) busy<<<1, 1, 0, s>>>(1);
  CHECK(cudaDeviceSynchronize());
  for (int used : {1, 2, 4})
    for (long long cycles : {200ll, 20000ll})
      std::printf("relay_%d_%lld: %.3f us\n", used, cycles, time_us(5, [&] {
                    for (int k = 0; k < 64; ++k) {
                      const cudaStream_t mine = streams[k % used];
                      if (k) CHECK(cudaStreamWaitEvent(mine, events[k - 1], 0));
                      busy<<<1, 32, 0, mine>>>(cycles);
                      CHECK(cudaEventRecord(events[k], mine));
                    }
                    CHECK(cudaEventSynchronize(events[63]));
                  }));
  std::printf("record: %.3f us\n", time_us(5, [&] {
                                     for (auto e : events) CHECK(cudaEventRecord(e, streams[0]));
                                   }) / 64);
  CHECK(cudaDeviceSynchronize());
  std::printf("wait_done: %.3f us\n", time_us(5, [&] {
                                        for (auto e : events) CHECK(cudaStreamWaitEvent(streams[1], e, 0));
                                      }) / 64);
  std::printf("query_done: %.3f us\n", time_us(5, [&] {
                                         for (auto e : events) CHECK(cudaEventQuery(e));
                                       }) / 64);
  std::printf("sync_idle: %.3f us\n", time_us(9, [] { CHECK(cudaDeviceSynchronize()); }));
  std::printf("stream_sync_idle: %.3f us\n", time_us(9, [&] { CHECK(cudaStreamSynchronize(streams[2])); }));
  std::printf("event_destroy: %.3f us\n", time_us(1, [&] {
                                            for (auto e : events) CHECK(cudaEventDestroy(e));
                                          }) / 64);
}
