// Kernels that index arrays among their parameters: with one place for all lanes, with a place for each, and in a copy that is written.
#include <cstdio>

struct Table {
  int values[1000];
  short small[8];
  const int* parts[4];
};

__global__ void total(const __grid_constant__ Table t, int n, int* out) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += t.values[i];
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void gather(const __grid_constant__ Table t, const int* places, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = t.values[places[i]] + t.small[places[i] % 8] + t.parts[blockIdx.x % 4][threadIdx.x];
}

__global__ void copy(Table t, int from, int* out) {
  int* own = t.values;
  own[threadIdx.x] += 1;
  out[threadIdx.x] = own[(threadIdx.x + from) % 1000];
}

int main() {
  Table t;
  int *places, *out, *parts;
  cudaMallocManaged(&places, 1024 * sizeof(int));
  cudaMallocManaged(&out, 1024 * sizeof(int));
  cudaMallocManaged(&parts, 1024 * sizeof(int));
  for (int i = 0; i < 1000; ++i) t.values[i] = i * i % 337;
  for (int i = 0; i < 8; ++i) t.small[i] = static_cast<short>(-i);
  for (int i = 0; i < 4; ++i) t.parts[i] = parts + 256 * i;
  for (int i = 0; i < 1024; ++i) {
    places[i] = i * 7919 % 1000;
    parts[i] = 3 * i;
  }
  bool good = true;
  total<<<2, 64>>>(t, 1000, out);
  good = cudaDeviceSynchronize() == cudaSuccess;
  int sum = 0;
  for (int v : t.values) sum += v;
  good = good && out[0] == sum && out[1] == sum;
  gather<<<4, 256>>>(t, places, out);
  good = good && cudaDeviceSynchronize() == cudaSuccess;
  for (int i = 0; i < 1024; ++i) good = good && out[i] == t.values[places[i]] - places[i] % 8 + 3 * i;
  copy<<<1, 256>>>(t, 100, out);
  good = good && cudaDeviceSynchronize() == cudaSuccess;
  // Every thread has an array of its own.
  for (int i = 0; i < 256; ++i) good = good && out[i] == t.values[i + 100];
  puts(good ? "passed" : "failed");
  return good ? 0 : 1;
}
