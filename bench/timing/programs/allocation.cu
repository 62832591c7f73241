// What allocating and freeing costs the host, by size and by kind.
#include <chrono>
#include <cstdio>
#include <cstdlib>
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

template <class Work>
static double event_us(Work work) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start));
  work();
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return ms * 1000;
}

int main() {
  CHECK(cudaFree(nullptr));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (size_t bytes : {size_t(256), size_t(64) << 10, size_t(1) << 20, size_t(16) << 20, size_t(128) << 20}) {
    const int count = 10;
    const auto time = [&](const char* name, auto allocate, auto release) {
      double a = 0, f = 0;
      for (int i = 0; i < count + 1; ++i) {
        void* p = nullptr;
        double start = now_us();
        allocate(&p);
        const double allocated = now_us() - start;
        start = now_us();
        release(p);
        const double freed = now_us() - start;
        if (i) a += allocated, f += freed;
      }
      std::printf("%s_%zu: %.3f us\n%s_free_%zu: %.3f us\n", name, bytes, a / count, name, bytes, f / count);
    };
    time("malloc", [&](void** p) { CHECK(cudaMalloc(p, bytes)); }, [](void* p) { CHECK(cudaFree(p)); });
    time("malloc_async", [&](void** p) { CHECK(cudaMallocAsync(p, bytes, stream)); }, [&](void* p) { CHECK(cudaFreeAsync(p, stream)); });
    CHECK(cudaStreamSynchronize(stream));
    if (bytes <= size_t(16) << 20)
      time("malloc_host", [&](void** p) { CHECK(cudaMallocHost(p, bytes)); }, [](void* p) { CHECK(cudaFreeHost(p)); });
    time("malloc_managed", [&](void** p) { CHECK(cudaMallocManaged(p, bytes)); }, [](void* p) { CHECK(cudaFree(p)); });
  }
  return 0;
}
