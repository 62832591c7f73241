// What NVIDIA's compiler makes of each kind of variable, printf, templates and streams.
#include <cstdio>

__device__ int table[4] = {1, 2, 3, 4};
__constant__ float factor;
__managed__ int counter;

template <class T>
__global__ void transform(T* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * factor + table[i & 3];
  if (i == 0) printf("block %d of %d\n", blockIdx.x, gridDim.x);
  atomicAdd(&counter, 1);
}

int main() {
  constexpr int n = 1000;
  static float host[n];
  float *data, two = 2;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMalloc(&data, sizeof host);
  cudaError_t first = cudaMemcpyToSymbol(factor, &two, sizeof two);
  if (first != cudaSuccess) {
    std::printf("%d: %s\n", first, cudaGetErrorString(first));
    return 3;
  }
  cudaMemcpyAsync(data, host, sizeof host, cudaMemcpyHostToDevice, stream);
  transform<<<8, 128, 0, stream>>>(data, n);
  cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, stream);
  if (cudaStreamSynchronize(stream) != cudaSuccess) return 2;
  for (int i = 0; i < n; ++i)
    if (host[i] != 2 * i + (i & 3) + 1) return 1;
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  std::printf("%s, %d multiprocessors\n", properties.name, properties.multiProcessorCount);
  return counter != 1024;
}
