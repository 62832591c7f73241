// Many small matrices and vectors: 4x4 products, inverses, quaternions, skinning, eigenvalues of 3x3.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      return 1;                                                                              \
    }                                                                                        \
  } while (0)
#define THRICE for (int round = 0; round < 3; ++round)

struct Matrix {
  float4 row[4];
};

__device__ float4 times(const Matrix& m, float4 v) {
  return make_float4(m.row[0].x * v.x + m.row[0].y * v.y + m.row[0].z * v.z + m.row[0].w * v.w,
                     m.row[1].x * v.x + m.row[1].y * v.y + m.row[1].z * v.z + m.row[1].w * v.w,
                     m.row[2].x * v.x + m.row[2].y * v.y + m.row[2].z * v.z + m.row[2].w * v.w,
                     m.row[3].x * v.x + m.row[3].y * v.y + m.row[3].z * v.z + m.row[3].w * v.w);
}

__global__ void transform(const Matrix* matrix, const float4* in, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = times(*matrix, in[i]);
}

__global__ void products(const Matrix* a, const Matrix* b, Matrix* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Matrix x = a[i], y = b[i], z;
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    float4 p = x.row[r];
    z.row[r] = make_float4(p.x * y.row[0].x + p.y * y.row[1].x + p.z * y.row[2].x + p.w * y.row[3].x,
                           p.x * y.row[0].y + p.y * y.row[1].y + p.z * y.row[2].y + p.w * y.row[3].y,
                           p.x * y.row[0].z + p.y * y.row[1].z + p.z * y.row[2].z + p.w * y.row[3].z,
                           p.x * y.row[0].w + p.y * y.row[1].w + p.z * y.row[2].w + p.w * y.row[3].w);
  }
  c[i] = z;
}

__global__ void products_by_lanes(const float* a, const float* b, float* c) {
  __shared__ float sa[16][17], sb[16][17];
  const int m = threadIdx.y, e = threadIdx.x;
  const size_t at = (size_t(blockIdx.x) * 16 + m) * 16 + e;
  sa[m][e] = a[at];
  sb[m][e] = b[at];
  __syncwarp();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) sum += sa[m][e / 4 * 4 + k] * sb[m][k * 4 + e % 4];
  c[at] = sum;
}

__global__ void rotate(const float4* quaternions, const float4* in, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 q = quaternions[i], v = in[i];
  float s = rsqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w + 1e-9f);
  q.x *= s, q.y *= s, q.z *= s, q.w *= s;
  float tx = 2 * (q.y * v.z - q.z * v.y), ty = 2 * (q.z * v.x - q.x * v.z), tz = 2 * (q.x * v.y - q.y * v.x);
  out[i] = make_float4(v.x + q.w * tx + q.y * tz - q.z * ty, v.y + q.w * ty + q.z * tx - q.x * tz, v.z + q.w * tz + q.x * ty - q.y * tx, v.w);
}

__global__ void skin(const Matrix* bones, const int4* which, const float4* weight, const float4* in, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int4 w = which[i];
  float4 k = weight[i], v = in[i], a = times(bones[w.x & 63], v), b = times(bones[w.y & 63], v), c = times(bones[w.z & 63], v);
  out[i] = make_float4(k.x * a.x + k.y * b.x + k.z * c.x, k.x * a.y + k.y * b.y + k.z * c.y, k.x * a.z + k.y * b.z + k.z * c.z, 1);
}

__global__ void eigenvalues(const float* m, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = m[i], b = m[n + i], c = m[2 * n + i], d = m[3 * n + i], e = m[4 * n + i], f = m[5 * n + i];
  float q = (a + b + c) / 3, p = sqrtf(((a - q) * (a - q) + (b - q) * (b - q) + (c - q) * (c - q) + 2 * (d * d + e * e + f * f)) / 6) + 1e-9f;
  float r = ((a - q) * ((b - q) * (c - q) - f * f) - d * (d * (c - q) - f * e) + e * (d * f - (b - q) * e)) / (2 * p * p * p);
  float phi = acosf(fminf(fmaxf(r, -1.0f), 1.0f)) / 3;
  out[i] = q + 2 * p * cosf(phi);
  out[n + i] = q + 2 * p * cosf(phi + 2.0943951f);
}

int main() {
  const int n = 1 << 17;
  std::vector<float> host(n * 16);
  for (size_t i = 0; i < host.size(); ++i) host[i] = i % 37 * 0.1f;
  Matrix *a, *b, *c;
  CHECK(cudaMalloc(&a, n * sizeof(Matrix)));
  CHECK(cudaMalloc(&b, n * sizeof(Matrix)));
  CHECK(cudaMalloc(&c, n * sizeof(Matrix)));
  CHECK(cudaMemcpy(a, host.data(), n * sizeof(Matrix), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, host.data(), n * sizeof(Matrix), cudaMemcpyHostToDevice));
  THRICE transform<<<4 * n / 256, 256>>>(a, (float4*)b, (float4*)c, 4 * n);
  THRICE products<<<n / 128, 128>>>(a, b, c, n);
  THRICE products_by_lanes<<<n / 16, dim3(16, 16)>>>((float*)a, (float*)b, (float*)c);
  THRICE rotate<<<n / 256, 256>>>((float4*)a, (float4*)b, (float4*)c, n);
  THRICE skin<<<n / 128, 128>>>(a, (int4*)b, (float4*)b + n, (float4*)b + 2 * n, (float4*)c, n);
  THRICE eigenvalues<<<n / 256, 256>>>((float*)a, (float*)c, n);
  CHECK(cudaMemcpy(host.data(), c, 4, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[0]);
  return 0;
}
