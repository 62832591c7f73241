// A library: a kernel behind a host function, and a device function that others may call when code is relocatable.
__device__ float three_times(float x) { return 3 * x; }

__global__ void scale_kernel(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = three_times(data[i]);
}

void scale(float* data, int n) { scale_kernel<<<(n + 127) / 128, 128>>>(data, n); }
