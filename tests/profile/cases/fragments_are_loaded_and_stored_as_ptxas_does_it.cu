// Instructions as ptxas makes them for sm_90: tiles of 8 rows of 16 bytes, read by LDSM from shared memory.
// run: profile --set full %s
// expect: product smsp__inst_executed_op_global_ld.sum 12 16 12
// expect: product l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 12 16 12
// expect: product l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 96 96 96
// expect: product smsp__sass_data_bytes_mem_global_op_ld.sum 2048 2048 2048
// expect: product smsp__inst_executed_op_global_st.sum 4 8 4
// expect: product l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 32 32 32
// expect: shared_product smsp__inst_executed_op_shared_ld.sum 1 1 1
// expect: shared_product smsp__inst_executed_op_ldsm.sum 2 2 2
// expect: shared_product l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum 8 8 24
// expect: shared_product l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 17 9 65
// expect: shared_product l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 8 0 56
// expect: shared_product smsp__inst_executed_op_shared_st.sum 4 8 4
// expect: bytes smsp__inst_executed_op_global_ld.sum 4 16
// expect: bytes l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 16 64
// Loads and stores of fragments, of several types and layouts.
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda::wmma;
template <class LA, class LB, layout_t LC>
__global__ void product(const half* a, const half* b, float* c, int ld) {
  fragment<matrix_a, 16, 16, 16, half, LA> A;
  fragment<matrix_b, 16, 16, 16, half, LB> B;
  fragment<accumulator, 16, 16, 16, float> C;
  load_matrix_sync(A, a, ld);
  load_matrix_sync(B, b, ld);
  load_matrix_sync(C, c, ld, LC);
  mma_sync(C, A, B, C);
  store_matrix_sync(c, C, ld, LC);
}
template <class LA, class LB, layout_t LC, int LD>
__global__ void shared_product(float* o) {
  __shared__ __align__(128) half a[16 * LD], b[16 * LD];
  __shared__ __align__(128) float c[16 * LD];
  fragment<matrix_a, 16, 16, 16, half, LA> A;
  fragment<matrix_b, 16, 16, 16, half, LB> B;
  fragment<accumulator, 16, 16, 16, float> C;
  fill_fragment(C, 0.f);
  load_matrix_sync(A, a, LD);
  load_matrix_sync(B, b, LD);
  mma_sync(C, A, B, C);
  store_matrix_sync(c, C, LD, LC);
  o[threadIdx.x] = c[threadIdx.x];
}
template <class LA, class LB>
__global__ void bytes(const signed char* a, const signed char* b, int* c) {
  fragment<matrix_a, 16, 16, 16, signed char, LA> A;
  fragment<matrix_b, 16, 16, 16, signed char, LB> B;
  fragment<accumulator, 16, 16, 16, int> C;
  fill_fragment(C, 0);
  load_matrix_sync(A, a, 16);
  load_matrix_sync(B, b, 16);
  mma_sync(C, A, B, C);
  store_matrix_sync(c, C, 16, mem_row_major);
}
int main() {
  char* p;
  cudaMalloc(&p, 1 << 20);
  cudaMemset(p, 0, 1 << 20);
  half *a = (half*)p, *b = (half*)(p + 65536);
  float* c = (float*)(p + 131072);
  product<row_major, col_major, mem_row_major><<<1, 32>>>(a, b, c, 16);
  product<col_major, row_major, mem_col_major><<<1, 32>>>(a, b, c, 64);
  product<row_major, row_major, mem_row_major><<<1, 32>>>(a, b, c, 24);
  shared_product<row_major, col_major, mem_row_major, 16><<<1, 32>>>(c);
  shared_product<row_major, row_major, mem_col_major, 24><<<1, 32>>>(c);
  shared_product<col_major, row_major, mem_row_major, 64><<<1, 32>>>(c);
  bytes<row_major, col_major><<<1, 32>>>((signed char*)p, (signed char*)p + 65536, (int*)c);
  bytes<col_major, row_major><<<1, 32>>>((signed char*)p, (signed char*)p + 65536, (int*)c);
  return cudaDeviceSynchronize();
}
