// A process that is forked from one that has used a device gets errors from every call, as with CUDA, and ends; its parent goes on.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

__global__ void add(int* p) { atomicAdd(p, 1); }

int main() {
  int* p;
  if (cudaMalloc(&p, sizeof(int)) != cudaSuccess || cudaMemset(p, 0, sizeof(int)) != cudaSuccess) return 1;
  add<<<1, 32>>>(p);
  const pid_t child = fork();
  if (child == 0) {
    void* more;
    bool right = cudaMalloc(&more, 4) == cudaErrorInitializationError;
    add<<<1, 32>>>(p);
    right &= cudaGetLastError() == cudaErrorInitializationError;
    right &= cudaDeviceSynchronize() == cudaErrorInitializationError;
    _exit(right ? 0 : 1);
  }
  int status = -1, count = 0;
  waitpid(child, &status, 0);
  add<<<1, 32>>>(p);
  if (cudaMemcpy(&count, p, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  const bool right = WIFEXITED(status) && WEXITSTATUS(status) == 0 && count == 64;
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return !right;
}
