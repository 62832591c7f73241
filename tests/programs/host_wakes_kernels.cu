// Kernels that wait for the host. While a thread of the program can still write what they wait for, they wait as long as it
// takes; once every thread waits for the device, nobody ever will, and that is an error.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>

__global__ void answer(volatile int* words) {
  while (words[0] == 0) {
  }
  if (threadIdx.x == 0) words[1] = words[0] + 1;
}

int wrong = 0;
void expect(const char* what, cudaError_t status, cudaError_t wanted, int value, int wanted_value) {
  if (status == wanted && value == wanted_value) return;
  std::printf("%s: %s and %d\n", what, cudaGetErrorName(status), value);
  ++wrong;
}

int main() {
  setenv("WARPBEAM_HANG_SECONDS", "1", 1);
  int* words;
  cudaMallocManaged(&words, 8);
  auto launch = [&] {
    words[0] = words[1] = 0;
    answer<<<1, 64>>>(words);
  };

  launch();
  std::thread writer([&] { usleep(2'500'000), *static_cast<volatile int*>(words) = 3; });
  cudaError_t status = cudaDeviceSynchronize();
  writer.join();
  expect("another thread writes", status, cudaSuccess, words[1], 4);

  launch();
  usleep(2'500'000);
  *static_cast<volatile int*>(words) = 4;
  expect("this thread writes", cudaDeviceSynchronize(), cudaSuccess, words[1], 5);

  launch();
  expect("nobody writes", cudaDeviceSynchronize(), cudaErrorLaunchFailure, words[1], 0);
  cudaDeviceReset();

  cudaMallocManaged(&words, 8);
  launch();
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaLaunchHostFunc(other, [](void* word) { usleep(2'500'000), *static_cast<volatile int*>(word) = 5; }, words);
  expect("a stream's function writes", cudaDeviceSynchronize(), cudaSuccess, words[1], 6);
  cudaStreamDestroy(other);
  cudaFree(words);
  if (!wrong) std::puts("all as expected");
  return wrong != 0;
}
