// 24 passes on an H100: a warp whose lanes take both branches stores once.
// run: profile --device h100 %s
// expect: scans l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum 24
__global__ void scans(int* out, const int* in, int n) {
  extern __shared__ int s[];
  const int t = threadIdx.x;
  int to = 0, from = 1;
  s[t] = t > 0 ? in[t - 1] : 0;
  __syncthreads();
  for (int d = 1; d < n; d *= 2) {
    to = 1 - to, from = 1 - to;
    if (t >= d) s[to * n + t] = s[from * n + t] + s[from * n + t - d];
    else s[to * n + t] = s[from * n + t];
    __syncthreads();
  }
  out[t] = s[to * n + t];
}
int main() {
  int* p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  scans<<<1, 96, 768>>>(p, p + 512, 96);
  return cudaDeviceSynchronize();
}
