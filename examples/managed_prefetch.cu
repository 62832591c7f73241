// Managed memory with advice: one pointer for both sides, and hints about who will read it where. What to see: the hints
// change where pages lie and never what a program computes; cudaMemRangeGetAttribute tells what was advised.
#include <cstdio>
#include <vector>

__global__ void scale(const float* table, int size, float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= table[i % size];
}

// Toolkit 13 names a place with a structure, where those before it took a device's number.
#if CUDART_VERSION >= 13000
using Place = cudaMemLocation;
Place place(int device) { return {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device == cudaCpuDeviceId ? 0 : device}; }
#define PREFETCH_FLAGS 0,
#else
using Place = int;
Place place(int device) { return device; }
#define PREFETCH_FLAGS
#endif

int main() {
  const int n = 1 << 18, size = 100;
  int device = 0;
  cudaGetDevice(&device);
  float *data, *table;
  cudaMallocManaged(&data, n * sizeof(float));
  cudaMallocManaged(&table, size * sizeof(float));
  for (int i = 0; i < n; ++i) data[i] = (float)(i % 1000);
  for (int i = 0; i < size; ++i) table[i] = (float)i;

  const Place here = place(device), host = place(cudaCpuDeviceId);
  cudaMemAdvise(table, size * sizeof(float), cudaMemAdviseSetReadMostly, here);  // both sides may keep a copy
  cudaMemAdvise(data, n * sizeof(float), cudaMemAdviseSetPreferredLocation, here);
  cudaMemAdvise(data, n * sizeof(float), cudaMemAdviseSetAccessedBy, host);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemPrefetchAsync(data, n * sizeof(float), here, PREFETCH_FLAGS stream);  // in stream order, as a copy would be
  scale<<<(n + 255) / 256, 256, 0, stream>>>(table, size, data, n);
  cudaMemPrefetchAsync(data, n * sizeof(float), host, PREFETCH_FLAGS stream);
  bool good = cudaStreamSynchronize(stream) == cudaSuccess;

  int read_mostly = 0, preferred = -1, last = -2;
  cudaMemRangeGetAttribute(&read_mostly, sizeof read_mostly, cudaMemRangeAttributeReadMostly, table, size * sizeof(float));
  cudaMemRangeGetAttribute(&preferred, sizeof preferred, cudaMemRangeAttributePreferredLocation, data, n * sizeof(float));
  cudaMemRangeGetAttribute(&last, sizeof last, cudaMemRangeAttributeLastPrefetchLocation, data, n * sizeof(float));
  good = good && read_mostly == 1 && preferred == device && last == cudaCpuDeviceId;
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += data[i] != (float)(i % 1000) * (i % size);
  good = good && wrong == 0;
  std::printf("read mostly: %d, preferred: device %d, last prefetched to: %s, %d wrong\n%s\n", read_mostly, preferred, last == cudaCpuDeviceId ? "the host" : "a device", wrong,
              good ? "PASS" : "FAIL");
  cudaFree(data);
  cudaFree(table);
  return !good;
}
