// What the books' chapter on streams does, each in a range of its name: chapter_order.py looks at the timeline.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#ifdef _OPENMP
#include <omp.h>
#endif

constexpr int kStreams = 4;

__global__ void kernel_1(double* x) {
  double v = threadIdx.x;
  for (int k = 0; k < 20000; ++k) v = v * 0.999 + 0.25;
  if (v == -1) *x = v;
}

__global__ void sum_arrays(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = a[i] + b[i];
  for (int k = 0; k < 100; ++k) v = v * 0.999f + 0.5f;
  c[i] = v;
}

struct Range {
  explicit Range(const char* name) { nvtxRangePushA(name); }
  ~Range() {
    cudaDeviceSynchronize();
    nvtxRangePop();
  }
};

static void CUDART_CB my_callback(cudaStream_t, cudaError_t, void* which) { printf("callback from stream %d\n", *static_cast<int*>(which)); }

int main() {
  cudaStream_t s[kStreams];
  for (auto& each : s) cudaStreamCreate(&each);
  double* x;
  cudaMalloc(&x, sizeof *x);
  const int n = 1 << 20;
  const size_t bytes = n * sizeof(float);
  float *a, *b, *c, *device_a, *device_b, *device_c;
  cudaMallocHost(&a, bytes);
  cudaMallocHost(&b, bytes);
  cudaMallocHost(&c, bytes);
  cudaMalloc(&device_a, bytes);
  cudaMalloc(&device_b, bytes);
  cudaMalloc(&device_c, bytes);
  const auto kernel = [&](cudaStream_t stream) { kernel_1<<<1, 1, 0, stream>>>(x); };
  kernel(0);
  sum_arrays<<<1, 1>>>(device_a, device_b, device_c, 1);
  cudaDeviceSynchronize();
  {
    Range range("depth");
    for (auto& each : s)
      for (int k = 0; k < 4; ++k) kernel(each);
  }
  {
    Range range("breadth");
    for (int k = 0; k < 4; ++k)
      for (auto& each : s) kernel(each);
  }
#ifdef _OPENMP
  {
    Range range("openmp");
    omp_set_num_threads(kStreams);
#pragma omp parallel
    for (int k = 0; k < 4; ++k) kernel(s[omp_get_thread_num()]);
  }
#endif
  {
    Range range("default");
    for (int k = 0; k < 2; ++k) kernel(s[0]);
    kernel(0);
    for (int k = 0; k < 2; ++k) kernel(s[1]);
  }
  {
    Range range("dependencies");
    cudaEvent_t done[kStreams];
    for (int i = 0; i < kStreams; ++i) {
      cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
      for (int k = 0; k < 4; ++k) kernel(s[i]);
      cudaEventRecord(done[i], s[i]);
      cudaStreamWaitEvent(s[kStreams - 1], done[i], 0);
    }
    kernel(s[kStreams - 1]);
  }
  const int m = n / kStreams;
  const auto up = [&](int i) {
    cudaMemcpyAsync(device_a + i * m, a + i * m, m * sizeof(float), cudaMemcpyHostToDevice, s[i]);
    cudaMemcpyAsync(device_b + i * m, b + i * m, m * sizeof(float), cudaMemcpyHostToDevice, s[i]);
  };
  const auto sum = [&](int i) { sum_arrays<<<m / 256, 256, 0, s[i]>>>(device_a + i * m, device_b + i * m, device_c + i * m, m); };
  const auto down = [&](int i) { cudaMemcpyAsync(c + i * m, device_c + i * m, m * sizeof(float), cudaMemcpyDeviceToHost, s[i]); };
  {
    Range range("add by depth");
    for (int i = 0; i < kStreams; ++i) up(i), sum(i), down(i);
  }
  {
    Range range("add by breadth");
    for (int i = 0; i < kStreams; ++i) up(i);
    for (int i = 0; i < kStreams; ++i) sum(i);
    for (int i = 0; i < kStreams; ++i) down(i);
  }
  {
    Range range("host beside");
    cudaEvent_t stop;
    cudaEventCreate(&stop);
    cudaMemcpyAsync(device_a, a, bytes, cudaMemcpyHostToDevice);
    sum_arrays<<<n / 256, 256>>>(device_a, device_b, device_c, n);
    cudaMemcpyAsync(c, device_c, bytes, cudaMemcpyDeviceToHost);
    cudaEventRecord(stop);
    unsigned long counter = 0;
    while (cudaEventQuery(stop) == cudaErrorNotReady) ++counter;
  }
  {
    Range range("callbacks");
    static int ids[kStreams];
    for (int i = 0; i < kStreams; ++i) {
      ids[i] = i;
      for (int k = 0; k < 4; ++k) kernel(s[i]);
      cudaStreamAddCallback(s[i], my_callback, &ids[i], 0);
      kernel(s[i]);
    }
  }
  return 0;
}
