// Radix-2 FFT in shared memory, 8x8 DCT and its inverse, fast Walsh transform and a Haar wavelet.
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

#define FFT_N 256

__global__ void fft(float2* data, int inverse) {
  __shared__ float2 s[FFT_N];
  int t = threadIdx.x;
  data += blockIdx.x * FFT_N;
  for (int i = t; i < FFT_N; i += blockDim.x) s[__brev((unsigned)i) >> 24] = data[i];
  __syncthreads();
  for (int len = 2; len <= FFT_N; len <<= 1) {
    int half = len >> 1, k = t & (half - 1), i = (t / half) * len + k;
    float sn, cs;
    sincospif((inverse ? 2.0f : -2.0f) * k / len, &sn, &cs);
    float2 u = s[i], v = s[i + half];
    float2 w = make_float2(v.x * cs - v.y * sn, v.x * sn + v.y * cs);
    s[i] = make_float2(u.x + w.x, u.y + w.y);
    s[i + half] = make_float2(u.x - w.x, u.y - w.y);
    __syncthreads();
  }
  float scale = inverse ? 1.0f / FFT_N : 1.0f;
  for (int i = t; i < FFT_N; i += blockDim.x) data[i] = make_float2(s[i].x * scale, s[i].y * scale);
}

__constant__ float c_dct[64];

__global__ void dct8x8(const float* in, float* out, int width, bool inverse) {
  __shared__ float block[8][9], temp[8][9];
  int tx = threadIdx.x, ty = threadIdx.y, at = (blockIdx.y * 8 + ty) * width + blockIdx.x * 8 + tx;
  block[ty][tx] = in[at];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; k++) sum += (inverse ? c_dct[k * 8 + ty] : c_dct[ty * 8 + k]) * block[k][tx];
  temp[ty][tx] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 8; k++) sum += temp[ty][k] * (inverse ? c_dct[k * 8 + tx] : c_dct[tx * 8 + k]);
  out[at] = sum;
}

__global__ void walsh(float* data, int log2n) {
  extern __shared__ float s_data[];
  const int N = 1 << log2n, base = blockIdx.x << log2n;
  for (int pos = threadIdx.x; pos < N; pos += blockDim.x) s_data[pos] = data[base + pos];
  for (int stride = 1; stride < N; stride <<= 1) {
    __syncthreads();
    for (int pos = threadIdx.x; pos < N / 2; pos += blockDim.x) {
      int lo = pos & (stride - 1), i0 = ((pos - lo) << 1) + lo, i1 = i0 + stride;
      float a = s_data[i0], b = s_data[i1];
      s_data[i0] = a + b;
      s_data[i1] = a - b;
    }
  }
  __syncthreads();
  for (int pos = threadIdx.x; pos < N; pos += blockDim.x) data[base + pos] = s_data[pos];
}

__global__ void haar(const float* in, float* out, int n) {
  extern __shared__ float level[];
  int t = threadIdx.x;
  level[2 * t] = in[2 * t], level[2 * t + 1] = in[2 * t + 1];
  for (int active = n / 2; active >= 1; active /= 2) {
    __syncthreads();
    float a = 0, b = 0;
    if (t < active) a = level[2 * t], b = level[2 * t + 1];
    __syncthreads();
    if (t < active) {
      out[active + t] = (a - b) * rsqrtf(2.0f);
      level[t] = (a + b) * rsqrtf(2.0f);
    }
  }
  if (t == 0) out[0] = level[0];
}

