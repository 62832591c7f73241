// The vendor's assembler makes one access of neighbouring words that it knows to be aligned; counts as on an H100.
// engines: interpreter jit
// run: profile %s
// expect: product l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 192 384
// expect: product inst_executed_shared_loads 160 192
// expect: product l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum 0 0
// expect: pairs l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 16
// expect: pairs shared_store_transactions 16
// expect: pairs l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum 0
// expect: shifted inst_executed_shared_loads 32
// expect: points inst_executed_shared_loads 8
// expect: shorts shared_store_transactions 4
// expect: shorts l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 8
template <class T>
__global__ void product(const T* a, const T* b, T* c) {
  __shared__ T as[16][16], bs[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  as[y][x] = a[y * 16 + x];
  bs[y][x] = b[y * 16 + x];
  __syncthreads();
  T sum = 0;
  for (int k = 0; k < 16; ++k) sum += as[y][k] * bs[k][x];
  c[y * 16 + x] = sum;
}
__global__ void pairs(const float* in, float* out) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  s[2 * t] = in[2 * t];
  s[2 * t + 1] = in[2 * t + 1];
  __syncthreads();
  out[t] = s[2 * (t ^ 32)] * s[2 * (t ^ 32) + 1];
}
__global__ void shifted(const float* in, float* out) {
  __shared__ float s[260];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2] + s[threadIdx.x + 3];
}
__global__ void shorts(const short* in, short* out) {
  __shared__ short s[128][2];
  s[threadIdx.x][0] = in[threadIdx.x];
  s[threadIdx.x][1] = in[threadIdx.x + 128];
  __syncthreads();
  out[threadIdx.x] = s[127 - threadIdx.x][0] + s[127 - threadIdx.x][1];
}
__global__ void points(const float2* in, float2* out) {
  __shared__ float2 s[8];
  if (threadIdx.x < 8) s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  float2 sum = make_float2(0, 0);
  for (int k = 0; k < 8; ++k) sum.x += s[k].x, sum.y += s[k].y * sum.x;
  out[threadIdx.x] = sum;
}
int main() {
  void* p;
  cudaMalloc(&p, 1 << 14);
  cudaMemset(p, 0, 1 << 14);
  auto* f = (float*)p;
  auto* d = (double*)p;
  product<<<1, dim3(16, 16)>>>(f, f, f + 512);
  product<<<1, dim3(16, 16)>>>(d, d, d + 512);
  pairs<<<1, 256, 2048>>>(f, f + 1024);
  shifted<<<1, 256>>>(f, f + 1024);
  points<<<1, 32>>>((float2*)f, (float2*)f + 64);
  shorts<<<1, 128>>>((short*)p, (short*)p + 512);
  return cudaDeviceSynchronize();
}
