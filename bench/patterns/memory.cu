// How lanes lie in memory, textures, elements of eight bytes, and calls.
#include "pattern.h"

__global__ void saxpy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + y[i];
}

__global__ void row_each(const float* a, float* sums, int rows, int columns) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (r < rows)
    for (int c = 0; c < columns; ++c) sum += a[size_t(r) * columns + c] * 0.5f;
  sums[r] = sum;
}
__global__ void row_updated(float* a, int rows, int columns) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  for (int c = 1; c < columns; ++c) a[size_t(r) * columns + c] = a[size_t(r) * columns + c] * 0.5f + a[size_t(r) * columns + c - 1] * 0.25f;
}

template <class T> __global__ void stencil(const T* in, T* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  out[i] = T(0.25) * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]) - in[i];
}
template <class T> __global__ void multiply_add(const T* in, T* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  T x = in[i], y = x;
  for (int k = 0; k < rounds; ++k) x = x * T(0.999) + T(0.001), y = y * x + T(0.5);
  out[i] = x + y;
}
template <class T> __global__ void multiply(const T* in, T* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  T x = in[i];
  for (int k = 0; k < rounds; ++k) x *= T(0.999);
  out[i] = x;
}
template <class T> __global__ void transpose(const T* in, T* out, int n) {
  __shared__ T tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  for (int j = 0; j < 32; j += 8) out[(blockIdx.x * 32 + threadIdx.y + j) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y + j];
}
template <class T> __global__ void tree(const T* in, T* out) {
  __shared__ T r[256];
  const int t = threadIdx.x;
  r[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) r[t] += r[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = r[0];
}

__global__ void read_2d(cudaTextureObject_t image, float* out, int n, float shift) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * n + x] = tex2D<float>(image, x + shift, y + shift);
}
__global__ void read_1d(cudaTextureObject_t image, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = tex1Dfetch<float>(image, i) + 1;
}
__global__ void load_1d(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 1;
}
__global__ void load_2d(const float* in, float* out, int n) {
  const int x = min(blockIdx.x * blockDim.x + threadIdx.x, n - 1), y = min(blockIdx.y * blockDim.y + threadIdx.y, n - 1);
  out[y * n + x] = in[y * n + x];
}
__global__ void between_2d(const float* in, float* out, int n, float shift) {
  const int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y;
  const float fx = ox + shift - 0.5f, fy = oy + shift - 0.5f;
  const int x = max(min(int(floorf(fx)), n - 2), 0), y = max(min(int(floorf(fy)), n - 2), 0);
  const float a = fx - x, b = fy - y;
  const float* p = in + y * n + x;
  out[oy * n + ox] = (1 - b) * ((1 - a) * p[0] + a * p[1]) + b * ((1 - a) * p[n] + a * p[n + 1]);
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursion(int* out, int n) { out[blockIdx.x * blockDim.x + threadIdx.x] = fibonacci(n); }
__global__ void own_stack(int* out, int n) {
  int stack[24], top = 0, sum = 0;
  stack[top++] = n;
  while (top) {
    const int k = stack[--top];
    if (k < 2) sum += k;
    else stack[top++] = k - 1, stack[top++] = k - 2;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

void rows() {
  constexpr int n = 512, kAll = n * n;
  const float* in = array<float>(1 << 21, 1, 0.001f);
  float* out = array<float>(1 << 21);
  const double* din = array<double>(kAll, 1, 0.001);
  double* dout = array<double>(kAll);
  const pattern::Form blocks_of_256{1 << 16, [=] { saxpy<<<(1 << 16) / 256, 256>>>(in, out, 1 << 16); }};
  row("blocks of 8 threads", "thread", {1 << 16, [=] { saxpy<<<(1 << 16) / 8, 8>>>(in, out, 1 << 16); }}, "of 256", blocks_of_256, 4);
  row("blocks of one thread", "thread", {1 << 16, [=] { saxpy<<<1 << 16, 1>>>(in, out, 1 << 16); }}, "of 256", blocks_of_256, 4);

  constexpr int kRows = 256, kColumns = 2048;
  static std::vector<float> host(size_t(kRows) * kColumns, 0.5f), sums(kRows);
  row("a row a thread, 8 KB apart: sums", "element", {double(kRows) * kColumns, [=] { row_each<<<kRows / 64, 64>>>(in, out, kRows, kColumns); }}, "the host's loop", {double(kRows) * kColumns, [=] {
        for (int r = 0; r < kRows; ++r) {
          float sum = 0;
          for (int c = 0; c < kColumns; ++c) sum += host[size_t(r) * kColumns + c] * 0.5f;
          sums[r] = sum;
        }
      }}, 1.5);
  row("a row a thread, 8 KB apart: updated", "element", {double(kRows) * kColumns, [=] { row_updated<<<kRows / 64, 64>>>(out, kRows, kColumns); }}, "the host's loop", {double(kRows) * kColumns, [=] {
        for (int r = 0; r < kRows; ++r) {
          float* a = host.data() + size_t(r) * kColumns;
          for (int c = 1; c < kColumns; ++c) a[c] = a[c] * 0.5f + a[c - 1] * 0.25f;
        }
      }}, 1.5);

  const dim3 grid(n / 32, n / 8), block(32, 8);
  const auto twins = [&](const char* name, auto f64, auto f32, double elements = kAll) { row(name, "element", {elements, f64}, "of float", {elements, f32}, 2); };
  twins("double stencil", [=] { stencil<<<grid, block>>>(din, dout, n); }, [=] { stencil<<<grid, block>>>(in, out, n); });
  twins("double multiply-add", [=] { multiply_add<<<256, 256>>>(din, dout, 64); }, [=] { multiply_add<<<256, 256>>>(in, out, 64); }, 65536 * 64);
  twins("double multiply", [=] { multiply<<<256, 256>>>(din, dout, 64); }, [=] { multiply<<<256, 256>>>(in, out, 64); }, 65536 * 64);
  twins("double transpose", [=] { transpose<<<dim3(n / 32, n / 32), block>>>(din, dout, n); }, [=] { transpose<<<dim3(n / 32, n / 32), block>>>(in, out, n); });
  twins("double tree", [=] { tree<<<1024, 256>>>(din, dout); }, [=] { tree<<<1024, 256>>>(in, out); });

  cudaArray_t pixels;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&pixels, &format, n, n));
  CHECK(cudaMemcpy2DToArray(pixels, 0, 0, in, n * 4, n * 4, n, cudaMemcpyDeviceToDevice));
  const auto object = [&](cudaResourceDesc resource, cudaTextureFilterMode filter) {
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = filter;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    return texture;
  };
  cudaResourceDesc plane{}, line{};
  plane.resType = cudaResourceTypeArray;
  plane.res.array.array = pixels;
  line.resType = cudaResourceTypeLinear;
  line.res.linear.devPtr = const_cast<float*>(in);
  line.res.linear.desc = format;
  line.res.linear.sizeInBytes = kAll * 4;
  const cudaTextureObject_t point = object(plane, cudaFilterModePoint), linear = object(plane, cudaFilterModeLinear), flat = object(line, cudaFilterModePoint);
  row("tex2D, nearest", "read", {kAll, [=] { read_2d<<<grid, block>>>(point, out, n, 0.5f); }}, "a load", {kAll, [=] { load_2d<<<grid, block>>>(in, out, n); }});
  row("tex2D, between", "read", {kAll, [=] { read_2d<<<grid, block>>>(linear, out, n, 0.7f); }}, "by hand", {kAll, [=] { between_2d<<<grid, block>>>(in, out, n, 0.7f); }});
  row("tex1Dfetch", "read", {kAll, [=] { read_1d<<<kAll / 256, 256>>>(flat, out); }}, "a load", {kAll, [=] { load_1d<<<kAll / 256, 256>>>(in, out); }});

  int* numbers = array<int>(4096);
  row("recursion", "thread", {4096, [=] { recursion<<<16, 256>>>(numbers, 10); }}, "a stack of its own", {4096, [=] { own_stack<<<16, 256>>>(numbers, 10); }});
}
