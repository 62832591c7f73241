// Pinned memory by size and by way of making it, beside malloc and the first touch.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main() {
  CHECK(cudaFree(0));
  for (size_t mib : {1, 8, 64}) {
    const size_t bytes = mib << 20;
    const auto once = [&](const char* name, auto make, auto end) {
      double a = 0, f = 0;
      void* p;
      for (int i = 0; i < 4; ++i) {
        double t = now_us();
        make(&p);
        if (i) a += now_us() - t;
        t = now_us();
        end(p);
        if (i) f += now_us() - t;
      }
      std::printf("%s_%zu: %.3f us\n%s_end_%zu: %.3f us\n", name, mib, a / 3, name, mib, f / 3);
    };
    once("malloc_host", [&](void** p) { CHECK(cudaMallocHost(p, bytes)); }, [&](void* p) { CHECK(cudaFreeHost(p)); });
    once("mapped", [&](void** p) { CHECK(cudaHostAlloc(p, bytes, cudaHostAllocMapped)); }, [&](void* p) { CHECK(cudaFreeHost(p)); });
    once("write_combined", [&](void** p) { CHECK(cudaHostAlloc(p, bytes, cudaHostAllocWriteCombined)); }, [&](void* p) { CHECK(cudaFreeHost(p)); });
    char* block = (char*)std::aligned_alloc(4096, bytes);
    std::memset(block, 1, bytes);
    once("register", [&](void** p) { CHECK(cudaHostRegister(*p = block, bytes, cudaHostRegisterDefault)); }, [&](void* p) { CHECK(cudaHostUnregister(p)); });
    std::free(block);
  }
  return 0;
}
