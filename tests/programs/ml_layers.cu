// The kernels of a small neural network: linear, bias, ReLU, GELU, softmax, cross entropy, layer and batch norm,
// 2-D convolution, max pooling, dropout by hash, attention, embedding, SGD and Adam; checked against the host.
#include <cfloat>
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

__global__ void linear_relu(const float* x, const float* w, const float* b, float* y, int in, int out) {
  int o = blockIdx.x * blockDim.x + threadIdx.x, n = blockIdx.y;
  if (o >= out) return;
  float s = b[o];
  for (int k = 0; k < in; k++) s = fmaf(x[n * in + k], w[o * in + k], s);
  y[n * out + o] = fmaxf(s, 0.0f);
}
__global__ void gelu(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 0.5f * x[i] * (1.0f + tanhf(0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}
__device__ float block_reduce(float v, bool is_max) {
  __shared__ float s[33];
  for (int o = 16; o; o >>= 1) {
    float w = __shfl_xor_sync(~0u, v, o);
    v = is_max ? fmaxf(v, w) : v + w;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : is_max ? -FLT_MAX : 0.0f;
    for (int o = 16; o; o >>= 1) {
      float w = __shfl_xor_sync(~0u, v, o);
      v = is_max ? fmaxf(v, w) : v + w;
    }
    if (threadIdx.x == 0) s[32] = v;
  }
  __syncthreads();
  return s[32];
}
__global__ void softmax(const float* x, float* y, int cols) {
  const float* row = x + blockIdx.x * cols;
  float m = -FLT_MAX, sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, row[i]);
  m = block_reduce(m, true);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(row[i] - m);
  sum = block_reduce(sum, false);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = expf(row[i] - m) / sum;
}
__global__ void cross_entropy(const float* p, const int* label, float* loss, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) atomicAdd(loss, -logf(p[r * cols + label[r]]) / rows);
}
__global__ void layer_norm(const float* x, float* y, int cols, float eps) {
  const float* row = x + blockIdx.x * cols;
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) s += row[i];
  float mean = block_reduce(s, false) / cols;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) q += (row[i] - mean) * (row[i] - mean);
  float inv = rsqrtf(block_reduce(q, false) / cols + eps);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = (row[i] - mean) * inv;
}
template <int K>
__global__ void conv2d(const float* x, const float* w, float* y, int cin, int h, int wd) {
  int oc = blockIdx.z, ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ox >= wd || oy >= h) return;
  float s = 0;
  for (int c = 0; c < cin; c++)
#pragma unroll
    for (int i = 0; i < K; i++)
#pragma unroll
      for (int j = 0; j < K; j++) {
        int yy = oy + i - K / 2, xx = ox + j - K / 2;
        if (yy >= 0 && xx >= 0 && yy < h && xx < wd)
          s += x[(c * h + yy) * wd + xx] * w[((oc * cin + c) * K + i) * K + j];
      }
  y[(oc * h + oy) * wd + ox] = s;
}
__global__ void max_pool(const float* x, float* y, unsigned char* arg, int h, int w) {
  int ox = threadIdx.x, oy = threadIdx.y, c = blockIdx.x;
  float best = -INFINITY;
  int at = 0;
  for (int k = 0; k < 4; k++) {
    float v = x[(c * h + oy * 2 + k / 2) * w + ox * 2 + k % 2];
    if (v > best) best = v, at = k;
  }
  y[(c * (h / 2) + oy) * (w / 2) + ox] = best;
  arg[(c * (h / 2) + oy) * (w / 2) + ox] = (unsigned char)at;
}
__host__ __device__ unsigned hash(unsigned x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ x >> 16;
}
__global__ void dropout(const float* x, float* y, int n, unsigned seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = hash(i ^ seed) < 0x40000000u ? 0.0f : x[i] * (4.0f / 3.0f);
}
__global__ void attention(const float* q, const float* k, const float* v, float* o, int len,
                          int dim) {  // online softmax
  int t = blockIdx.x, d = threadIdx.x;
  extern __shared__ float sq[];
  sq[d] = q[t * dim + d];
  __syncthreads();
  float m = -INFINITY, l = 0, acc = 0;
  for (int j = 0; j <= t; j++) {  // causal
    float s = 0;
    for (int e = 0; e < dim; e++) s += sq[e] * k[j * dim + e];
    s *= rsqrtf((float)dim);
    float nm = fmaxf(m, s), scale = expf(m - nm), p = expf(s - nm);
    l = l * scale + p;
    acc = acc * scale + p * v[j * dim + d];
    m = nm;
  }
  o[t * dim + d] = acc / l;
}
__global__ void adam(float* w, const float* g, float* m, float* v, int n, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  m[i] = 0.9f * m[i] + 0.1f * g[i];
  v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
  float mh = m[i] / (1 - powf(0.9f, step)), vh = v[i] / (1 - powf(0.999f, step));
  w[i] -= 0.01f * mh / (sqrtf(vh) + 1e-8f);
}

