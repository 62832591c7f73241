// Runs programs that were built as shared objects one after the other in this process, with a marked launch before each:
// starting a process under a profiler takes seconds. driver PROGRAM.so …
#include <cstdio>
#include <dlfcn.h>

#include <cuda_runtime.h>

__global__ void program_marker() {}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    void* object = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    auto* program = object ? reinterpret_cast<int (*)()>(dlsym(object, "_Z12program_mainv")) : nullptr;
    if (!program) {
      std::fprintf(stderr, "%s: %s\n", argv[i], dlerror());
      continue;
    }
    program_marker<<<i, 1>>>();
    cudaDeviceSynchronize();
    const int result = program();
    const cudaError_t error = cudaDeviceSynchronize();
    if (result || error != cudaSuccess) std::fprintf(stderr, "%s: %d, %s\n", argv[i], result, cudaGetErrorString(error));
    std::fflush(stdout);
  }
  return 0;
}
