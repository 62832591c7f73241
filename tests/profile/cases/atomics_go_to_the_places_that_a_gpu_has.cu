// What an H100's counters said, whose memory lies as cudaMalloc gave it out: 512 bytes apart at least.
// engines: interpreter jit
// run: profile %s
// expect: halves l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum 45
// expect: slots l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum 913
// expect: slots global_atomic_requests 32
// expect: slots smsp__inst_executed_op_generic_atom.sum 32
// expect: tickets l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum 434
// expect: swapped l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum 417
// expect: greatest l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum 437
// expect: sums l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum 457
#include <cuda_fp16.h>
#include <vector>
__global__ void tickets(int* o, const int* k) { o[threadIdx.x + 2048] = atomicAdd(&o[k[threadIdx.x] % 700], 2); }
__global__ void swapped(int* o, const int* k) { atomicExch(&o[k[threadIdx.x] & 511], 7); }
__global__ void greatest(unsigned long long* o, const int* k) { atomicMax(&o[k[threadIdx.x] & 255], (unsigned long long)k[threadIdx.x]); }
__global__ void sums(double* o, const int* k) { atomicAdd(&o[k[threadIdx.x] % 333], 1.5); }
__global__ void slots(unsigned* o, const int* k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicCAS(&o[(k[i] * 2654435761u) & 1023], 0u, 0u);
}
__global__ void halves(__half2* o, const int* k, int n) { if (threadIdx.x < n) atomicAdd(&o[k[threadIdx.x] % 50], __half2()); }
char* make(size_t bytes) {
  char* p;
  cudaMalloc(&p, bytes);
  cudaMemset(p, 0, bytes);
  return p;
}
int main() {
  std::vector<int> keys(4096);
  unsigned state = 9;
  for (int& key : keys) state = state * 1664525u + 1013904223u, key = (state >> 8) % 100000;
  char *first = make(65792), *third;
  make(65792);
  third = make(65792);
  make(131328);
  char *e = make(131328), *k = make(16640), *o = make(65792);
  cudaMemcpy(k, keys.data(), 16384, cudaMemcpyHostToDevice);
  halves<<<1, 128>>>((__half2*)third, (int*)k, 100);
  slots<<<8, 128>>>((unsigned*)o, (int*)k, 1000);
  tickets<<<1, 512>>>((int*)o, (int*)k);
  swapped<<<1, 512>>>((int*)o, (int*)k);
  greatest<<<1, 512>>>((unsigned long long*)o, (int*)k);
  sums<<<1, 512>>>((double*)e, (int*)k);
  cudaFree(first);
  return cudaDeviceSynchronize();
}
