// What an H100 says of kernels with so many threads and so many bytes of dynamic shared memory.
// run: profile --device h100 %s
// expect: none launch__occupancy_limit_shared_mem 32 32 32 16 16 8 8
// expect: k launch__occupancy_limit_shared_mem 56 32 33 32 28 20 11 5 3 56 32 33 26 24 20 11 5 3 28 32 33 26 16 18 11 5 3 28 32 21 20 16 12 9 5 3 14 16 21 20 16 12 7 5 3 14 8 10 12 8 9 6 4 3 7 8 10 6 8 9 6 3 3 7 4 5 6 4 5 4 3 2 7 4 2 3 2 2 3 2 2
__global__ void none(float* o) { if (!o) o[threadIdx.x] = 1; }
__global__ void k(float* o) { extern __shared__ float s[]; if (!o) s[threadIdx.x] = 1; }
int main() {
  float* o;
  cudaMalloc(&o, 4096);
  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10);
  for (int warps : {1, 8, 15, 16, 23, 24, 32}) none<<<1, 32 * warps>>>(o);
  for (int warps : {1, 3, 4, 7, 9, 16, 20, 24, 32})
    for (int bytes : {4, 1000, 2000, 4000, 7000, 10000, 20000, 40000, 60000}) k<<<1, 32 * warps, bytes>>>(o);
  return cudaDeviceSynchronize();
}
