// An urgent kernel behind many that are not, short and long ones.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

static void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Work>
static double host_us(Work work) {
  const double begun = now_us();
  work();
  return now_us() - begun;
}

template <class Work>
static double median_us(Work work, int times = 9) {
  std::vector<double> all;
  for (int k = 0; k < times; ++k) all.push_back(host_us(work));
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

__global__ void spin(long long ticks) {
  const long long begin = clock64();
  while (clock64() - begin < ticks) {
  }
}

int main() {
  int least, most;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &most));
  cudaStream_t low, high;
  CHECK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
  CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, most));
  spin<<<1, 1, 0, low>>>(1);
  spin<<<1, 1, 0, high>>>(1);
  CHECK(cudaDeviceSynchronize());
  for (long long ticks : {20000ll, 200000ll})
    for (bool urgent : {false, true}) {
      double answer = 0;
      const double all = median_us([&] {
        for (int k = 0; k < 4; ++k) spin<<<528, 1024, 0, low>>>(ticks);
        const cudaStream_t other = urgent ? high : low;
        const double begun = now_us();
        spin<<<66, 256, 0, other>>>(ticks);
        CHECK(cudaStreamSynchronize(other));
        answer = now_us() - begun;
        CHECK(cudaDeviceSynchronize());
      }, 5);
      std::printf("%s_%lld_answer: %.3f us\n%s_%lld_all: %.3f us\n", urgent ? "urgent" : "plain", ticks, answer, urgent ? "urgent" : "plain", ticks, all);
    }
}
