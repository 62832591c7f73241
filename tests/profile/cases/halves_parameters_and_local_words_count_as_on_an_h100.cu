// As an H100 counts them: packed operations once, a half that becomes a float as an addition; a thread's array by words.
// engines: interpreter jit
// run: profile %s
// expect: halves smsp__sass_thread_inst_executed_op_hfma_pred_on.sum 32
// expect: halves flop_count_hp_fma 64
// expect: halves flop_count_hp 128
// expect: halves gld_transactions 8
// expect: widen smsp__sass_thread_inst_executed_op_hadd_pred_on.sum 32
// expect: widen flop_count_hp 0
// expect: fields global_load_requests 2
// expect: fields gld_transactions 8
// expect: picked local_load_requests 4
// expect: picked local_load_transactions 16
// expect: picked local_store_requests 8
#include <cuda_fp16.h>
struct Fields { float *x, *y; };
__global__ void halves(__half2 a, const __half2* x, __half2* y) { y[threadIdx.x] = __hfma2(a, x[threadIdx.x], y[threadIdx.x]); }
__global__ void widen(const __half* x, float* o) { o[threadIdx.x] = __half2float(x[threadIdx.x]); }
__global__ void fields(Fields f) { f.x[threadIdx.x] += f.y[threadIdx.x]; }
__global__ void picked(float4* p, int k) {
  float4 local[2] = {p[threadIdx.x], p[threadIdx.x + 32]};
  p[threadIdx.x] = local[k];
}
int main() {
  __half2* h;
  cudaMalloc(&h, 4096);
  cudaMemset(h, 0, 4096);
  Fields f{(float*)h, (float*)h + 64};
  halves<<<1, 32>>>(__half2half2(__half(2)), h, h + 64);
  widen<<<1, 32>>>((__half*)h, (float*)h + 64);
  fields<<<1, 32>>>(f);
  picked<<<1, 32>>>((float4*)h, 1);
  return cudaDeviceSynchronize();
}
