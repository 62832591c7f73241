// multi_device: the work is cut into one part per device, with a stream, memory and kernel on each.
// Look at cudaSetDevice: it decides where the next allocation, stream and launch go. One device is fine too: the loop
// then runs once, and peer access is asked for only where the devices can reach each other.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__global__ void square(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= data[i];
}

struct Part {
  int begin, count;
  float *device, *host;
  cudaStream_t stream;
};

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 100003;
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  std::vector<Part> parts(devices);
  for (int d = 0; d < devices; ++d) {
    Part& part = parts[d];
    part.begin = (int)((long long)n * d / devices);
    part.count = (int)((long long)n * (d + 1) / devices) - part.begin;
    CHECK(cudaSetDevice(d));
    CHECK(cudaMalloc(&part.device, part.count * sizeof(float)));
    CHECK(cudaMallocHost(&part.host, part.count * sizeof(float)));
    CHECK(cudaStreamCreate(&part.stream));
    for (int i = 0; i < part.count; ++i) part.host[i] = (float)((part.begin + i) % 1000);
  }
  for (int d = 0; d < devices; ++d) {
    Part& part = parts[d];
    CHECK(cudaSetDevice(d));
    CHECK(cudaMemcpyAsync(part.device, part.host, part.count * sizeof(float), cudaMemcpyHostToDevice, part.stream));
    square<<<(part.count + 255) / 256, 256, 0, part.stream>>>(part.device, part.count);
    CHECK(cudaMemcpyAsync(part.host, part.device, part.count * sizeof(float), cudaMemcpyDeviceToHost, part.stream));
  }
  int wrong = 0;
  for (int d = 0; d < devices; ++d) {
    Part& part = parts[d];
    int current = -1;
    CHECK(cudaSetDevice(d));
    CHECK(cudaStreamSynchronize(part.stream));
    CHECK(cudaGetDevice(&current));
    wrong += current != d;
    for (int i = 0; i < part.count; ++i) {
      float x = (float)((part.begin + i) % 1000);
      wrong += part.host[i] != x * x;
    }
  }

  // A pointer knows where it lives.
  int neighbours = 0;
  for (int d = 0; d < devices; ++d) {
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, parts[d].device));
    wrong += attributes.type != cudaMemoryTypeDevice || attributes.device != d;
    for (int peer = 0; peer < devices; ++peer) {
      int reachable = 0;
      if (peer != d) CHECK(cudaDeviceCanAccessPeer(&reachable, d, peer));
      neighbours += reachable;
    }
    CHECK(cudaSetDevice(d));
    CHECK(cudaStreamDestroy(parts[d].stream));
    CHECK(cudaFree(parts[d].device));
    CHECK(cudaFreeHost(parts[d].host));
  }
  std::printf("multi_device: %d device(s), %d peer link(s), %d wrong, %s\n", devices, neighbours, wrong,
              wrong || devices == 0 ? "FAILED" : "ok");
  return wrong || devices == 0;
}
