// Blocked LU decomposition without pivoting: diagonal, perimeter and internal kernels.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

#define BLOCK_SIZE 16

__global__ void lud_diagonal(float* m, int dim, int offset) {
  __shared__ float shadow[BLOCK_SIZE][BLOCK_SIZE];
  int at = offset * dim + offset;
  for (int i = 0; i < BLOCK_SIZE; i++) {
    shadow[i][threadIdx.x] = m[at + threadIdx.x];
    at += dim;
  }
  __syncthreads();
  for (int i = 0; i < BLOCK_SIZE - 1; i++) {
    if (threadIdx.x > i) {
      for (int j = 0; j < i; j++) shadow[threadIdx.x][i] -= shadow[threadIdx.x][j] * shadow[j][i];
      shadow[threadIdx.x][i] /= shadow[i][i];
    }
    __syncthreads();
    if (threadIdx.x > i) {
      for (int j = 0; j < i + 1; j++) shadow[i + 1][threadIdx.x] -= shadow[i + 1][j] * shadow[j][threadIdx.x];
    }
    __syncthreads();
  }
  at = (offset + 1) * dim + offset;
  for (int i = 1; i < BLOCK_SIZE; i++) {
    m[at + threadIdx.x] = shadow[i][threadIdx.x];
    at += dim;
  }
}

__global__ void lud_perimeter(float* m, int dim, int offset) {
  __shared__ float dia[BLOCK_SIZE][BLOCK_SIZE], peri_row[BLOCK_SIZE][BLOCK_SIZE], peri_col[BLOCK_SIZE][BLOCK_SIZE];
  int idx = threadIdx.x % BLOCK_SIZE, far = offset + (blockIdx.x + 1) * BLOCK_SIZE;
  for (int i = threadIdx.x / BLOCK_SIZE; i < BLOCK_SIZE; i += 2) {
    dia[i][idx] = m[(offset + i) * dim + offset + idx];
    peri_row[i][idx] = m[(offset + i) * dim + far + idx];
    peri_col[i][idx] = m[(far + i) * dim + offset + idx];
  }
  __syncthreads();
  if (threadIdx.x < BLOCK_SIZE) {
    for (int i = 1; i < BLOCK_SIZE; i++)
      for (int j = 0; j < i; j++) peri_row[i][idx] -= dia[i][j] * peri_row[j][idx];
  } else {
    for (int i = 0; i < BLOCK_SIZE; i++) {
      for (int j = 0; j < i; j++) peri_col[idx][i] -= peri_col[idx][j] * dia[j][i];
      peri_col[idx][i] /= dia[i][i];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x / BLOCK_SIZE; i < BLOCK_SIZE; i += 2) {
    m[(offset + i) * dim + far + idx] = peri_row[i][idx];
    m[(far + i) * dim + offset + idx] = peri_col[i][idx];
  }
}

__global__ void lud_internal(float* m, int dim, int offset) {
  __shared__ float peri_row[BLOCK_SIZE][BLOCK_SIZE], peri_col[BLOCK_SIZE][BLOCK_SIZE];
  int row = offset + (blockIdx.y + 1) * BLOCK_SIZE, col = offset + (blockIdx.x + 1) * BLOCK_SIZE;
  peri_row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * dim + col + threadIdx.x];
  peri_col[threadIdx.y][threadIdx.x] = m[(row + threadIdx.y) * dim + offset + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < BLOCK_SIZE; i++) sum += peri_col[threadIdx.y][i] * peri_row[i][threadIdx.x];
  m[(row + threadIdx.y) * dim + col + threadIdx.x] -= sum;
}

int main(int argc, char** argv) {
  const int dim = (argc > 1 ? atoi(argv[1]) : 96) / BLOCK_SIZE * BLOCK_SIZE;
  std::vector<float> a(dim * dim), lu(dim * dim);
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) a[i * dim + j] = (float)((i * 7 + j * 13) % 10) + (i == j ? 20.0f * dim / 16 : 0.0f);
  float* d_m;
  CHECK(cudaMalloc(&d_m, dim * dim * sizeof(float)));
  CHECK(cudaMemcpy(d_m, a.data(), dim * dim * sizeof(float), cudaMemcpyHostToDevice));
  int i = 0;
  for (; i < dim - BLOCK_SIZE; i += BLOCK_SIZE) {
    int rest = (dim - i) / BLOCK_SIZE - 1;
    lud_diagonal<<<1, BLOCK_SIZE>>>(d_m, dim, i);
    lud_perimeter<<<rest, BLOCK_SIZE * 2>>>(d_m, dim, i);
    lud_internal<<<dim3(rest, rest), dim3(BLOCK_SIZE, BLOCK_SIZE)>>>(d_m, dim, i);
  }
  lud_diagonal<<<1, BLOCK_SIZE>>>(d_m, dim, i);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(lu.data(), d_m, dim * dim * sizeof(float), cudaMemcpyDeviceToHost));
  double worst = 0;
  for (int r = 0; r < dim; r++)
    for (int c = 0; c < dim; c++) {
      double sum = 0;
      for (int k = 0; k <= (r < c ? r : c); k++) sum += (k == r ? 1.0 : (double)lu[r * dim + k]) * lu[k * dim + c];
      worst = fmax(worst, fabs(sum - a[r * dim + c]));
      if (!(fabs(sum) < 1e6)) worst = 1e9;
    }
  printf("lud: L*U differs from A by %s, %s\n", worst < 1e-2 ? "less than 0.01" : "too much",
         worst < 1e-2 ? "PASSED" : "FAILED");
  return !(worst < 1e-2);
}
