// nvcc loads a byte where one is asked for, but for an index into words of shared memory; bytes as on an H100.
// run: profile --device h100 %s
// expect: bins gld_requested_bytes 1024
// expect: thrown gld_requested_bytes 512 3072
// expect: low gld_requested_bytes 64
// expect: top gld_requested_bytes 64
__global__ void bins(const unsigned* k, int* o) {
  __shared__ int h[256];
  h[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&h[k[threadIdx.x] & 255], 1);
  __syncthreads();
  o[threadIdx.x] = h[threadIdx.x];
}
template <class T>
__global__ void thrown(const T* a, T* o, const unsigned* k) {
  __shared__ T s[256];
  s[k[threadIdx.x] & 255] = a[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x];
}
__global__ void low(const unsigned* k, int* o) { o[threadIdx.x] = k[threadIdx.x] & 255; }
__global__ void top(const unsigned* k, int* o) { o[threadIdx.x] = k[threadIdx.x] >> 24; }
int main() {
  unsigned* k;
  cudaMalloc(&k, 1 << 16);
  cudaMemset(k, 0, 1 << 16);
  auto* o = (int*)k + 1024;
  bins<<<1, 256>>>(k, o), thrown<<<1, 256>>>((char*)k, (char*)o, k), thrown<<<1, 256>>>((double*)k, (double*)o, k);
  low<<<1, 64>>>(k, o), top<<<1, 64>>>(k, o);
  return cudaDeviceSynchronize();
}
