// One lane does it for all where the vendor's assembler sees that lanes share the address: of shared memory as an H100 does it.
// engines: interpreter jit
// run: profile --device h100 %s
// expect: sums l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 4
// expect: sums l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 0
// expect: constants l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 4
// expect: constants l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 0
// expect: some l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 4
// expect: some l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 0
// expect: ticket l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 4
// expect: ticket l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 0
// expect: greatest l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 4
// expect: greatest l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 0
// expect: bits l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 4
// expect: bits l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 0
// expect: greatest_used l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 128
// expect: greatest_used inst_executed_shared_atomics 4
// expect: wraps l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 128
// expect: wraps inst_executed_shared_atomics 4
// expect: exchanged l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 128
// expect: exchanged inst_executed_shared_atomics 4
// expect: by_warps l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 128
// expect: by_warps inst_executed_shared_atomics 4
// run: profile --device v100 %s
// expect: sums l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 128
// expect: constants l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 4
#define KERNEL(name, T, what)                                                                        \
  __global__ void name(T* o, const int* k) {                                                          \
    __shared__ T n[64];                                                                               \
    n[threadIdx.x & 63] = 0;                                                                          \
    __syncthreads();                                                                                  \
    what;                                                                                             \
    __syncthreads();                                                                                  \
    o[threadIdx.x & 63] = n[threadIdx.x & 63];                                                        \
  }
KERNEL(sums, int, atomicAdd(&n[3], k[threadIdx.x]))
KERNEL(constants, int, atomicAdd(&n[3], 5))
KERNEL(some, int, if (k[threadIdx.x] & 1) atomicAdd(&n[3], k[threadIdx.x]))
KERNEL(ticket, int, o[64 + threadIdx.x] = atomicAdd(&n[3], 1))
KERNEL(greatest, int, atomicMax(&n[blockIdx.x], k[threadIdx.x]))
KERNEL(bits, unsigned, atomicOr(&n[3], 1u << (k[threadIdx.x] & 31)))
KERNEL(greatest_used, int, o[64 + threadIdx.x] = atomicMax(&n[3], k[threadIdx.x]))
KERNEL(wraps, unsigned, atomicInc(&n[3], 100u))
KERNEL(exchanged, int, atomicExch(&n[3], k[threadIdx.x]))
KERNEL(by_warps, int, atomicAdd(&n[threadIdx.x / 32], k[threadIdx.x]))
int main() {
  int *o, *k, all[128];
  for (int i = 0; i < 128; ++i) all[i] = i * 5;
  cudaMalloc(&o, 1024);
  cudaMalloc(&k, 512);
  cudaMemcpy(k, all, 512, cudaMemcpyHostToDevice);
  sums<<<1, 128>>>(o, k), constants<<<1, 128>>>(o, k), some<<<1, 128>>>(o, k), ticket<<<1, 128>>>(o, k), greatest<<<1, 128>>>(o, k);
  bits<<<1, 128>>>((unsigned*)o, k), greatest_used<<<1, 128>>>(o, k), wraps<<<1, 128>>>((unsigned*)o, k), exchanged<<<1, 128>>>(o, k), by_warps<<<1, 128>>>(o, k);
  return cudaDeviceSynchronize();
}
