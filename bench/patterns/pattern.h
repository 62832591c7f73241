// A row of the table: a pattern and its nearest fast form, in the same process and in turn, so that both see the same minutes of
// the machine. Measured is the process's processor time, host and kernels together, of launches that are through.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#define CHECK(call)                                                                   \
  do {                                                                                \
    if (const cudaError_t e = (call); e != cudaSuccess) {                             \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)

namespace pattern {

struct Form {
  double elements;              // threads, elements, calls or launches that one run of it does
  std::function<void()> run;
};

inline const char* wanted = "";  // part of a row's name; "--list": the names alone

inline double processor_ns() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) * 1e9 + double(t.tv_nsec);
}

inline double took(const Form& form, int times) {
  const double begin = processor_ns();
  for (int k = 0; k < times; ++k) form.run();
  CHECK(cudaDeviceSynchronize());
  return (processor_ns() - begin) / times;
}

// What comes with the first launches is no matter here: compiling, and finding out that something cannot be compiled.
inline int warm_up(const Form& form) {
  constexpr double kEnough = 40e6, kRound = 8e6;
  double spent = 0, last = 0;
  for (int k = 0; k < 40 && (k < 12 || spent < kEnough) && spent < 20 * kEnough; ++k) spent += last = took(form, 1);
  return std::clamp(int(kRound / std::max(last, 1.0)), 1, 2000);
}

// Prints the row: what `pattern` takes, what `neighbour` takes, in nanoseconds an element, and how many times more it may be.
inline void row(const char* name, const char* unit, Form form, const char* neighbour, Form fast, double limit = 3) {
  if (!std::strcmp(wanted, "--list")) {
    std::printf("%s\n", name);
    return;
  }
  if (!std::strstr(name, wanted)) return;
  const int times = warm_up(form), fast_times = warm_up(fast);
  double least = 1e300, least_fast = 1e300;
  for (int k = 0; k < 5; ++k) {
    least = std::min(least, took(form, times) / form.elements);
    least_fast = std::min(least_fast, took(fast, fast_times) / fast.elements);
  }
  std::printf("%s\t%s\t%.6g\t%s\t%.6g\t%.3g\n", name, unit, least, neighbour, least_fast, limit);
  std::fflush(stdout);
}

template <class T>
T* array(size_t n, T first = T(1), T step = T(0)) {
  std::vector<T> host(n);
  for (size_t k = 0; k < n; ++k) host[k] = first + T(k % 1024) * step;
  T* device = nullptr;
  CHECK(cudaMalloc(&device, n * sizeof(T)));
  CHECK(cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

}  // namespace pattern

using pattern::array;
using pattern::row;

void rows();

int main(int argc, char** argv) {
  if (argc > 1) pattern::wanted = argv[1];
  rows();
  return 0;
}
