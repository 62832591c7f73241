// Short urgent requests beside a background that fills the device, with priorities and without.
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
  int least, greatest;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t background, same, urgent;
  CHECK(cudaStreamCreateWithPriority(&background, cudaStreamNonBlocking, least));
  CHECK(cudaStreamCreateWithPriority(&same, cudaStreamNonBlocking, least));
  CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
  for (auto s : {background, same, urgent}) busy<<<1, 1, 0, s>>>(1);
  CHECK(cudaDeviceSynchronize());
  for (int blocks : {264, 1056, 4224})
    for (int which = 0; which < 2; ++which) {
      const cudaStream_t mine = which ? urgent : same;
      std::vector<double> answers;
      const double all = time_us(3, [&] {
        busy<<<blocks, 512, 0, background>>>(40000);
        for (int k = 0; k < 5; ++k) {
          const double begin = seconds();
          busy<<<16, 128, 0, mine>>>(4000);
          CHECK(cudaStreamSynchronize(mine));
          answers.push_back((seconds() - begin) * 1e6);
        }
        CHECK(cudaStreamSynchronize(background));
      });
      std::sort(answers.begin(), answers.end());
      std::printf("%s_%d_median: %.3f us\n%s_%d_all: %.3f us\n", which ? "urgent" : "same", blocks, answers[answers.size() / 2],
                  which ? "urgent" : "same", blocks, all);
    }
}