int main() {
  int bad = 0;
  const int batch = 4;
  std::vector<float2> x(batch * FFT_N), X(batch * FFT_N);
  for (int i = 0; i < batch * FFT_N; i++) x[i] = make_float2(sinf(i * 0.3f) + (i % 5), cosf(i * 0.11f));
  float2* d_x;
  CHECK(cudaMalloc(&d_x, x.size() * 8));
  CHECK(cudaMemcpy(d_x, x.data(), x.size() * 8, cudaMemcpyHostToDevice));
  fft<<<batch, FFT_N / 2>>>(d_x, 0);
  CHECK(cudaMemcpy(X.data(), d_x, x.size() * 8, cudaMemcpyDeviceToHost));
  for (int b = 0; b < batch; b++)
    for (int k = 0; k < FFT_N; k++) {
      double re = 0, im = 0;
      for (int j = 0; j < FFT_N; j++) {
        double a = -2 * M_PI * ((j * k) % FFT_N) / FFT_N;
        re += x[b * FFT_N + j].x * cos(a) - x[b * FFT_N + j].y * sin(a),
            im += x[b * FFT_N + j].x * sin(a) + x[b * FFT_N + j].y * cos(a);
      }
      bad += !(fabs(X[b * FFT_N + k].x - re) < 2e-2 && fabs(X[b * FFT_N + k].y - im) < 2e-2);
    }
  fft<<<batch, FFT_N / 2>>>(d_x, 1);
  CHECK(cudaMemcpy(X.data(), d_x, x.size() * 8, cudaMemcpyDeviceToHost));
  for (int i = 0; i < batch * FFT_N; i++) bad += !(fabs(X[i].x - x[i].x) < 1e-4 && fabs(X[i].y - x[i].y) < 1e-4);
  printf("fft: %d wrong\n", bad);

  float dct[64];
  for (int u = 0; u < 8; u++)
    for (int k = 0; k < 8; k++)
      dct[u * 8 + k] = (float)((u ? sqrt(0.25) : sqrt(0.125)) * cos((2 * k + 1) * u * M_PI / 16));
  CHECK(cudaMemcpyToSymbol(c_dct, dct, sizeof dct));
  const int W = 64, H = 40;
  std::vector<float> img(W * H), co(W * H), back(W * H);
  for (int i = 0; i < W * H; i++) img[i] = (float)((i * 13 + i / W * 5) % 256) - 128;
  float *d_a, *d_b;
  CHECK(cudaMalloc(&d_a, W * H * 4));
  CHECK(cudaMalloc(&d_b, W * H * 4));
  CHECK(cudaMemcpy(d_a, img.data(), W * H * 4, cudaMemcpyHostToDevice));
  dct8x8<<<dim3(W / 8, H / 8), dim3(8, 8)>>>(d_a, d_b, W, false);
  CHECK(cudaMemcpy(co.data(), d_b, W * H * 4, cudaMemcpyDeviceToHost));
  dct8x8<<<dim3(W / 8, H / 8), dim3(8, 8)>>>(d_b, d_a, W, true);
  CHECK(cudaMemcpy(back.data(), d_a, W * H * 4, cudaMemcpyDeviceToHost));
  double e1 = 0, e2 = 0, dc = 0;
  for (int i = 0; i < W * H; i++) bad += !(fabs(back[i] - img[i]) < 1e-3), e1 += img[i] * img[i], e2 += co[i] * co[i];
  for (int y = 0; y < 8; y++)
    for (int i = 0; i < 8; i++) dc += img[y * W + i] / 8;
  bad += !(fabs(e1 - e2) < 1e-3 * e1) + !(fabs(co[0] - dc) < 1e-2);

  const int log2n = 10, n = 1 << log2n;
  std::vector<float> w(n), ww(n);
  for (int i = 0; i < n; i++) w[i] = (float)((i * 29) % 17);
  CHECK(cudaMemcpy(d_a, w.data(), n * 4, cudaMemcpyHostToDevice));
  walsh<<<1, 256, n * 4>>>(d_a, log2n);
  CHECK(cudaMemcpy(ww.data(), d_a, n * 4, cudaMemcpyDeviceToHost));
  for (int k = 0; k < n; k += 37) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += (__builtin_popcount(i & k) & 1) ? -w[i] : w[i];
    bad += ww[k] != sum;
  }
  haar<<<1, 128, 256 * 4>>>(d_a, d_b, 256);
  CHECK(cudaGetLastError());
  std::vector<float> h(256), hw(256);
  CHECK(cudaMemcpy(hw.data(), d_b, 256 * 4, cudaMemcpyDeviceToHost));
  std::vector<double> lv(ww.begin(), ww.begin() + 256);
  for (int active = 128; active >= 1; active /= 2) {
    std::vector<double> nx(active);
    for (int t = 0; t < active; t++) {
      bad += !(fabs(hw[active + t] - (lv[2 * t] - lv[2 * t + 1]) / sqrt(2.0)) < 1e-2 + 1e-5 * fabs(hw[active + t]));
      nx[t] = (lv[2 * t] + lv[2 * t + 1]) / sqrt(2.0);
    }
    lv = nx;
  }
  bad += !(fabs(hw[0] - lv[0]) < 1e-2 + 1e-5 * fabs(hw[0]));
  printf("transforms: dc %.3f, walsh[0] %.0f, %s\n", co[0], ww[0], bad ? "FAILED" : "PASSED");
  return bad != 0;
}
