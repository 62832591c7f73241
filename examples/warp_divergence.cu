// warp_divergence: the same work split by lane parity, by warp, by predicate and by a switch.
// Look at `by_lane` and `by_warp`: equal instructions, but only the first makes a warp walk both sides of the branch.
// `shared_work` and `separate_work` show a task pulled out of two branches so that it is done once, converged.
// What `./warpbeam profile` counts (a compiler turns branches as small as that of `by_lane` into selections):
//   branch_efficiency of by_lane: 100
//   branch_efficiency of by_warp: 100
//   branch_efficiency of separate_work: 0
//   branch_efficiency of shared_work: 100
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

__global__ void by_lane(float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0.0f, b = 0.0f;
  if (i % 2 == 0)
    a = 100.0f;
  else
    b = 200.0f;
  out[i] = a + b;
}

__global__ void by_warp(float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0.0f, b = 0.0f;
  if ((i / warpSize) % 2 == 0)
    a = 100.0f;
  else
    b = 200.0f;
  out[i] = a + b;
}

__global__ void by_predicate(float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool even = i % 2 == 0;
  float a = 0.0f, b = 0.0f;
  if (even) a = 100.0f;
  if (!even) b = 200.0f;
  out[i] = a + b;
}

// Nested branches and a loop whose length depends on the lane: every lane leaves at its own time.
__global__ void by_everything(float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = 0;
  for (int k = 0; k <= i % 7; ++k) {
    if (k == 5) break;
    switch ((i + k) % 4) {
      case 0:
        value += 1;
        break;
      case 1:
        value += 10;  // and on into the next case
      case 2:
        value += 100;
        break;
      default:
        if (i & 8) continue;
        value += 1000;
    }
  }
  out[i] = (float)value;
}

struct Quad {
  float corner[4];
};

__device__ float area(float a, float b, float c) {
  float s = 0.0f;
  for (int k = 1; k <= 8; ++k) s += (a * k + b) * (b + c * k) / k;
  return s;
}

__global__ void separate_work(const Quad* quads, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Quad q = quads[i];
  if (q.corner[0] > q.corner[3])
    out[i] = area(q.corner[0], q.corner[1], q.corner[2]);
  else
    out[i] = area(q.corner[3], q.corner[1], q.corner[2]);
}

__global__ void shared_work(const Quad* quads, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Quad q = quads[i];
  float corner = q.corner[0] > q.corner[3] ? q.corner[0] : q.corner[3];
  out[i] = area(corner, q.corner[1], q.corner[2]);
}

int main(int argc, char** argv) {
  const int block = argc > 1 ? std::atoi(argv[1]) : 64, grid = 32, n = block * grid;
  float *d_out, *d_other;
  Quad* d_quads;
  CHECK(cudaMalloc(&d_out, n * sizeof(float)));
  CHECK(cudaMalloc(&d_other, n * sizeof(float)));
  CHECK(cudaMalloc(&d_quads, n * sizeof(Quad)));
  std::vector<float> out(n), other(n);
  int wrong = 0;

  by_lane<<<grid, block>>>(d_out);
  CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) wrong += out[i] != (i % 2 == 0 ? 100.0f : 200.0f);
  by_warp<<<grid, block>>>(d_out);
  CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) wrong += out[i] != (i / 32 % 2 == 0 ? 100.0f : 200.0f);
  by_predicate<<<grid, block>>>(d_out);
  CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) wrong += out[i] != (i % 2 == 0 ? 100.0f : 200.0f);
  std::printf("branches by lane, warp and predicate: %d wrong\n", wrong);

  by_everything<<<grid, block>>>(d_out);
  CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    int value = 0;
    for (int k = 0; k <= i % 7 && k != 5; ++k) {
      int way = (i + k) % 4;
      value += way == 0 ? 1 : way == 1 ? 110 : way == 2 ? 100 : (i & 8) ? 0 : 1000;
    }
    wrong += out[i] != (float)value;
  }
  std::printf("nested branches and uneven loops: %d wrong\n", wrong);

  std::vector<Quad> quads(n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 4; ++k) quads[i].corner[k] = (float)((i * (k + 3) * 7) % 31);
  CHECK(cudaMemcpy(d_quads, quads.data(), n * sizeof(Quad), cudaMemcpyHostToDevice));
  separate_work<<<grid, block>>>(d_quads, d_out);
  shared_work<<<grid, block>>>(d_quads, d_other);
  CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(other.data(), d_other, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) wrong += out[i] != other[i] || !(out[i] >= 0.0f);
  CHECK(cudaFree(d_out));
  CHECK(cudaFree(d_other));
  CHECK(cudaFree(d_quads));
  std::printf("warp_divergence: %s\n", wrong ? "FAILED" : "every path came back together");
  return wrong != 0;
}
