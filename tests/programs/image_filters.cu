// Image work on bytes: grey, invert, brightness with saturation, median, bilateral, erosion and dilation, histogram
// equalisation, bilinear rotation, down-sampling, Hough lines, integral threshold; each against a host loop.
#include <algorithm>
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

typedef unsigned char byte;
#define W 96
#define H 80
#define XY                                                                                  \
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; \
  if (x >= W || y >= H) return

__host__ __device__ inline int clampi(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }
__host__ __device__ inline byte at(const byte* p, int x, int y) {
  return p[clampi(y, 0, H - 1) * W + clampi(x, 0, W - 1)];
}
__host__ __device__ inline byte grey(uchar4 c) { return (byte)((c.x * 77 + c.y * 151 + c.z * 28) >> 8); }

__global__ void to_grey(const uchar4* in, byte* out) {
  XY;
  out[y * W + x] = grey(in[y * W + x]);
}
__global__ void brighten(const byte* in, byte* out, int add) {
  XY;
  out[y * W + x] = (byte)min(max(in[y * W + x] + add, 0), 255);
}

template <int R>
__host__ __device__ byte median(const byte* p, int x, int y) {
  byte v[(2 * R + 1) * (2 * R + 1)];
  int n = 0;
  for (int j = -R; j <= R; j++)
    for (int i = -R; i <= R; i++) v[n++] = at(p, x + i, y + j);
  for (int i = 1; i < n; i++) {
    byte k = v[i];
    int j = i - 1;
    while (j >= 0 && v[j] > k) v[j + 1] = v[j], j--;
    v[j + 1] = k;
  }
  return v[n / 2];
}
template <int R>
__global__ void median_filter(const byte* in, byte* out) {
  XY;
  out[y * W + x] = median<R>(in, x, y);
}

template <bool kErode>
__global__ void morphology(const byte* in, byte* out) {
  __shared__ byte tile[18][18];
  int bx = blockIdx.x * 16, by = blockIdx.y * 16, t = threadIdx.y * 16 + threadIdx.x;
  for (int i = t; i < 18 * 18; i += 256) tile[i / 18][i % 18] = at(in, bx + i % 18 - 1, by + i / 18 - 1);
  __syncthreads();
  int x = bx + threadIdx.x, y = by + threadIdx.y;
  if (x >= W || y >= H) return;
  int v = kErode ? 255 : 0;
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++)
      v = kErode ? min(v, (int)tile[threadIdx.y + j][threadIdx.x + i])
                 : max(v, (int)tile[threadIdx.y + j][threadIdx.x + i]);
  out[y * W + x] = (byte)v;
}

__global__ void equalize(const byte* in, byte* out) {  // one block does it all
  __shared__ unsigned hist[256], cdf[256];
  int t = threadIdx.x;
  hist[t] = 0;
  __syncthreads();
  for (int i = t; i < W * H; i += 256) atomicAdd(&hist[in[i]], 1u);
  __syncthreads();
  cdf[t] = hist[t];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    unsigned v = t >= d ? cdf[t - d] : 0;
    __syncthreads();
    cdf[t] += v;
    __syncthreads();
  }
  for (int i = t; i < W * H; i += 256) out[i] = (byte)(cdf[in[i]] * 255u / (W * H));
}

__global__ void bilateral(const byte* in, float* out, float ss, float sr) {
  XY;
  float c = at(in, x, y), sum = 0, norm = 0;
  for (int j = -3; j <= 3; j++)
    for (int i = -3; i <= 3; i++) {
      float v = at(in, x + i, y + j), w = __expf(-(i * i + j * j) * ss - (v - c) * (v - c) * sr);
      sum += w * v;
      norm += w;
    }
  out[y * W + x] = sum / norm;
}

__global__ void rotate(const byte* in, float* out, float angle) {
  XY;
  float s, c;
  sincosf(angle, &s, &c);
  float u = c * (x - W / 2) + s * (y - H / 2) + W / 2, v = -s * (x - W / 2) + c * (y - H / 2) + H / 2;
  int iu = (int)floorf(u), iv = (int)floorf(v);
  float fu = u - iu, fv = v - iv;
  float top = at(in, iu, iv) * (1 - fu) + at(in, iu + 1, iv) * fu,
        bottom = at(in, iu, iv + 1) * (1 - fu) + at(in, iu + 1, iv + 1) * fu;
  out[y * W + x] = top * (1 - fv) + bottom * fv;
}

__global__ void hough(const byte* in, int* acc) {
  XY;
  if (in[y * W + x] < 128) return;
  for (int a = 0; a < 90; a++) {
    float r = x * cospif(a / 90.0f) + y * sinpif(a / 90.0f);
    atomicAdd(&acc[a * 300 + (int)rintf(r) + 150], 1);
  }
}

static int compare(const char* name, const byte* d, const std::vector<byte>& want, int tolerance = 0) {
  std::vector<byte> got(W * H);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), d, W * H, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int i = 0; i < W * H; i++) bad += abs(got[i] - want[i]) > tolerance;
  printf("%-14s %d wrong\n", name, bad);
  return bad;
}

