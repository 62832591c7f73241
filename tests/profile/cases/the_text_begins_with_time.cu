// Few launches are seen at once; who asks for what is exact gets that alone.
// run: profile %s
// expect: out has /^Times are predicted for this GPU at [0-9]+ MHz, not measured.*docs/timing.md/
// expect: out has /^  copy\(.*  +3  .* to .* %  [a-zA-Z0-9]+$/
// expect: out has 5 of /^      [0-9.]+ (ns|µs|ms), [0-9.]+ to [0-9.]+, predicted$/
// expect: out has 5 of /^      bound by /
// expect: out has 5 of /^      warps wait +[0-9]+ % [a-z_]+ \(.*: %s:[0-9]+ [0-9]+ %/
// run: profile -k roots %s
// expect: out lacks Launches
// expect: out has predicted
// expect: out has Metric
// run: profile --set basic %s
// expect: out lacks /predicted|^    [CT] /
// expect: out has F smsp__inst_executed.sum
// run: profile --set exact %s
// expect: out lacks /predicted|^    [CT] /
// expect: out has F smsp__inst_executed.sum
// expect: out has S launch__grid_size
// run: profile --metrics inst_executed --json exact.json %s
// expect: exact.json lacks "predicted"
#include <cstdio>
__global__ void copy(const float* a, float* b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i];
}
__global__ void sums(const float* a, float* b) {
  __shared__ float part[256];
  part[threadIdx.x] = a[blockIdx.x * 256 + threadIdx.x];
  for (int n = 128; n > 0; n /= 2) {
    __syncthreads();
    if (threadIdx.x < n) part[threadIdx.x] += part[threadIdx.x + n];
  }
  if (threadIdx.x == 0) atomicAdd(b, part[0]);
}
__global__ void roots(float* b, int n) {
  float x = b[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 0; k < n; ++k) x = sqrtf(x) + 1;
  b[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
int main() {
  float *a, *b, first;
  cudaMalloc(&a, 4 << 20);
  cudaMalloc(&b, 4 << 20);
  cudaMemset(a, 0, 4 << 20);
  for (int k = 0; k < 3; ++k) copy<<<4096, 256>>>(a, b);
  sums<<<4096, 256>>>(a, b);
  roots<<<512, 256>>>(b, 30);
  cudaMemcpy(&first, b, 4, cudaMemcpyDeviceToHost);
  printf("first %g\n", first);
  return cudaDeviceSynchronize();
}
