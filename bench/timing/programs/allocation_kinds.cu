// Allocation by size, kept and given back, of every kind that programs use.
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

__global__ void touch(float* x) { x[threadIdx.x] = 1; }

int main() {
  CHECK(cudaFree(0));
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  float* warm;
  CHECK(cudaMalloc(&warm, 1 << 20));
  touch<<<1, 256, 0, s>>>(warm);
  CHECK(cudaDeviceSynchronize());
  const size_t sizes[] = {4, 4096, 100 << 10, 512 << 10, 1 << 20, (1 << 20) + 4, 2 << 20, 8 << 20, 32 << 20, 256 << 20, 1024 << 20};
  for (size_t bytes : sizes) {
    std::vector<void*> all(8);
    double a = 0, f = 0, t;
    for (auto& p : all) {
      t = now_us();
      CHECK(cudaMalloc(&p, bytes));
      a += now_us() - t;
    }
    for (auto& p : all) {
      t = now_us();
      CHECK(cudaFree(p));
      f += now_us() - t;
    }
    std::printf("kept_%zu: %.3f us\nkept_free_%zu: %.3f us\n", bytes, a / 8, bytes, f / 8);
  }
  for (size_t bytes : sizes) {
    double a = 0, f = 0, t;
    void* p;
    for (int i = 0; i < 8; ++i) {
      t = now_us();
      CHECK(cudaMalloc(&p, bytes));
      a += now_us() - t;
      t = now_us();
      CHECK(cudaFree(p));
      f += now_us() - t;
    }
    std::printf("again_%zu: %.3f us\nagain_free_%zu: %.3f us\n", bytes, a / 8, bytes, f / 8);
  }
  const auto each = [&](const char* name, int n, auto make, auto end) {
    double a = 0, f = 0, t;
    void* p;
    for (int i = 0; i <= n; ++i) {
      t = now_us();
      make(&p);
      if (i) a += now_us() - t;
      t = now_us();
      end(p);
      if (i) f += now_us() - t;
    }
    std::printf("%s: %.3f us\n%s_end: %.3f us\n", name, a / n, name, f / n);
  };
  size_t pitch;
  each("pitch_1000x1000", 8, [&](void** p) { CHECK(cudaMallocPitch(p, &pitch, 4000, 1000)); }, [](void* p) { CHECK(cudaFree(p)); });
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  each("array_1000x1000", 8, [&](void**) { CHECK(cudaMallocArray(&array, &format, 1000, 1000)); }, [&](void*) { CHECK(cudaFreeArray(array)); });
  each("pinned_4k", 8, [&](void** p) { CHECK(cudaMallocHost(p, 4096)); }, [](void* p) { CHECK(cudaFreeHost(p)); });
  each("pinned_4m", 8, [&](void** p) { CHECK(cudaMallocHost(p, 4 << 20)); }, [](void* p) { CHECK(cudaFreeHost(p)); });
  each("pinned_32m", 5, [&](void** p) { CHECK(cudaMallocHost(p, 32 << 20)); }, [](void* p) { CHECK(cudaFreeHost(p)); });
  each("managed_4m", 8, [&](void** p) { CHECK(cudaMallocManaged(p, 4 << 20)); }, [](void* p) { CHECK(cudaFree(p)); });
  each("managed_used_4m", 8, [&](void** p) {
    CHECK(cudaMallocManaged(p, 4 << 20));
    touch<<<1, 256, 0, s>>>((float*)*p);
  }, [&](void* p) {
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaFree(p));
  });
  // Stream-ordered memory.
  const auto rounds = [&](const char* name, int n, size_t bytes, bool wait, bool several) {
    double a = 0, f = 0, t;
    const double begin = now_us();
    for (int i = 0; i < n; ++i) {
      float* p[4];
      t = now_us();
      for (int k = 0; k < (several ? 4 : 1); ++k) CHECK(cudaMallocAsync(&p[k], bytes << k, s));
      a += now_us() - t;
      touch<<<1, 256, 0, s>>>(p[0]);
      t = now_us();
      for (int k = 0; k < (several ? 4 : 1); ++k) CHECK(cudaFreeAsync(p[k], s));
      f += now_us() - t;
      if (wait) CHECK(cudaStreamSynchronize(s));
    }
    CHECK(cudaStreamSynchronize(s));
    std::printf("%s_malloc: %.3f us\n%s_free: %.3f us\n%s_round: %.3f us\n", name, a / n, name, f / n, name, (now_us() - begin) / n);
  };
  rounds("pool_4k_waits", 20, 4096, true, false);
  rounds("pool_4m_waits", 20, 4 << 20, true, false);
  rounds("pool_64m_waits", 20, 64 << 20, true, false);
  rounds("pool_4m", 50, 4 << 20, false, false);
  rounds("pool_four", 20, 1 << 20, false, true);
  rounds("pool_four_waits", 20, 1 << 20, true, true);
  {
    std::vector<float*> p(32);
    CHECK(cudaStreamSynchronize(s));
    double t = now_us();
    for (auto& q : p) CHECK(cudaMallocAsync(&q, 1 << 20, s));
    std::printf("pool_grows_1m: %.3f us\n", (now_us() - t) / 32);
    t = now_us();
    for (auto& q : p) CHECK(cudaFreeAsync(q, s));
    std::printf("pool_grows_1m_free: %.3f us\n", (now_us() - t) / 32);
    t = now_us();
    CHECK(cudaStreamSynchronize(s));
    std::printf("pool_gives_back_32m: %.3f us\n", now_us() - t);
  }
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long keep = ~0ull;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  rounds("keeps_4k_waits", 50, 4096, true, false);
  rounds("keeps_4m_waits", 50, 4 << 20, true, false);
  rounds("keeps_64m_waits", 50, 64 << 20, true, false);
  rounds("keeps_four_waits", 50, 1 << 20, true, true);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t own;
  double t = now_us();
  CHECK(cudaMemPoolCreate(&own, &properties));
  std::printf("pool_create: %.3f us\n", now_us() - t);
  float* p;
  t = now_us();
  CHECK(cudaMallocFromPoolAsync(&p, 4 << 20, own, s));
  std::printf("own_pool_first: %.3f us\n", now_us() - t);
  CHECK(cudaFreeAsync(p, s));
  CHECK(cudaStreamSynchronize(s));
  t = now_us();
  CHECK(cudaMallocFromPoolAsync(&p, 4 << 20, own, s));
  std::printf("own_pool_second: %.3f us\n", now_us() - t);
  CHECK(cudaFreeAsync(p, s));
  CHECK(cudaStreamSynchronize(s));
  t = now_us();
  CHECK(cudaMemPoolTrimTo(pool, 0));
  std::printf("pool_trim: %.3f us\n", now_us() - t);
  t = now_us();
  CHECK(cudaMemPoolDestroy(own));
  std::printf("pool_destroy: %.3f us\n", now_us() - t);
  return 0;
}
