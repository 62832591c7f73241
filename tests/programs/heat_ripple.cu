// Heat on a plate with fixed heaters (copy, blend, repeat), and the ripple picture of the textbooks.
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

#define DIM 64
#define SPEED 0.25f

__global__ void copy_const_kernel(float* iptr, const float* cptr) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  int offset = x + y * blockDim.x * gridDim.x;
  if (cptr[offset] != 0) iptr[offset] = cptr[offset];
}

__global__ void blend_kernel(float* outSrc, const float* inSrc) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  int offset = x + y * blockDim.x * gridDim.x;
  int left = offset - 1, right = offset + 1;
  if (x == 0) left++;
  if (x == DIM - 1) right--;
  int top = offset - DIM, bottom = offset + DIM;
  if (y == 0) top += DIM;
  if (y == DIM - 1) bottom -= DIM;
  outSrc[offset] =
      inSrc[offset] + SPEED * (inSrc[top] + inSrc[bottom] + inSrc[left] + inSrc[right] - inSrc[offset] * 4);
}

__global__ void ripple(unsigned char* ptr, int ticks) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  int offset = x + y * blockDim.x * gridDim.x;
  float fx = x - DIM / 2, fy = y - DIM / 2, d = sqrtf(fx * fx + fy * fy);
  unsigned char grey = (unsigned char)(128.0f + 127.0f * cos(d / 10.0f - ticks / 7.0f) / (d / 10.0f + 1.0f));
  ptr[offset * 4 + 0] = grey;
  ptr[offset * 4 + 1] = grey;
  ptr[offset * 4 + 2] = grey;
  ptr[offset * 4 + 3] = 255;
}

int main() {
  const int n = DIM * DIM;
  std::vector<float> heaters(n, 0.0f), out(n);
  for (int i = 0; i < n; i++) {
    int x = i % DIM, y = i / DIM;
    if (x > 20 && x < 40 && y > 20 && y < 44) heaters[i] = 1.0f;
    if (x == 5 && y == 50) heaters[i] = 0.0001f;
  }
  float *d_in, *d_out, *d_const;
  CHECK(cudaMalloc((void**)&d_in, n * 4));
  CHECK(cudaMalloc((void**)&d_out, n * 4));
  CHECK(cudaMalloc((void**)&d_const, n * 4));
  CHECK(cudaMemcpy(d_const, heaters.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_in, 0, n * 4));
  dim3 blocks(DIM / 16, DIM / 16), threads(16, 16);
  std::vector<double> a(n, 0.0), b(n);
  for (int i = 0; i < 45; i++) {
    copy_const_kernel<<<blocks, threads>>>(d_in, d_const);
    blend_kernel<<<blocks, threads>>>(d_out, d_in);
    std::swap(d_in, d_out);
    for (int k = 0; k < n; k++)
      if (heaters[k] != 0) a[k] = heaters[k];
    for (int k = 0; k < n; k++) {
      int x = k % DIM, y = k / DIM;
      double l = a[x ? k - 1 : k], r = a[x < DIM - 1 ? k + 1 : k], t = a[y ? k - DIM : k],
             u = a[y < DIM - 1 ? k + DIM : k];
      b[k] = a[k] + SPEED * (l + r + t + u - 4 * a[k]);
    }
    a.swap(b);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d_in, n * 4, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int k = 0; k < n; k++) bad += !(fabs(out[k] - a[k]) < 1e-4);
  unsigned char* d_pic;
  std::vector<unsigned char> pic(4 * n);
  CHECK(cudaMalloc(&d_pic, 4 * n));
  ripple<<<blocks, threads>>>(d_pic, 12);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(pic.data(), d_pic, 4 * n, cudaMemcpyDeviceToHost));
  for (int y = 0; y < DIM; y++)
    for (int x = 0; x < DIM; x++) {
      double fx = x - DIM / 2, fy = y - DIM / 2, d = sqrt(fx * fx + fy * fy);
      int grey = (int)(128 + 127 * cos(d / 10 - 12 / 7.0) / (d / 10 + 1));
      bad += abs(pic[(y * DIM + x) * 4] - grey) > 1 || pic[(y * DIM + x) * 4 + 3] != 255;
    }
  printf("heat_ripple: beside the heater %.4f, %d wrong, %s\n", out[30 * DIM + 19], bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
