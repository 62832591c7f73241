// The H200 has 132 multiprocessors of 4 parts.
// run: profile %s
// expect: k smsp__warps_launched.avg 8
// expect: k sm__warps_launched.avg 32
// expect: k sm__warps_launched.sum 4224
// expect: k unique_warps_launched 4224
// expect: k sm__sass_thread_inst_executed_op_ffma_pred_on.sum 135168
// expect: k ldst_executed 12672
// expect: k l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum 1081344
// expect: spills local_load_requests 1
// expect: spills local_load_transactions_per_request 32
__global__ void k(float* p) { p[threadIdx.x] = p[threadIdx.x] * p[threadIdx.x + 256] + 1; __syncthreads(); }
__global__ void spills(float* p, int i) {
  float all[64];
  for (int j = 0; j < 64; ++j) all[j] = p[j];
  p[threadIdx.x] = all[(threadIdx.x + i) & 63];
}
int main() {
  float* p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  k<<<528, 256>>>(p);
  spills<<<1, 32>>>(p, 1);
  return cudaDeviceSynchronize();
}