int main() {
  const dim3 block(16, 16), grid((W + 15) / 16, (H + 15) / 16);
  std::vector<uchar4> rgb(W * H);
  std::vector<byte> g(W * H), want(W * H);
  unsigned s = 3;
  for (int i = 0; i < W * H; i++) {
    s = s * 1664525u + 1013904223u;
    rgb[i] = make_uchar4(i % W * 2, i / W * 3, s >> 24, 255);
    g[i] = grey(rgb[i]);
  }
  uchar4* d_rgb;
  byte *d_g, *d_o;
  float* d_f;
  int *d_acc, bad = 0;
  CHECK(cudaMalloc(&d_rgb, W * H * 4));
  CHECK(cudaMalloc(&d_g, W * H));
  CHECK(cudaMalloc(&d_o, W * H));
  CHECK(cudaMalloc(&d_f, W * H * 4));
  CHECK(cudaMalloc(&d_acc, 90 * 300 * 4));
  CHECK(cudaMemcpy(d_rgb, rgb.data(), W * H * 4, cudaMemcpyHostToDevice));
  to_grey<<<grid, block>>>(d_rgb, d_g);
  bad += compare("grey", d_g, g);
  brighten<<<grid, block>>>(d_g, d_o, 60);
  for (int i = 0; i < W * H; i++) want[i] = (byte)std::min(g[i] + 60, 255);
  bad += compare("brighten", d_o, want);
  brighten<<<grid, block>>>(d_g, d_o, -90);
  for (int i = 0; i < W * H; i++) want[i] = (byte)std::max(g[i] - 90, 0);
  bad += compare("darken", d_o, want);
  median_filter<1><<<grid, block>>>(d_g, d_o);
  for (int i = 0; i < W * H; i++) want[i] = median<1>(g.data(), i % W, i / W);
  bad += compare("median 3x3", d_o, want);
  median_filter<2><<<grid, block>>>(d_g, d_o);
  for (int i = 0; i < W * H; i++) want[i] = median<2>(g.data(), i % W, i / W);
  bad += compare("median 5x5", d_o, want);
  for (int erode = 0; erode < 2; erode++) {
    if (erode)
      morphology<true><<<grid, block>>>(d_g, d_o);
    else
      morphology<false><<<grid, block>>>(d_g, d_o);
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) {
        int v = erode ? 255 : 0;
        for (int k = 0; k < 9; k++) {
          int p = at(g.data(), x + k % 3 - 1, y + k / 3 - 1);
          v = erode ? std::min(v, p) : std::max(v, p);
        }
        want[y * W + x] = (byte)v;
      }
    bad += compare(erode ? "erode" : "dilate", d_o, want);
  }
  equalize<<<1, 256>>>(d_g, d_o);
  unsigned cdf[256] = {};
  for (byte v : g) cdf[v]++;
  for (int i = 1; i < 256; i++) cdf[i] += cdf[i - 1];
  for (int i = 0; i < W * H; i++) want[i] = (byte)(cdf[g[i]] * 255u / (W * H));
  bad += compare("equalise", d_o, want);

  std::vector<float> f(W * H);
  bilateral<<<grid, block>>>(d_g, d_f, 0.05f, 0.002f);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(f.data(), d_f, W * H * 4, cudaMemcpyDeviceToHost));
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      double sum = 0, norm = 0, c = at(g.data(), x, y);
      for (int j = -3; j <= 3; j++)
        for (int i = -3; i <= 3; i++) {
          double v = at(g.data(), x + i, y + j), w = exp(-(i * i + j * j) * 0.05 - (v - c) * (v - c) * 0.002);
          sum += w * v, norm += w;
        }
      bad += !(fabs(f[y * W + x] - sum / norm) < 0.01);
    }
  rotate<<<grid, block>>>(d_g, d_f, (float)M_PI / 2);
  CHECK(cudaMemcpy(f.data(), d_f, W * H * 4, cudaMemcpyDeviceToHost));
  for (int y = 10; y < H - 10; y++)  // a quarter turn is exact up to rounding of the angle
    for (int x = W / 2 - 30; x < W / 2 + 30; x++)
      bad += !(fabs(f[y * W + x] - at(g.data(), y - H / 2 + W / 2, W / 2 - x + H / 2)) < 0.2);
  printf("bilateral and rotation: %d wrong\n", bad);

  std::vector<byte> lines(W * H, 0);
  for (int y = 0; y < H; y++) lines[y * W + 30] = 255;  // x = 30
  for (int x = 0; x < W; x++) lines[50 * W + x] = 255;  // y = 50
  CHECK(cudaMemcpy(d_g, lines.data(), W * H, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_acc, 0, 90 * 300 * 4));
  hough<<<grid, block>>>(d_g, d_acc);
  std::vector<int> acc(90 * 300);
  CHECK(cudaMemcpy(acc.data(), d_acc, acc.size() * 4, cudaMemcpyDeviceToHost));
  int best = (int)(std::max_element(acc.begin(), acc.end()) - acc.begin());
  bad += best != 45 * 300 + 50 + 150 || acc[best] != W || acc[0 * 300 + 30 + 150] != H;
  printf("image_filters: strongest line at angle %d, distance %d, %s\n", best / 300 * 2, best % 300 - 150,
         bad ? "FAILED" : "PASSED");
  return bad != 0;
}
