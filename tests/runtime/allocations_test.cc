// What launches take from the host's heap once a few of them have been made: nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include "kernels.h"

namespace {
std::atomic<long> allocations{0};
}

// The library's too, which calls those of the program.
void* operator new(size_t bytes) {
  ++allocations;
  if (void* p = std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace {

// The fast engine would compile beside it.
const int environment = setenv("WARPBEAM_ENGINE", "interpreter", 1);

// Of a thousand launches. A thread that finds another at the same shelf for long does without it, which happens where other
// programs want the processors; so the best of some rounds counts.
template <class Launch>
long allocations_of(Launch launch) {
  long least = std::numeric_limits<long>::max();
  for (int round = 0; round < 8 && least; ++round) {
    for (int k = 0; k < 100; ++k) launch();
    const long before = allocations;
    for (int k = 0; k < 1000; ++k) launch();
    least = std::min(least, allocations - before);
  }
  return least;
}

TEST(Allocations, none_for_launches_that_are_waited_for) {
  ASSERT_EQ(environment, 0);
  int* number;
  OK(cudaMalloc(&number, sizeof(int)));
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  for (unsigned blocks : {1u, 50u}) {
    const long whole = allocations_of([&] {
      OK(kernels::launch(kernels::count_up, blocks, 32, nullptr, 0, number));
      OK(cudaDeviceSynchronize());
    });
    const long one = allocations_of([&] {
      OK(kernels::launch(kernels::count_up, blocks, 32, stream, 0, number));
      OK(cudaStreamSynchronize(stream));
    });
    EXPECT_LE(whole, 2) << blocks;
    EXPECT_LE(one, 2) << blocks;
  }
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(number));
}

}  // namespace
