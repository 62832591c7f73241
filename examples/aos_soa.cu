// aos_soa: the same points as an array of structures, an aligned array of structures and a structure of arrays.
// Look at sizeof: 12 bytes without alignment, 16 with, and in the structure of arrays neighbours are 4 bytes apart.
// What `./warpbeam profile` counts:
//   gld_efficiency of void move_aos<Point>: 33.333333
//   gst_efficiency of void move_aos<Point>: 33.333333
//   gst_efficiency of move_soa: 100
#include <cuda_runtime.h>

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

constexpr int kMaxPoints = 1 << 16;

struct Point {
  float x, y, z;
};
struct __align__(16) AlignedPoint {
  float x, y, z;
};
struct PointArrays {
  float x[kMaxPoints], y[kMaxPoints], z[kMaxPoints];
};
struct PointPointers {  // small enough to be a kernel argument by value
  float *x, *y, *z;
};

template <typename P>
__global__ void move_aos(P* points, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  P p = points[i];
  p.x += 10.0f;
  p.y += 20.0f;
  p.z = p.x * p.y;
  points[i] = p;
}

__global__ void move_soa(PointArrays* points, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  points->x[i] += 10.0f;
  points->y[i] += 20.0f;
  points->z[i] = points->x[i] * points->y[i];
}

__global__ void move_pointers(PointPointers points, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  points.x[i] += 10.0f;
  points.y[i] += 20.0f;
  points.z[i] = points.x[i] * points.y[i];
}

static bool right(int i, float x, float y, float z) {
  float ex = i * 0.5f + 10.0f, ey = (float)(i % 100) + 20.0f;
  return x == ex && y == ey && z == ex * ey;
}

template <typename P>
static int run_aos(const char* name, int n) {
  std::vector<P> points(n);
  for (int i = 0; i < n; ++i) points[i].x = i * 0.5f, points[i].y = (float)(i % 100), points[i].z = -1.0f;
  P* d_points;
  CHECK(cudaMalloc(&d_points, n * sizeof(P)));
  CHECK(cudaMemcpy(d_points, points.data(), n * sizeof(P), cudaMemcpyHostToDevice));
  move_aos<<<(n + 127) / 128, 128>>>(d_points, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(points.data(), d_points, n * sizeof(P), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_points));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += !right(i, points[i].x, points[i].y, points[i].z);
  std::printf("%-28s %2zu bytes per point, %d wrong\n", name, sizeof(P), wrong);
  return wrong;
}

static int check_soa(const char* name, const PointArrays& points, int n) {
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += !right(i, points.x[i], points.y[i], points.z[i]);
  std::printf("%-28s %2zu bytes per point, %d wrong\n", name, sizeof(PointArrays) / kMaxPoints, wrong);
  return wrong;
}

int main(int argc, char** argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 50000;
  if (n > kMaxPoints) n = kMaxPoints;
  int wrong = run_aos<Point>("array of structures", n);
  wrong += run_aos<AlignedPoint>("aligned array of structures", n);

  PointArrays* points = new PointArrays();
  PointArrays* d_points;
  CHECK(cudaMalloc(&d_points, sizeof(PointArrays)));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < n; ++i) points->x[i] = i * 0.5f, points->y[i] = (float)(i % 100), points->z[i] = -1.0f;
    CHECK(cudaMemcpy(d_points, points, sizeof(PointArrays), cudaMemcpyHostToDevice));
    if (round == 0) {
      move_soa<<<(n + 127) / 128, 128>>>(d_points, n);
    } else {
      // The addresses of members of a device structure are computed, not read, so the host may take them.
      move_pointers<<<(n + 127) / 128, 128>>>(PointPointers{d_points->x, d_points->y, d_points->z}, n);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(points, d_points, sizeof(PointArrays), cudaMemcpyDeviceToHost));
    wrong += check_soa(round == 0 ? "structure of arrays" : "structure of pointers", *points, n);
  }
  CHECK(cudaFree(d_points));
  delete points;
  bool sizes = sizeof(Point) == 12 && sizeof(AlignedPoint) == 16;
  std::printf("aos_soa: %s\n", wrong == 0 && sizes ? "all layouts hold the same points" : "FAILED");
  return wrong == 0 && sizes ? 0 : 1;
}
