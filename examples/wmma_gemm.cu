// C = A B on tensor cores: every warp makes 16 x 16 elements of C from 16 x 16 tiles of A and B that its lanes hold
// together, in f16 with sums in f32. What to see: the result of small whole numbers is exact, that of others as close
// as the rounding of the inputs to f16 lets it be.
#include <mma.h>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace nvcuda;

constexpr int kM = 64, kN = 96, kK = 80;

__global__ void multiply(const __half* a, const __half* b, float* c) {
  const int row = blockIdx.y * 16, column = (blockIdx.x * blockDim.y + threadIdx.y) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < kK; k += 16) {
    wmma::load_matrix_sync(fa, a + row * kK + k, kK);
    wmma::load_matrix_sync(fb, b + column * kK + k, kK);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c + row * kN + column, sum, kN, wmma::mem_row_major);
}

static double run(bool whole) {
  std::vector<__half> a(kM * kK), b(kK * kN);
  std::vector<float> fa(a.size()), fb(b.size()), c(kM * kN);
  unsigned int state = 1;
  const auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return whole ? (float)((int)(state >> 28) - 8) : (float)(int)(state >> 8) / (1 << 23) - 1.0f;
  };
  for (float& x : fa) x = next();
  for (float& x : fb) x = next();
  for (size_t i = 0; i < a.size(); i++) a[i] = __float2half(fa[i]);
  for (size_t i = 0; i < b.size(); i++) b[i] = __float2half(fb[i]);  // column by column
  __half *da, *db;
  float* dc;
  cudaMalloc(&da, a.size() * sizeof(__half));
  cudaMalloc(&db, b.size() * sizeof(__half));
  cudaMalloc(&dc, c.size() * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(__half), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(__half), cudaMemcpyHostToDevice);
  multiply<<<dim3(kN / 32, kM / 16), dim3(32, 2)>>>(da, db, dc);
  cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess) return 1e30;
  double worst = 0;
  for (int i = 0; i < kM; i++)
    for (int j = 0; j < kN; j++) {
      double sum = 0;
      for (int k = 0; k < kK; k++) sum += (double)fa[i * kK + k] * fb[j * kK + k];
      worst = std::fmax(worst, std::fabs(sum - c[i * kN + j]));
    }
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  return worst;
}

int main() {
  const double whole = run(true), others = run(false);
  std::printf("%d x %d x %d, largest error: whole numbers %g, others %g\n", kM, kN, kK, whole, others);
  const bool good = whole == 0 && others < 0.02;
  std::printf("%s\n", good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
