// A tensor core instruction written by hand: ldmatrix brings 8x8 tiles from shared memory into the registers that mma wants,
// and mma.sync multiplies 16x16 by 16x8 for a whole warp. What to see: which lane holds which element (the comments say),
// and that products of small integers are exact.
#include <cuda_fp16.h>

#include <cstdio>

constexpr int kM = 16, kN = 8, kK = 16;

__global__ void multiply(const __half* a, const __half* b, float* c) {
  __shared__ __align__(16) __half rows_of_a[kM][kK], rows_of_b[kK][kN];
  const int lane = threadIdx.x;
  for (int i = lane; i < kM * kK; i += 32) rows_of_a[i / kK][i % kK] = a[i];
  for (int i = lane; i < kK * kN; i += 32) rows_of_b[i / kN][i % kN] = b[i];
  __syncwarp();
#if __CUDA_ARCH__ >= 800
  // Lane i names a row: of the upper left tile 0-7, lower left 8-15, upper right 16-23, lower right 24-31.
  unsigned int fa[4], fb[2];
  const unsigned int at_a = (unsigned int)__cvta_generic_to_shared(&rows_of_a[lane % 16][lane / 16 * 8]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(at_a) : "memory");
  const unsigned int at_b = (unsigned int)__cvta_generic_to_shared(&rows_of_b[lane % 16][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(at_b) : "memory");
  float d[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  // Lane i has two neighbours in row i / 4 and two in the row eight below it.
  const int row = lane / 4, column = lane % 4 * 2;
  c[row * kN + column] = d[0];
  c[row * kN + column + 1] = d[1];
  c[(row + 8) * kN + column] = d[2];
  c[(row + 8) * kN + column + 1] = d[3];
#else
  for (int i = lane; i < kM * kN; i += 32) {
    float sum = 0;
    for (int k = 0; k < kK; ++k) sum += __half2float(rows_of_a[i / kN][k]) * __half2float(rows_of_b[k][i % kN]);
    c[i] = sum;
  }
#endif
}

int main() {
  __half *a, *b;
  float* c;
  cudaMallocManaged(&a, kM * kK * sizeof(__half));
  cudaMallocManaged(&b, kK * kN * sizeof(__half));
  cudaMallocManaged(&c, kM * kN * sizeof(float));
  for (int i = 0; i < kM * kK; ++i) a[i] = __float2half((float)(i * 7 % 13 - 6));
  for (int i = 0; i < kK * kN; ++i) b[i] = __float2half((float)(i * 5 % 11 - 5));
  multiply<<<1, 32>>>(a, b, c);
  bool good = cudaDeviceSynchronize() == cudaSuccess;
  for (int row = 0; row < kM; ++row)
    for (int column = 0; column < kN; ++column) {
      float sum = 0;
      for (int k = 0; k < kK; ++k) sum += __half2float(a[row * kK + k]) * __half2float(b[k * kN + column]);
      good = good && c[row * kN + column] == sum;
    }
  std::printf("c[15][7] = %g\n%s\n", c[kM * kN - 1], good ? "PASS" : "FAIL");
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  return !good;
}
