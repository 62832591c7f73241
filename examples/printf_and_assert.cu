// printf_and_assert: kernels that talk, and kernels that stop the show.
// Look at the child process: a failed device assert poisons its context, so it is tried where it can do no harm.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__global__ void say(int a, unsigned b, long long c, float x, double y, char letter, const char* unused) {
  if (threadIdx.x == 0) printf("%d %u %lld %x %5.2f %e %c %s %%\n", a, b, c, 255, x, y, letter, "text from the device");
}

__global__ void check_all(const int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) assert(data[i] < 100 && "values stay below 100");
}

// Runs in a child process; the exit status says what the runtime reported.
static int try_broken_assert() {
  int values[64];
  for (int i = 0; i < 64; ++i) values[i] = i;
  values[40] = 1000;
  int* d_values;
  if (cudaMalloc(&d_values, sizeof values) != cudaSuccess) return 1;
  if (cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice) != cudaSuccess) return 2;
  check_all<<<2, 32>>>(d_values, 64);
  if (cudaGetLastError() != cudaSuccess) return 3;            // the launch itself was fine
  if (cudaDeviceSynchronize() != cudaErrorAssert) return 4;   // the kernel was not
  if (cudaMalloc(&d_values, 4) != cudaErrorAssert) return 5;  // and the context stays broken
  return 42;
}

int main() {
  std::fflush(stdout);
  pid_t child = fork();  // before the first runtime call: a context does not survive a fork
  if (child == 0) {
    if (!std::freopen("/dev/null", "w", stderr)) std::_Exit(9);
    std::_Exit(try_broken_assert());
  }
  int status = 0;
  waitpid(child, &status, 0);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::printf("broken assert: %s\n", code == 42 ? "reported, and the context refuses more work" : "NOT REPORTED");

  say<<<1, 32>>>(-7, 7u, 1LL << 40, 3.14159f, 2.5e10, 'w', nullptr);
  CHECK(cudaDeviceSynchronize());  // device output appears by now
  int values[64], *d_values;
  for (int i = 0; i < 64; ++i) values[i] = i;
  CHECK(cudaMalloc(&d_values, sizeof values));
  CHECK(cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice));
  check_all<<<2, 32>>>(d_values, 64);
  cudaError_t good = cudaDeviceSynchronize();
  CHECK(cudaFree(d_values));
  bool ok = code == 42 && good == cudaSuccess;
  std::printf("printf_and_assert: %s\n", ok ? "a true assert is silent, a false one is fatal" : "FAILED");
  return ok ? 0 : 1;
}
