// Ray tracing of spheres held in constant memory, orthographic, nearest hit wins.
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

#define INF 2e10f
#define DIM 128
#define SPHERES 20
#define rnd(x) (x * rand() / RAND_MAX)

struct Sphere {
  float r, b, g;
  float radius;
  float x, y, z;
  __host__ __device__ float hit(float ox, float oy, float* n) const {
    float dx = ox - x, dy = oy - y;
    if (dx * dx + dy * dy < radius * radius) {
      float dz = sqrtf(radius * radius - dx * dx - dy * dy);
      *n = dz / sqrtf(radius * radius);
      return dz + z;
    }
    return -INF;
  }
};

__constant__ Sphere s[SPHERES];

__global__ void trace(unsigned char* ptr) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  int offset = x + y * blockDim.x * gridDim.x;
  float ox = (x - DIM / 2), oy = (y - DIM / 2), r = 0, g = 0, b = 0, maxz = -INF;
  for (int i = 0; i < SPHERES; i++) {
    float n, t = s[i].hit(ox, oy, &n);
    if (t > maxz) {
      float fscale = n;
      r = s[i].r * fscale;
      g = s[i].g * fscale;
      b = s[i].b * fscale;
      maxz = t;
    }
  }
  ptr[offset * 4 + 0] = (int)(r * 255);
  ptr[offset * 4 + 1] = (int)(g * 255);
  ptr[offset * 4 + 2] = (int)(b * 255);
  ptr[offset * 4 + 3] = 255;
}

int main() {
  Sphere* temp = (Sphere*)malloc(sizeof(Sphere) * SPHERES);
  srand(1);
  for (int i = 0; i < SPHERES; i++) {
    temp[i].r = rnd(1.0f);
    temp[i].g = rnd(1.0f);
    temp[i].b = rnd(1.0f);
    temp[i].x = rnd(120.0f) - 60;
    temp[i].y = rnd(120.0f) - 60;
    temp[i].z = rnd(120.0f) - 60;
    temp[i].radius = rnd(20.0f) + 4;
  }
  CHECK(cudaMemcpyToSymbol(s, temp, sizeof(Sphere) * SPHERES));
  unsigned char* d_bitmap;
  std::vector<unsigned char> bitmap(DIM * DIM * 4);
  CHECK(cudaMalloc((void**)&d_bitmap, bitmap.size()));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start, 0));
  dim3 grids(DIM / 16, DIM / 16), threads(16, 16);
  trace<<<grids, threads>>>(d_bitmap);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(bitmap.data(), d_bitmap, bitmap.size(), cudaMemcpyDeviceToHost));
  CHECK(cudaEventRecord(stop, 0));
  CHECK(cudaEventSynchronize(stop));
  float elapsed;
  CHECK(cudaEventElapsedTime(&elapsed, start, stop));
  int bad = 0, covered = 0;
  for (int y = 0; y < DIM; y++)
    for (int x = 0; x < DIM; x++) {
      float best = -INF, c[3] = {0, 0, 0};
      for (int i = 0; i < SPHERES; i++) {
        float n, t = temp[i].hit(x - DIM / 2, y - DIM / 2, &n);
        if (t > best) best = t, c[0] = temp[i].r * n, c[1] = temp[i].g * n, c[2] = temp[i].b * n;
      }
      covered += best > -INF;
      for (int k = 0; k < 3; k++) bad += abs((int)bitmap[(y * DIM + x) * 4 + k] - (int)(c[k] * 255)) > 2;
      bad += bitmap[(y * DIM + x) * 4 + 3] != 255;
    }
  free(temp);
  bool ok = bad < 8 && covered > 500 && elapsed >= 0;  // silhouettes may round to the other side
  printf("ray_spheres: %d pixels covered, %s\n", covered, ok ? "PASSED" : "FAILED");
  return !ok;
}
