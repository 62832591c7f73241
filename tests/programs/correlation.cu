// Mean, standard deviation, centred data, and correlation and covariance matrices.
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

#define M 60
#define N 90
#define EPS 0.1f

__global__ void mean_kernel(float* mean, const float* data) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < M) {
    mean[j] = 0.0f;
    for (int i = 0; i < N; i++) mean[j] += data[i * M + j];
    mean[j] /= (float)N;
  }
}
__global__ void std_kernel(const float* mean, float* std, const float* data) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < M) {
    std[j] = 0.0f;
    for (int i = 0; i < N; i++) std[j] += (data[i * M + j] - mean[j]) * (data[i * M + j] - mean[j]);
    std[j] = sqrtf(std[j] / N);
    if (std[j] <= EPS) std[j] = 1.0f;
  }
}
__global__ void center_kernel(const float* mean, const float* std, float* data, float* centred) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < N && j < M) {
    centred[i * M + j] = data[i * M + j] - mean[j];
    data[i * M + j] = centred[i * M + j] / (sqrtf((float)N) * std[j]);
  }
}
__global__ void symmetric_kernel(float* out, const float* data, float scale) {
  int j1 = blockIdx.x * blockDim.x + threadIdx.x;
  if (j1 >= M) return;
  for (int j2 = j1; j2 < M; j2++) {
    float sum = 0.0f;
    for (int i = 0; i < N; i++) sum += data[i * M + j1] * data[i * M + j2];
    out[j1 * M + j2] = out[j2 * M + j1] = sum * scale;
  }
}

int main() {
  std::vector<float> data(N * M), corr(M * M), cov(M * M);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) data[i * M + j] = (float)((i * j * 7 + i * 3 + j) % 101) / 20.0f;
  float *d_data, *d_c, *d_mean, *d_std, *d_corr, *d_cov;
  CHECK(cudaMalloc(&d_data, N * M * 4));
  CHECK(cudaMalloc(&d_c, N * M * 4));
  CHECK(cudaMalloc(&d_mean, M * 4));
  CHECK(cudaMalloc(&d_std, M * 4));
  CHECK(cudaMalloc(&d_corr, M * M * 4));
  CHECK(cudaMalloc(&d_cov, M * M * 4));
  CHECK(cudaMemcpy(d_data, data.data(), N * M * 4, cudaMemcpyHostToDevice));
  mean_kernel<<<(M + 255) / 256, 256>>>(d_mean, d_data);
  std_kernel<<<(M + 255) / 256, 256>>>(d_mean, d_std, d_data);
  center_kernel<<<dim3((M + 31) / 32, (N + 7) / 8), dim3(32, 8)>>>(d_mean, d_std, d_data, d_c);
  symmetric_kernel<<<1, 64>>>(d_corr, d_data, 1.0f);
  symmetric_kernel<<<1, 64>>>(d_cov, d_c, 1.0f / (N - 1));
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(corr.data(), d_corr, M * M * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(cov.data(), d_cov, M * M * 4, cudaMemcpyDeviceToHost));
  int bad = 0;
  std::vector<double> mean(M), sd(M);
  for (int j = 0; j < M; j++) {
    for (int i = 0; i < N; i++) mean[j] += data[i * M + j] / (double)N;
    for (int i = 0; i < N; i++) sd[j] += pow(data[i * M + j] - mean[j], 2) / N;
    sd[j] = sqrt(sd[j]) <= EPS ? 1.0 : sqrt(sd[j]);
  }
  for (int a = 0; a < M; a++)
    for (int b = 0; b < M; b++) {
      double s = 0;
      for (int i = 0; i < N; i++) s += (data[i * M + a] - mean[a]) * (data[i * M + b] - mean[b]);
      bad += !(fabs(corr[a * M + b] - s / N / sd[a] / sd[b]) < 1e-4) + !(fabs(cov[a * M + b] - s / (N - 1)) < 1e-3);
    }
  printf("correlation: r[0][1] %.4f, cov[2][2] %.4f, %d wrong, %s\n", corr[1], cov[2 * M + 2], bad,
         bad ? "FAILED" : "PASSED");
  return bad != 0;
}
