// As an H100 executes them; results that nobody uses make `red`, of vectors and of atomicInc too.
// run: profile --device h100 -arch=sm_90 %s
// expect: pairs global_reduction_requests 1
// expect: pairs global_atomic_requests 0
// expect: pairs_used global_atomic_requests 1
// expect: around global_reduction_requests 2
// expect: around global_atomic_requests 0
// expect: around shared_atomic_transactions 0
// expect: around_used global_atomic_requests 1
// expect: around_used shared_atomic_transactions 0
__global__ void pairs(float2* p) { atomicAdd(&p[threadIdx.x], make_float2(1, 2)); }
__global__ void pairs_used(float2* p) { p[threadIdx.x + 64] = atomicAdd(&p[threadIdx.x], make_float2(1, 2)); }
__global__ void around(unsigned* p) { atomicInc(&p[threadIdx.x], 9); atomicDec(&p[threadIdx.x + 64], 9); }
__global__ void around_used(unsigned* p) { p[threadIdx.x + 64] = atomicInc(&p[threadIdx.x], 9); }
int main() {
  void* p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  pairs<<<1, 32>>>((float2*)p), pairs_used<<<1, 32>>>((float2*)p), around<<<1, 32>>>((unsigned*)p), around_used<<<1, 32>>>((unsigned*)p);
  return cudaDeviceSynchronize();
}
