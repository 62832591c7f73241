// What every ladder needs: device arrays, random data, and a line per rung with its speed and whether it is right.
// A rung is a kernel that changes one thing about the rung before it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace ladder {

#define LADDER_CHECK(expression)                                                                         \
  do {                                                                                                   \
    cudaError_t ladder_error = (expression);                                                             \
    if (ladder_error != cudaSuccess) {                                                                   \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #expression, cudaGetErrorString(ladder_error)); \
      std::exit(1);                                                                                      \
    }                                                                                                    \
  } while (0)

// The virtual GPU climbs the same ladders on less data.
#if defined(__WARPBEAM__) || (defined(__clang__) && defined(__CUDA__))
inline constexpr bool kSmall = true;
inline constexpr int kRepeats = 1;
#else
inline constexpr bool kSmall = false;
inline constexpr int kRepeats = 9;
#endif

template <class T>
struct Array {
  T* data = nullptr;
  size_t count;
  explicit Array(size_t n) : count(n) {
    LADDER_CHECK(cudaMalloc(&data, n * sizeof(T)));
    LADDER_CHECK(cudaMemset(data, 0xa5, n * sizeof(T)));
  }
  explicit Array(const std::vector<T>& host) : Array(host.size()) {
    LADDER_CHECK(cudaMemcpy(data, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data); }
  void poison() { LADDER_CHECK(cudaMemset(data, 0xa5, count * sizeof(T))); }
  std::vector<T> host() const {
    std::vector<T> copy(count);
    LADDER_CHECK(cudaMemcpy(copy.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return copy;
  }
};

template <class T>
std::vector<T> random_values(size_t count, unsigned below) {
  std::mt19937 source(std::random_device{}());
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(source() % below);
  return values;
}

inline int wrong = 0;

// Runs a rung, checks it, and prints its speed: `work` is bytes for GB/s, items for Gitem/s, operations for GFLOP/s.
inline void rung(const char* ladder, const char* name, double work, const char* unit, const std::function<void()>& run,
                 const std::function<bool()>& right) {
  run();
  LADDER_CHECK(cudaGetLastError());
  LADDER_CHECK(cudaDeviceSynchronize());
  const bool ok = right();
  wrong += !ok;
  // All runs are queued before the first is waited for, so that the host's part does not count.
  std::vector<cudaEvent_t> marks(kRepeats + 2);
  for (cudaEvent_t& mark : marks) LADDER_CHECK(cudaEventCreate(&mark));
  for (cudaEvent_t& mark : marks) {
    LADDER_CHECK(cudaEventRecord(mark));
    if (&mark != &marks.back()) run();
  }
  LADDER_CHECK(cudaDeviceSynchronize());
  std::vector<float> times(kRepeats);  // the first run warms up
  for (int i = 0; i < kRepeats; ++i) LADDER_CHECK(cudaEventElapsedTime(&times[i], marks[i + 1], marks[i + 2]));
  for (cudaEvent_t& mark : marks) LADDER_CHECK(cudaEventDestroy(mark));
  std::sort(times.begin(), times.end());
  const double ms = std::max(times[times.size() / 2], 1e-6f);
  std::printf("{\"ladder\": \"%s\", \"rung\": \"%s\", \"speed\": %.1f, \"unit\": \"%s\", \"right\": %s}\n", ladder, name, work / ms / 1e6,
              unit, ok ? "true" : "false");
  std::fflush(stdout);
}

// A ceiling known from the device's data rather than measured.
inline void ceiling(const char* ladder, const char* name, double speed, const char* unit) {
  std::printf("{\"ladder\": \"%s\", \"rung\": \"%s\", \"speed\": %.1f, \"unit\": \"%s\", \"right\": true, \"ceiling\": true}\n", ladder,
              name, speed, unit);
}

// The speed of a plain copy on the same device, the ceiling of everything that reads and writes once.
inline void copy_ceiling(const char* ladder, size_t bytes) {
  Array<char> a(bytes), b(bytes);
  rung(
      ladder, "device-to-device copy", 2.0 * bytes, "GB/s",
      [&] { LADDER_CHECK(cudaMemcpyAsync(b.data, a.data, bytes, cudaMemcpyDeviceToDevice)); }, [] { return true; });
}

}  // namespace ladder
