// Trees, scans and networks in shared memory, in which everything but the data depends on thread numbers: whole blocks,
// blocks that end beyond the data, places that do not lie on a line of memory, loops of which only a part is like that.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void tree(const int* in, int* out, unsigned n) {
  extern __shared__ int sums[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void interleaved(const int* in, int* out, unsigned n) {
  __shared__ int sums[128];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void scan(const int* in, int* out, int n) {
  __shared__ int buffer[2][256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  int from = 0;
  buffer[0][t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int offset = 1; offset < 256; offset *= 2) {
    buffer[1 - from][t] = t >= offset ? buffer[from][t] + buffer[from][t - offset] : buffer[from][t];
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) out[i] = buffer[from][t];
}

// The tree begins when a loop over the data has ended, and is one of several rounds.
__global__ void rounds(const int* in, int* out, int n, int times) {
  __shared__ int sums[64];
  const int t = threadIdx.x;
  for (int k = 0; k < times; ++k) {
    int sum = 0;
    for (int i = t + k; i < n; i += 64) sum += in[i];
    sums[t] = sum;
    __syncthreads();
    for (int s = 32; s > 0; s /= 2) {
      if (t < s) sums[t] += sums[t + s];
      __syncthreads();
    }
    if (t == 0) out[blockIdx.x * times + k] = sums[0];
    __syncthreads();
  }
}

__global__ void sort(int* data) {
  __shared__ int keys[256];
  const unsigned t = threadIdx.x;
  data += blockIdx.x * 256;
  keys[t] = data[t];
  keys[t + 128] = data[t + 128];
  __syncthreads();
  for (unsigned k = 2; k <= 256; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) {
      const unsigned low = 2 * t - (t & (j - 1)), high = low + j;
      const bool up = (low & k) == 0;
      const int a = keys[low], b = keys[high];
      if ((a > b) == up) keys[low] = b, keys[high] = a;
      __syncthreads();
    }
  data[t] = keys[t];
  data[t + 128] = keys[t + 128];
}

__global__ void reverse_rows(const double* in, double* out, int n) {
  __shared__ double row[96];
  const int t = threadIdx.x;
  row[t] = in[blockIdx.x * n + t];
  __syncthreads();
  out[blockIdx.x * n + t] = row[n - 1 - t];
}

// Loops that warps go through side by side, as far as their lanes stay together.
__constant__ int weights[8];
__global__ void strides(const int* in, const int* scale, int* out, int n) {
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i] * scale[0];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void products(const int* a, const int* b, int* out, int n) {
  const int column = blockIdx.x * 64 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * 128 + column] + weights[k % 8];
  out[row * 128 + column] = sum;
}
__global__ void picky(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += 128) {
    const int x = in[i];
    if (x % 3 == 0) continue;
    if (x == 997) break;
    sum += x;
  }
  out[threadIdx.x] = sum;
}

static int failures;
static void expect(const char* what, bool good) {
  if (!good) ++failures, std::printf("%s: wrong\n", what);
}

int main() {
  const int n = 256 * 9 + 37;
  std::vector<int> data(n);
  for (int i = 0; i < n; ++i) data[i] = (i * 7919 + 13) % 1000;
  int *in, *out;
  cudaMalloc(&in, (n + 256) * sizeof(int));
  cudaMalloc(&out, (n + 256) * sizeof(int));
  for (int shift : {0, 1, 8}) {  // of where the data begin
    cudaMemset(in, 0, (n + 256) * sizeof(int));
    cudaMemcpy(in + shift, data.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    std::vector<int> got(n + 256);
    for (int block : {64, 128, 256, 1024}) {
      const int blocks = (n + block - 1) / block;
      tree<<<blocks, block, block * sizeof(int)>>>(in + shift, out, n);
      cudaMemcpy(got.data(), out, blocks * sizeof(int), cudaMemcpyDeviceToHost);
      for (int b = 0; b < blocks; ++b) {
        int sum = 0;
        for (int i = b * block; i < std::min(n, (b + 1) * block); ++i) sum += data[i];
        expect("tree", got[b] == sum);
      }
    }
    interleaved<<<(n + 127) / 128, 128>>>(in + shift, out, n);
    cudaMemcpy(got.data(), out, (n + 127) / 128 * sizeof(int), cudaMemcpyDeviceToHost);
    for (int b = 0; b < (n + 127) / 128; ++b) {
      int sum = 0;
      for (int i = b * 128; i < std::min(n, (b + 1) * 128); ++i) sum += data[i];
      expect("interleaved", got[b] == sum);
    }
    scan<<<(n + 255) / 256, 256>>>(in + shift, out + shift, n);
    cudaMemcpy(got.data(), out + shift, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0, sum = 0; i < n; ++i) {
      sum = i % 256 ? sum + data[i] : data[i];
      expect("scan", got[i] == sum);
    }
    rounds<<<3, 64>>>(in + shift, out, n, 4);
    cudaMemcpy(got.data(), out, 12 * sizeof(int), cudaMemcpyDeviceToHost);
    for (int k = 0; k < 12; ++k) {
      int sum = 0;
      for (int i = k % 4; i < n; ++i) sum += data[i];
      expect("rounds", got[k] == sum);
    }
    cudaMemcpy(out + shift, data.data(), 2304 * sizeof(int), cudaMemcpyHostToDevice);
    sort<<<9, 128>>>(out + shift);
    cudaMemcpy(got.data(), out + shift, 2304 * sizeof(int), cudaMemcpyDeviceToHost);
    std::vector<int> sorted(data.begin(), data.begin() + 2304);
    for (int b = 0; b < 9; ++b) std::sort(sorted.begin() + b * 256, sorted.begin() + b * 256 + 256);
    expect("sort", std::equal(sorted.begin(), sorted.end(), got.begin()));
  }
  cudaMemcpy(in, data.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  std::vector<int> got(n + 256);
  const int ones[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  cudaMemcpyToSymbol(weights, ones, sizeof ones);
  for (int block : {96, 128, 256}) {
    const int all = 3 * block;
    strides<<<3, block>>>(in, in + 5, out, n);
    cudaMemcpy(got.data(), out, all * sizeof(int), cudaMemcpyDeviceToHost);
    for (int t = 0; t < all; ++t) {
      int sum = 0;
      for (int i = t; i < n; i += all) sum += data[i] * data[5];
      expect("strides", got[t] == sum);
    }
  }
  products<<<dim3(2, 2), dim3(64, 4)>>>(in, in + 3, out, 15);
  cudaMemcpy(got.data(), out, 1024 * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 1024; ++i) {
    int sum = 0;
    for (int k = 0; k < 15; ++k) sum += data[i / 128 * 15 + k] * data[3 + k * 128 + i % 128] + ones[k % 8];
    expect("products", got[i] == sum);
  }
  picky<<<1, 128>>>(in, out, n);
  cudaMemcpy(got.data(), out, 128 * sizeof(int), cudaMemcpyDeviceToHost);
  for (int t = 0; t < 128; ++t) {
    int sum = 0;
    for (int i = t; i < n && data[i] != 997; i += 128) sum += data[i] % 3 ? data[i] : 0;
    expect("picky", got[t] == sum);
  }
  double *rows, *turned;
  std::vector<double> numbers(96 * 5), back(96 * 5);
  for (int i = 0; i < 96 * 5; ++i) numbers[i] = i * 0.5;
  cudaMalloc(&rows, numbers.size() * sizeof(double));
  cudaMalloc(&turned, numbers.size() * sizeof(double));
  cudaMemcpy(rows, numbers.data(), numbers.size() * sizeof(double), cudaMemcpyHostToDevice);
  reverse_rows<<<5, 96>>>(rows, turned, 96);
  cudaMemcpy(back.data(), turned, numbers.size() * sizeof(double), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 96 * 5; ++i) expect("reverse_rows", back[i] == numbers[i / 96 * 96 + 95 - i % 96]);
  expect("errors", cudaDeviceSynchronize() == cudaSuccess);
  cudaFree(in);
  cudaFree(out);
  cudaFree(rows);
  cudaFree(turned);
  std::puts(failures ? "FAILED" : "PASSED");
  return failures != 0;
}
