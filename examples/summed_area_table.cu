// summed_area_table: two-dimensional prefix sums, and with them a box filter of any size in four reads per pixel.
// Look at the four corners in `box_filter`: the sum over a rectangle is D - B - C + A.
#include <cuda_runtime.h>

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

// One block per line scans it inclusively; `step` is the distance between elements: 1 along rows, the width along
// columns.
__global__ void scan_lines(const float* in, float* out, int length, int line_step, int step) {
  extern __shared__ float temp[];
  const float* source = in + (size_t)blockIdx.x * line_step;
  float* target = out + (size_t)blockIdx.x * line_step;
  int t = threadIdx.x, current = 0;
  temp[t] = t < length ? source[t * step] : 0.0f;
  __syncthreads();
  for (int offset = 1; offset < blockDim.x; offset *= 2) {
    float* from = temp + current * blockDim.x;
    float* to = temp + (1 - current) * blockDim.x;
    to[t] = t >= offset ? from[t] + from[t - offset] : from[t];
    current = 1 - current;
    __syncthreads();
  }
  if (t < length) target[t * step] = temp[current * blockDim.x + t];
}

__device__ float corner(const float* table, int x, int y, int width) {
  return x < 0 || y < 0 ? 0.0f : table[y * width + x];
}

// Depth of field, roughly: the radius grows with the distance from the centre of the picture.
__host__ __device__ int radius_at(int x, int y, int width, int height) {
  int dx = x - width / 2, dy = y - height / 2;
  return (dx * dx + dy * dy) / 900;
}

__global__ void box_filter(const float* table, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int r = radius_at(x, y, width, height);
  int x0 = max(x - r, 0), x1 = min(x + r, width - 1), y0 = max(y - r, 0), y1 = min(y + r, height - 1);
  float sum = corner(table, x1, y1, width) - corner(table, x1, y0 - 1, width) - corner(table, x0 - 1, y1, width) +
              corner(table, x0 - 1, y0 - 1, width);
  out[y * width + x] = sum / ((x1 - x0 + 1) * (y1 - y0 + 1));
}

static void build_table(const float* d_image, float* d_table, int width, int height) {
  int row_threads = 32, column_threads = 32;
  while (row_threads < width) row_threads *= 2;
  while (column_threads < height) column_threads *= 2;
  scan_lines<<<height, row_threads, 2 * row_threads * sizeof(float)>>>(d_image, d_table, width, width, 1);
  scan_lines<<<width, column_threads, 2 * column_threads * sizeof(float)>>>(d_table, d_table, height, 1, width);
  CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  float *d_image, *d_table, *d_out;
  int wrong = 0;

  // Small enough to follow by hand.
  const float nine[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, nine_sums[9] = {1, 3, 6, 5, 12, 21, 12, 27, 45};
  float table9[9];
  CHECK(cudaMalloc(&d_image, sizeof nine));
  CHECK(cudaMalloc(&d_table, sizeof nine));
  CHECK(cudaMemcpy(d_image, nine, sizeof nine, cudaMemcpyHostToDevice));
  build_table(d_image, d_table, 3, 3);
  CHECK(cudaMemcpy(table9, d_table, sizeof table9, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 9; ++i) {
    std::printf("%4.0f%s", table9[i], i % 3 == 2 ? "\n" : "");
    wrong += table9[i] != nine_sums[i];
  }
  CHECK(cudaFree(d_image));
  CHECK(cudaFree(d_table));

  const int width = argc > 1 ? std::atoi(argv[1]) : 200, height = argc > 2 ? std::atoi(argv[2]) : 150;
  const int n = width * height;  // whole numbers below 2^24, so that float sums are exact
  std::vector<float> image(n), table(n), out(n);
  for (int i = 0; i < n; ++i) image[i] = (float)((i * 37 + i / width * 11) % 64);
  CHECK(cudaMalloc(&d_image, n * sizeof(float)));
  CHECK(cudaMalloc(&d_table, n * sizeof(float)));
  CHECK(cudaMalloc(&d_out, n * sizeof(float)));
  CHECK(cudaMemcpy(d_image, image.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  build_table(d_image, d_table, width, height);
  box_filter<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(d_table, d_out, width, height);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(table.data(), d_table, n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));

  std::vector<double> sums(n);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double s = image[y * width + x];
      if (x > 0) s += sums[y * width + x - 1];
      if (y > 0) s += sums[(y - 1) * width + x];
      if (x > 0 && y > 0) s -= sums[(y - 1) * width + x - 1];
      sums[y * width + x] = s;
      wrong += table[y * width + x] != s;
    }
  for (int y = 3; y < height; y += 7)
    for (int x = 1; x < width; x += 5) {
      int r = radius_at(x, y, width, height), count = 0;
      double s = 0;
      for (int v = y - r; v <= y + r; ++v)
        for (int u = x - r; u <= x + r; ++u)
          if (u >= 0 && v >= 0 && u < width && v < height) s += image[v * width + u], ++count;
      wrong += std::fabs(out[y * width + x] - s / count) > 1e-4;
    }
  CHECK(cudaFree(d_image));
  CHECK(cudaFree(d_table));
  CHECK(cudaFree(d_out));
  std::printf("summed_area_table: %d x %d, total %.0f, %s\n", width, height, table[n - 1], wrong ? "FAILED" : "ok");
  return wrong != 0;
}
