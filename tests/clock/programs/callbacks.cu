// Host functions in streams, graphs, and several threads: everything is done, in order, and clocks only go on.
#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

static int failed = 0;
#define EXPECT(what) ((what) ? void() : (void)(failed = 1, printf("FAILED line %d: %s\n", __LINE__, #what)))

static double steady() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

__global__ void busy(float* x, int rounds) {
  float v = threadIdx.x;
  for (int k = 0; k < rounds; ++k) v = v * 0.999f + 0.25f;
  if (v == -1) *x = v;
}

int main() {
  float* x;
  cudaMalloc(&x, 4);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  struct Seen { double at = 0; } seen;
  const double asked = steady();
  busy<<<1, 32, 0, stream>>>(x, 20000);
  cudaLaunchHostFunc(stream, [](void* data) {
    static_cast<Seen*>(data)->at = steady();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }, &seen);
  busy<<<1, 32, 0, stream>>>(x, 20000);
  const double returned = steady();
  cudaStreamSynchronize(stream);
  const double done = steady();
  EXPECT(seen.at > asked && seen.at < done);
  EXPECT(seen.at > returned);
  EXPECT(done - seen.at >= 0.05);

  // A graph of two branches takes as long as one.
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStream_t other;
  cudaStreamCreate(&other);
  cudaEvent_t fork, join, begin, end;
  for (auto* e : {&fork, &join, &begin, &end}) cudaEventCreate(e);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(other, fork, 0);
  for (int k = 0; k < 3; ++k) busy<<<1, 32, 0, stream>>>(x, 20000);
  for (int k = 0; k < 3; ++k) busy<<<1, 32, 0, other>>>(x, 20000);
  cudaEventRecord(join, other);
  cudaStreamWaitEvent(stream, join, 0);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  float one = 0, two = 0;
  cudaEventRecord(begin, stream);
  for (int k = 0; k < 3; ++k) busy<<<1, 32, 0, stream>>>(x, 20000);
  cudaEventRecord(end, stream);
  cudaEventSynchronize(end);
  cudaEventElapsedTime(&one, begin, end);
  cudaEventRecord(begin, stream);
  cudaGraphLaunch(exec, stream);
  cudaEventRecord(end, stream);
  cudaEventSynchronize(end);
  cudaEventElapsedTime(&two, begin, end);
  EXPECT(two > 0.8f * one && two < 1.5f * one);

  // What a function waits for holds up its own stream only.
  cudaStream_t four[4];
  for (auto& s : four) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  const auto kernels = [&](int streams) {
    const double from = steady();
    for (int k = 0; k < streams; ++k) {
      for (int j = 0; j < 4; ++j) busy<<<1, 32, 0, four[k]>>>(x, 20000);
      cudaLaunchHostFunc(four[k], [](void*) {}, nullptr);
    }
    cudaDeviceSynchronize();
    return steady() - from;
  };
  kernels(1);
  const double alone = kernels(1), together = kernels(4);
  EXPECT(together > alone && together < 2 * alone);

  // Threads that each wait for streams of their own do so side by side.
  std::atomic<int> at{0};
  std::vector<double> times(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      cudaStream_t own;
      cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
      ++at;
      while (at < 4) std::this_thread::yield();
      double last = steady();
      const double from = last;
      for (int k = 0; k < 5; ++k) {
        busy<<<1, 32, 0, own>>>(x, 20000);
        cudaStreamSynchronize(own);
        const double now = steady();
        if (now < last) failed = 1;
        last = now;
      }
      times[t] = last - from;
    });
  for (auto& t : threads) t.join();
  for (double t : times) EXPECT(t > 0);
  printf("%.4f %.4f\n", one, two);
  puts(failed ? "FAILED" : "ok");
  return failed;
}