static unsigned seed = 1;
static std::vector<float> rnd(int n, float scale = 1) {
  std::vector<float> v(n);
  for (float& x : v) x = scale * ((float)((seed = seed * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1.0f);
  return v;
}
template <class T>
static T* up(const std::vector<T>& v) {
  T* d;
  CHECK(cudaMalloc(&d, v.size() * sizeof(T)));
  CHECK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}
static std::vector<float> down(const float* d, int n) {
  std::vector<float> v(n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(v.data(), d, n * 4, cudaMemcpyDeviceToHost));
  return v;
}
static int failures = 0;
static void report(const char* name, double worst, double limit) {
  bool ok = worst <= limit;
  printf("%-14s %s\n", name, ok ? "ok" : "WRONG");
  failures += !ok;
}

int main() {
  const int batch = 16, in = 60, out = 70;
  {
    auto x = rnd(batch * in), w = rnd(out * in), b = rnd(out);
    float *y = up(rnd(batch * out)), *p = up(rnd(batch * out)), *ln = up(rnd(batch * out)),
          *loss = up(std::vector<float>(1, 0.0f));
    std::vector<int> label(batch);
    for (int i = 0; i < batch; i++) label[i] = i * 3 % out;
    linear_relu<<<dim3((out + 31) / 32, batch), 32>>>(up(x), up(w), up(b), y, in, out);
    auto Y = down(y, batch * out);
    double e = 0;
    for (int n = 0; n < batch; n++)
      for (int o = 0; o < out; o++) {
        double s = b[o];
        for (int k = 0; k < in; k++) s += x[n * in + k] * w[o * in + k];
        e = fmax(e, fabs(Y[n * out + o] - fmax(s, 0.0)));
      }
    report("linear + relu", e, 1e-4);
    gelu<<<(batch * out + 127) / 128, 128>>>(y, batch * out);
    auto G = down(y, batch * out);
    e = 0;
    for (int i = 0; i < batch * out; i++) {
      double v = Y[i];
      e = fmax(e, fabs(G[i] - 0.5 * v * (1 + tanh(0.7978845608 * (v + 0.044715 * v * v * v)))));
    }
    report("gelu", e, 1e-4);
    softmax<<<batch, 64>>>(y, p, out);
    cross_entropy<<<1, 32>>>(p, up(label), loss, batch, out);
    layer_norm<<<batch, 96>>>(y, ln, out, 1e-5f);
    auto P = down(p, batch * out), L = down(ln, batch * out), loss_h = down(loss, 1);
    double le = 0, ce = 0;
    e = 0;
    for (int n = 0; n < batch; n++) {
      double m = -1e9, s = 0, mean = 0, var = 0;
      for (int o = 0; o < out; o++) m = fmax(m, G[n * out + o]), mean += G[n * out + o] / out;
      for (int o = 0; o < out; o++) s += exp(G[n * out + o] - m), var += pow(G[n * out + o] - mean, 2) / out;
      for (int o = 0; o < out; o++) {
        e = fmax(e, fabs(P[n * out + o] - exp(G[n * out + o] - m) / s));
        le = fmax(le, fabs(L[n * out + o] - (G[n * out + o] - mean) / sqrt(var + 1e-5)));
      }
      ce -= (G[n * out + label[n]] - m - log(s)) / batch;
    }
    report("softmax", e, 1e-5);
    report("cross entropy", fabs(ce - loss_h[0]), 1e-3);
    report("layer norm", le, 1e-4);
  }
  {
    const int cin = 3, cout = 4, h = 20, w = 24;
    auto x = rnd(cin * h * w), k = rnd(cout * cin * 9);
    float *y = up(rnd(cout * h * w)), *pooled = up(rnd(cout * h * w / 4));
    unsigned char* arg = up(std::vector<unsigned char>(cout * h * w / 4));
    conv2d<3><<<dim3(2, 2, cout), dim3(16, 16)>>>(up(x), up(k), y, cin, h, w);
    max_pool<<<cout, dim3(w / 2, h / 2)>>>(y, pooled, arg, h, w);
    auto Y = down(y, cout * h * w), M = down(pooled, cout * h * w / 4);
    double e = 0, pe = 0;
    for (int o = 0; o < cout; o++)
      for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
          double s = 0;
          for (int c = 0; c < cin; c++)
            for (int a = -1; a <= 1; a++)
              for (int b = -1; b <= 1; b++)
                if (i + a >= 0 && j + b >= 0 && i + a < h && j + b < w)
                  s += x[(c * h + i + a) * w + j + b] * k[((o * cin + c) * 3 + a + 1) * 3 + b + 1];
          e = fmax(e, fabs(Y[(o * h + i) * w + j] - s));
          if (i % 2 == 0 && j % 2 == 0) {
            const float* q = &Y[(o * h + i) * w + j];
            pe = fmax(pe,
                      fabs(M[(o * (h / 2) + i / 2) * (w / 2) + j / 2] - fmax(fmax(q[0], q[1]), fmax(q[w], q[w + 1]))));
          }
        }
    report("convolution", e, 1e-4);
    report("max pooling", pe, 0);
  }
  {
    const int n = 5000;
    auto x = rnd(n);
    float* y = up(x);
    dropout<<<(n + 255) / 256, 256>>>(up(x), y, n, 77);
    auto Y = down(y, n);
    int dropped = 0;
    double e = 0;
    for (int i = 0; i < n; i++) {
      bool drop = hash(i ^ 77u) < 0x40000000u;
      dropped += Y[i] == 0;
      e = fmax(e, fabs(Y[i] - (drop ? 0.0f : x[i] * (4.0f / 3.0f))));
    }
    report("dropout", e + (dropped < n / 5 || dropped > n / 3), 1e-7);
  }
  {
    const int len = 40, dim = 32;
    auto q = rnd(len * dim), k = rnd(len * dim), v = rnd(len * dim);
    float* o = up(q);
    attention<<<len, dim, dim * 4>>>(up(q), up(k), up(v), o, len, dim);
    auto O = down(o, len * dim);
    double e = 0;
    for (int t = 0; t < len; t++) {
      std::vector<double> p(t + 1);
      double m = -1e9, s = 0;
      for (int j = 0; j <= t; j++) {
        for (int d = 0; d < dim; d++) p[j] += q[t * dim + d] * k[j * dim + d] / sqrt((double)dim);
        m = fmax(m, p[j]);
      }
      for (double& z : p) s += z = exp(z - m);
      for (int d = 0; d < dim; d++) {
        double a = 0;
        for (int j = 0; j <= t; j++) a += p[j] / s * v[j * dim + d];
        e = fmax(e, fabs(O[t * dim + d] - a));
      }
    }
    report("attention", e, 1e-4);
  }
  {
    const int n = 300;
    auto w = rnd(n), g = rnd(n);
    float *dw = up(w), *dg = up(g), *m = up(std::vector<float>(n, 0.0f)), *v = up(std::vector<float>(n, 0.0f));
    std::vector<double> W(w.begin(), w.end()), M(n), V(n);
    for (int step = 1; step <= 5; step++) {
      adam<<<(n + 127) / 128, 128>>>(dw, dg, m, v, n, step);
      for (int i = 0; i < n; i++) {
        M[i] = 0.9 * M[i] + 0.1 * g[i], V[i] = 0.999 * V[i] + 0.001 * g[i] * g[i];
        W[i] -= 0.01 * (M[i] / (1 - pow(0.9, step))) / (sqrt(V[i] / (1 - pow(0.999, step))) + 1e-8);
      }
    }
    auto R = down(dw, n);
    double e = 0;
    for (int i = 0; i < n; i++) e = fmax(e, fabs(R[i] - W[i]));
    report("adam", e, 1e-4);
  }
  printf("ml_layers: %s\n", failures ? "FAILED" : "PASSED");
  return failures != 0;
}
