// error_handling: what goes wrong, when it is noticed, and which errors go away.
// Look at the two moments of a launch: a bad configuration is known at once, a bad kernel only at the next
// synchronisation; and at the two ways of asking: Peek leaves the error where it is, Get takes it away.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                         \
  do {                                                                      \
    const cudaError_t error_ = call;                                        \
    if (error_ != cudaSuccess) {                                            \
      printf("Error: %s:%d, ", __FILE__, __LINE__);                         \
      printf("code: %d, reason: %s\n", error_, cudaGetErrorString(error_)); \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

__global__ void write_seven(int* out) { *out = 7; }

static int failures = 0;

// A launch that cannot be is an invalid configuration; some runtime versions call it an invalid value.
static void expect_refused(const char* what, cudaError_t got) {
  bool right = got == cudaErrorInvalidConfiguration || got == cudaErrorInvalidValue;
  std::printf("%-42s %s\n", what, right ? "refused" : "ACCEPTED");
  failures += !right;
}

static void expect(const char* what, cudaError_t got, cudaError_t wanted) {
  bool right = got == wanted;
  std::printf("%-42s %s%s\n", what, cudaGetErrorName(got), right ? "" : "  WRONG");
  failures += !right;
}

int main() {
  int *d_value, value = 0;
  CHECK(cudaMalloc(&d_value, sizeof(int)));

  write_seven<<<1, 2048>>>(d_value);  // more threads than a block may have
  expect_refused("too many threads, peeked", cudaPeekAtLastError());
  expect_refused("too many threads, taken", cudaGetLastError());
  expect("and then it is gone", cudaGetLastError(), cudaSuccess);
  write_seven<<<0, 1>>>(d_value);
  expect_refused("an empty grid", cudaGetLastError());
  write_seven<<<1, dim3(1, 1, 128)>>>(d_value);
  expect_refused("too deep a block", cudaGetLastError());
  write_seven<<<dim3(1, 70000), 1>>>(d_value);
  expect_refused("too high a grid", cudaGetLastError());
  write_seven<<<1, 1, 1 << 20>>>(d_value);
  expect_refused("too much shared memory", cudaGetLastError());

  void* huge = nullptr;
  expect("more memory than there is", cudaMalloc(&huge, (size_t)1 << 50), cudaErrorMemoryAllocation);
  expect("that is remembered too", cudaGetLastError(), cudaErrorMemoryAllocation);
  expect("copying nowhere", cudaMemcpy(nullptr, &value, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  expect("a direction that does not exist", cudaMemcpy(d_value, &value, 4, (cudaMemcpyKind)9),
         cudaErrorInvalidMemcpyDirection);
  expect("freeing nothing is fine", cudaFree(nullptr), cudaSuccess);
  expect("freeing what was never had", cudaFree((void*)0x1234), cudaErrorInvalidValue);
  expect("a device that is not there", cudaSetDevice(4711), cudaErrorInvalidDevice);
  cudaGetLastError();

  // None of these errors broke anything: the device still works.
  write_seven<<<1, 1>>>(d_value);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&value, d_value, sizeof value, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_value));
  expect("freeing twice", cudaFree(d_value), cudaErrorInvalidValue);
  cudaGetLastError();
  bool text = std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0 &&
              std::strlen(cudaGetErrorString(cudaErrorMemoryAllocation)) > 0;
  bool ok = failures == 0 && value == 7 && text;
  std::printf("error_handling: %s\n", ok ? "every mistake was named, none was fatal" : "FAILED");
  return ok ? 0 : 1;
}
