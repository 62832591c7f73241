// What launches take from the host's heap once a few of them have been made: nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
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

template <class Launch>
long allocations_of(Launch launch) {
  for (int k = 0; k < 100; ++k) launch();
  const long before = allocations;
  for (int k = 0; k < 1000; ++k) launch();
  return allocations - before;
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
    // A thread that finds another at the same shelf for long does without it.
    EXPECT_LE(whole, 10) << blocks;
    EXPECT_LE(one, 10) << blocks;
  }
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(number));
}

}  // namespace
