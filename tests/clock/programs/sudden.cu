// Ends without coming to its end, as the only argument says: exit, abort, kill, fault, or murder; or forks, before it uses the GPU
// (fork-first) or later, or uses no GPU.
#include <cuda_runtime.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

__global__ void twice(float* x) { x[threadIdx.x] *= 2; }

int main(int, char** words) {
  if (!strcmp(words[1], "nothing")) return 0;
  const pid_t other = !strcmp(words[1], "fork-first") ? fork() : 0;
  float* x;
  cudaMalloc(&x, 32 * sizeof(float));
  twice<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  if (!strcmp(words[1], "exit")) _exit(3);
  if (!strcmp(words[1], "abort")) abort();
  if (!strcmp(words[1], "kill")) raise(SIGTERM);
  if (!strcmp(words[1], "fork")) {
    const pid_t child = fork();
    if (child == 0) exit(0);
    waitpid(child, nullptr, 0);
    twice<<<1, 32>>>(x);
  }
  if (!strcmp(words[1], "murder")) {  // some seconds later, on real time
    for (const auto begin = __builtin_ia32_rdtsc(); __builtin_ia32_rdtsc() - begin < 10'000'000'000;) {}
    raise(SIGKILL);
  }
  if (other) waitpid(other, nullptr, 0);
  if (!strcmp(words[1], "fault")) *reinterpret_cast<volatile int*>(16) = 1;
  return 0;
}
