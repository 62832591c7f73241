// k-means: assignment and accumulation on the device, until no point moves.
#include <cfloat>
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

const int DIMS = 4, K = 5;

__constant__ float c_centers[K * DIMS];

__global__ void assign(const float* pts, int* member, int* changed, float* sums, int* counts, int n) {
  extern __shared__ float s_sums[];
  int* s_counts = (int*)&s_sums[K * DIMS];
  for (int i = threadIdx.x; i < K * DIMS; i += blockDim.x) s_sums[i] = 0.0f;
  if (threadIdx.x < K) s_counts[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float best = FLT_MAX;
    int index = -1;
    for (int k = 0; k < K; k++) {
      float dist = 0;
      for (int d = 0; d < DIMS; d++) {
        float diff = pts[d * n + i] - c_centers[k * DIMS + d];
        dist += diff * diff;
      }
      if (dist < best) best = dist, index = k;
    }
    if (member[i] != index) {
      member[i] = index;
      atomicAdd(changed, 1);
    }
    atomicAdd(&s_counts[index], 1);
    for (int d = 0; d < DIMS; d++) atomicAdd(&s_sums[index * DIMS + d], pts[d * n + i]);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < K * DIMS; j += blockDim.x) atomicAdd(&sums[j], s_sums[j]);
  if (threadIdx.x < K) atomicAdd(&counts[threadIdx.x], s_counts[threadIdx.x]);
}

int main() {
  const int n = 6000;
  std::vector<float> pts(DIMS * n), centers(K * DIMS), sums(K * DIMS);
  std::vector<int> member(n, -1), counts(K), truth(n);
  unsigned s = 21;
  for (int i = 0; i < n; i++) {
    truth[i] = i % K;
    for (int d = 0; d < DIMS; d++) {
      s = s * 1664525u + 1013904223u;
      // Quarters of small whole numbers: float sums are exact in any order.
      pts[d * n + i] = (float)((truth[i] * 37 + d * 11) % 50) + (float)(s >> 29) * 0.25f;
    }
  }
  for (int k = 0; k < K; k++)
    for (int d = 0; d < DIMS; d++) centers[k * DIMS + d] = pts[d * n + k];
  float *d_pts, *d_sums;
  int *d_member, *d_changed, *d_counts;
  CHECK(cudaMalloc(&d_pts, pts.size() * 4));
  CHECK(cudaMalloc(&d_sums, sums.size() * 4));
  CHECK(cudaMalloc(&d_member, n * 4));
  CHECK(cudaMalloc(&d_changed, 4));
  CHECK(cudaMalloc(&d_counts, K * 4));
  CHECK(cudaMemcpy(d_pts, pts.data(), pts.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_member, 0xff, n * 4));
  int rounds = 0, changed;
  do {
    CHECK(cudaMemcpyToSymbol(c_centers, centers.data(), centers.size() * 4));
    CHECK(cudaMemset(d_changed, 0, 4));
    CHECK(cudaMemset(d_sums, 0, sums.size() * 4));
    CHECK(cudaMemset(d_counts, 0, K * 4));
    assign<<<(n + 127) / 128, 128, K * DIMS * sizeof(float) + K * sizeof(int)>>>(d_pts, d_member, d_changed, d_sums,
                                                                                 d_counts, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&changed, d_changed, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(sums.data(), d_sums, sums.size() * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(counts.data(), d_counts, K * 4, cudaMemcpyDeviceToHost));
    for (int k = 0; k < K; k++)
      for (int d = 0; d < DIMS; d++) centers[k * DIMS + d] = sums[k * DIMS + d] / counts[k];
    rounds++;
  } while (changed > 0 && rounds < 100);
  CHECK(cudaMemcpy(member.data(), d_member, n * 4, cudaMemcpyDeviceToHost));
  int bad = rounds >= 100;
  for (int i = 0; i < n; i++) bad += member[i] != truth[i];
  for (int k = 0; k < K; k++) bad += counts[k] != n / K;
  printf("kmeans: %d rounds, first centre (%.3f %.3f %.3f %.3f), %s\n", rounds, centers[0], centers[1], centers[2],
         centers[3], bad ? "FAILED" : "PASSED");
  return bad != 0;
}
