// Nearest neighbour: distances on the device, the k smallest on the host.
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cuda.h"

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

typedef struct latLong {
  float lat;
  float lng;
} LatLong;

__global__ void euclid(LatLong* d_locations, float* d_distances, int numRecords, float lat, float lng) {
  int globalId = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
  LatLong* latLong = d_locations + globalId;
  if (globalId < numRecords) {
    float* dist = d_distances + globalId;
    *dist = (float)sqrt((lat - latLong->lat) * (lat - latLong->lat) + (lng - latLong->lng) * (lng - latLong->lng));
  }
}

int main() {
  const int n = 42764, k = 10;
  std::vector<LatLong> loc(n);
  unsigned s = 7;
  for (auto& l : loc) {
    s = s * 1664525u + 1013904223u;
    l.lat = (float)(s >> 16) / 65536.0f * 60.0f + 7.0f;
    s = s * 1664525u + 1013904223u;
    l.lng = (float)(s >> 16) / 65536.0f * 358.0f;
  }
  LatLong* d_loc;
  float* d_dist;
  CHECK(cudaMalloc((void**)&d_loc, n * sizeof(LatLong)));
  CHECK(cudaMalloc((void**)&d_dist, n * sizeof(float)));
  CHECK(cudaMemcpy(d_loc, &loc[0], n * sizeof(LatLong), cudaMemcpyHostToDevice));
  dim3 grid(60, (n + 256 * 60 - 1) / (256 * 60));
  euclid<<<grid, 256>>>(d_loc, d_dist, n, 30.0f, 90.0f);
  CHECK(cudaGetLastError());
  std::vector<float> dist(n);
  CHECK(cudaMemcpy(&dist[0], d_dist, n * sizeof(float), cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int i = 0; i < n; i++) {
    double e = sqrt((30.0 - loc[i].lat) * (30.0 - loc[i].lat) + (90.0 - loc[i].lng) * (90.0 - loc[i].lng));
    bad += !(fabs(dist[i] - e) < 1e-4 * e + 1e-5);
  }
  for (int round = 0; round < k; round++) {
    int best = 0;
    for (int i = 1; i < n; i++)
      if (dist[i] < dist[best]) best = i;
    printf("%d: (%.3f, %.3f) at %.4f\n", round, loc[best].lat, loc[best].lng, dist[best]);
    dist[best] = FLT_MAX;
  }
  cudaFree(d_loc);
  cudaFree(d_dist);
  printf("nn: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}
