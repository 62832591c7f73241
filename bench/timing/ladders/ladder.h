// What the programs of published ladders have in common: how they take times.
#pragma once
#include <sys/time.h>

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    const cudaError_t error_ = (call);                                                     \
    if (error_ != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)

inline double milliseconds() {
  timeval now;
  gettimeofday(&now, nullptr);
  return now.tv_sec * 1e3 + now.tv_usec * 1e-3;
}

// As these programs did, by the host's clock until the device has finished; once before, so that nothing is new.
template <class Work>
double time_of(Work work) {
  work();
  CHECK(cudaDeviceSynchronize());
  const double begin = milliseconds();
  work();
  CHECK(cudaDeviceSynchronize());
  return milliseconds() - begin;
}

template <class Work>
void report(const char* name, Work work) {
  std::printf("%s: %.6f ms\n", name, time_of(work));
}
