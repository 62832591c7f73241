// Thermal simulation with a trapezoid (pyramid) of time steps kept in shared memory.
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
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

__global__ void calculate_temp(int iteration, const float* power, const float* temp_src, float* temp_dst, int cols,
                               int rows, int border, float step_div_Cap, float Rx_1, float Ry_1, float Rz_1) {
  __shared__ float temp_on[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float power_on[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float temp_t[BLOCK_SIZE][BLOCK_SIZE];
  const float amb = 80.0f;
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int small = BLOCK_SIZE - iteration * 2;
  int blkY = small * by - border, blkX = small * bx - border;
  int blkYmax = blkY + BLOCK_SIZE - 1, blkXmax = blkX + BLOCK_SIZE - 1;
  int yidx = blkY + ty, xidx = blkX + tx, index = cols * yidx + xidx;
  if (IN_RANGE(yidx, 0, rows - 1) && IN_RANGE(xidx, 0, cols - 1)) {
    temp_on[ty][tx] = temp_src[index];
    power_on[ty][tx] = power[index];
  }
  __syncthreads();
  int validYmin = (blkY < 0) ? -blkY : 0, validXmin = (blkX < 0) ? -blkX : 0;
  int validYmax = (blkYmax > rows - 1) ? BLOCK_SIZE - 1 - (blkYmax - rows + 1) : BLOCK_SIZE - 1;
  int validXmax = (blkXmax > cols - 1) ? BLOCK_SIZE - 1 - (blkXmax - cols + 1) : BLOCK_SIZE - 1;
  int N = ty - 1, S = ty + 1, W = tx - 1, E = tx + 1;
  N = (N < validYmin) ? validYmin : N;
  S = (S > validYmax) ? validYmax : S;
  W = (W < validXmin) ? validXmin : W;
  E = (E > validXmax) ? validXmax : E;
  bool computed = false;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && IN_RANGE(ty, i + 1, BLOCK_SIZE - i - 2) &&
        IN_RANGE(tx, validXmin, validXmax) && IN_RANGE(ty, validYmin, validYmax)) {
      computed = true;
      temp_t[ty][tx] =
          temp_on[ty][tx] +
          step_div_Cap *
              (power_on[ty][tx] + (temp_on[S][tx] + temp_on[N][tx] - 2.0f * temp_on[ty][tx]) * Ry_1 +
               (temp_on[ty][E] + temp_on[ty][W] - 2.0f * temp_on[ty][tx]) * Rx_1 + (amb - temp_on[ty][tx]) * Rz_1);
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) temp_on[ty][tx] = temp_t[ty][tx];
    __syncthreads();
  }
  if (computed) temp_dst[index] = temp_t[ty][tx];
}

int main() {
  const int rows = 64, cols = 64, total = 6, pyramid = 2, border = pyramid;
  const float cap = 0.1f, rx = 0.2f, ry = 0.3f, rz = 0.05f;
  std::vector<float> power(rows * cols), temp(rows * cols), out(rows * cols);
  for (int i = 0; i < rows * cols; i++) {
    power[i] = (i * 31 % 100) * 0.01f;
    temp[i] = 320.0f + (i * 17 % 50) * 0.1f;
  }
  float *d_power, *d_temp[2];
  size_t bytes = rows * cols * sizeof(float);
  CHECK(cudaMalloc(&d_power, bytes));
  CHECK(cudaMalloc(&d_temp[0], bytes));
  CHECK(cudaMalloc(&d_temp[1], bytes));
  CHECK(cudaMemcpy(d_power, power.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_temp[0], temp.data(), bytes, cudaMemcpyHostToDevice));
  const int small = BLOCK_SIZE - pyramid * 2;
  dim3 block(BLOCK_SIZE, BLOCK_SIZE), grid((cols + small - 1) / small, (rows + small - 1) / small);
  int src = 0;
  for (int t = 0; t < total; t += pyramid, src = 1 - src)
    calculate_temp<<<grid, block>>>(MIN(pyramid, total - t), d_power, d_temp[src], d_temp[1 - src], cols, rows, border,
                                    cap, rx, ry, rz);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d_temp[src], bytes, cudaMemcpyDeviceToHost));
  std::vector<double> a(temp.begin(), temp.end()), b(rows * cols);
  for (int t = 0; t < total; t++, a.swap(b))
    for (int y = 0; y < rows; y++)
      for (int x = 0; x < cols; x++) {
        double c = a[y * cols + x], n = a[(y ? y - 1 : y) * cols + x], s = a[(y < rows - 1 ? y + 1 : y) * cols + x];
        double w = a[y * cols + (x ? x - 1 : x)], e = a[y * cols + (x < cols - 1 ? x + 1 : x)];
        b[y * cols + x] =
            c + cap * (power[y * cols + x] + (s + n - 2 * c) * ry + (e + w - 2 * c) * rx + (80.0 - c) * rz);
      }
  int bad = 0;
  for (int i = 0; i < rows * cols; i++) bad += !(fabs(out[i] - a[i]) < 1e-2);
  printf("hotspot: centre %.3f, %d wrong, %s\n", out[rows / 2 * cols + cols / 2], bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
