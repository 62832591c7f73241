// Kernels for the runtime's tests, written in PTX and registered the way a compiler registers them, so that these tests
// need no CUDA compiler. Each is launched by the address of the host function of its name.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace kernels {

void nothing();
void store(int* to, int value);               // one thread writes *to = value
void add(int* to, int value, int count);      // to[i] += value for all i < count
void count_up(int* counter);                  // every thread adds one, atomically
void wait_for_flag(volatile int* flag);       // spins until *flag is not zero
void fault(int* nowhere);                     // writes where the caller says
void stop();                                  // trap
void at_most_64();                            // .maxntid 64
void shared_static();                         // 1024 bytes of static shared memory
void read_table(int* to, int index);          // *to = table[index] + limit

extern int table[16];  // a __device__ variable, initially 0 … 15
extern int limit;      // a __constant__ variable, initially 100

template <class... Args>
cudaError_t launch(void (*kernel)(Args...), dim3 grid, dim3 block, cudaStream_t stream, size_t shared, Args... args) {
  void* pointers[] = {&args..., nullptr};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, pointers, shared, stream);
}

}  // namespace kernels

// Waits for `expression`, a cudaError_t, to be cudaSuccess.
#define OK(expression) ASSERT_EQ(expression, cudaSuccess)
