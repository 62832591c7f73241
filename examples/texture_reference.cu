// Heat spreading over a plate, as books before toolkit 12 wrote it: the grids are texture references, variables at file
// scope that host code binds to memory and kernels read by name.
// What to see: the plate warms up around the heater, evenly to all sides, and never beyond it.
#include <cstdio>
#include <vector>

constexpr int kSize = 48;
constexpr float kSpeed = 0.2f;

texture<float, 2> now;
texture<float, 2> before;
texture<float> heaters;

__global__ void keep_heaters(float* grid) {
  const int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  const int i = x + y * kSize;
  const float heat = tex1Dfetch(heaters, i);
  if (heat != 0) grid[i] = heat;
}

// Coordinates outside are clamped to the edge, so the border needs no care.
__global__ void spread(float* out, bool forth) {
  const int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  float t, l, c, r, b;
  if (forth) {
    t = tex2D(now, x, y - 1), l = tex2D(now, x - 1, y), c = tex2D(now, x, y), r = tex2D(now, x + 1, y), b = tex2D(now, x, y + 1);
  } else {
    t = tex2D(before, x, y - 1), l = tex2D(before, x - 1, y), c = tex2D(before, x, y), r = tex2D(before, x + 1, y), b = tex2D(before, x, y + 1);
  }
  out[x + y * kSize] = c + kSpeed * (t + b + r + l - 4 * c);
}

int main() {
  const size_t bytes = kSize * kSize * sizeof(float);
  std::vector<float> plate(kSize * kSize, 0.0f);
  for (int y = 22; y < 26; ++y)
    for (int x = 22; x < 26; ++x) plate[y * kSize + x] = 1.0f;
  float *grids[2], *fixed;
  for (float*& g : grids) cudaMalloc(&g, bytes);
  cudaMalloc(&fixed, bytes);
  cudaMemcpy(fixed, plate.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemset(grids[0], 0, bytes);

  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  cudaBindTexture(nullptr, heaters, fixed, bytes);
  cudaBindTexture2D(nullptr, now, grids[0], desc, kSize, kSize, kSize * sizeof(float));
  cudaBindTexture2D(nullptr, before, grids[1], desc, kSize, kSize, kSize * sizeof(float));

  const dim3 blocks(kSize / 16, kSize / 16), threads(16, 16);
  for (int step = 0; step < 60; ++step) {
    keep_heaters<<<blocks, threads>>>(grids[step % 2]);
    spread<<<blocks, threads>>>(grids[1 - step % 2], step % 2 == 0);
  }
  cudaMemcpy(plate.data(), grids[0], bytes, cudaMemcpyDeviceToHost);
  cudaUnbindTexture(heaters);
  cudaUnbindTexture(now);
  cudaUnbindTexture(before);

  bool right = cudaGetLastError() == cudaSuccess;
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < kSize; ++x) {
      const float v = plate[y * kSize + x], turned = plate[(kSize - 1 - x) * kSize + y];
      right = right && v >= 0 && v <= 1 && v - turned < 1e-5f && turned - v < 1e-5f;
    }
  std::printf("from the middle to the edge:");
  for (int x = kSize / 2; x < kSize; x += 4) std::printf(" %.4f", plate[kSize / 2 * kSize + x]);
  std::printf("\n%s\n", right && plate[kSize / 2 * kSize + 30] > 0.05f ? "ok" : "WRONG");
  return right ? 0 : 1;
}
