// Threads that each wait for a stream of their own take as long as one of them does.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

static int failed = 0;
#define EXPECT(what) ((what) ? void() : (void)(failed = 1, printf("FAILED line %d: %s\n", __LINE__, #what)))

static double steady() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

__global__ void wait(long long ticks) {
  const long long start = clock64();
  while (clock64() - start < ticks) {}
}

int main() {
  cudaStream_t streams[8];
  for (auto& s : streams) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  wait<<<1, 1>>>(1);
  cudaDeviceSynchronize();
  double one = 0;
  for (int threads : {1, 2, 8}) {
    const double from = steady();
    std::vector<std::thread> all;
    for (int k = 0; k < threads; ++k)
      all.emplace_back([&, k] {
        for (int j = 0; j < 10; ++j) {
          wait<<<1, 32, 0, streams[k]>>>(200000);
          cudaStreamSynchronize(streams[k]);
        }
      });
    for (auto& t : all) t.join();
    const double time = steady() - from;
    printf("%d threads: %.6f\n", threads, time);
    if (threads == 1) one = time;
    EXPECT(time > 0.9 * one && time < 1.5 * one);
  }
  puts(failed ? "FAILED" : "ok");
  return failed;
}
