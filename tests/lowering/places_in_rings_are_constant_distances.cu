// `k % 3` is one value: what lies at constant distances from a tile of a ring is read at such, without arithmetic for each.
// run: nvcc -ptx %s
// expect: ptx at most 8 of /(add|sub).s64/
__global__ void k(const float* a, float* o, int n) {
  __shared__ float tile[3][64][16];
  float s = 0;
  for (int k = 0; k < n; k++) {
    tile[(k + 2) % 3][threadIdx.x][0] = a[k];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; j++)
#pragma unroll
      for (int i = 0; i < 4; i++) s += tile[k % 3][threadIdx.x + i][j] * j;
  }
  o[threadIdx.x] = s;
}
