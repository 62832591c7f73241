// A pointer that means another allocation at every turn of a loop, while many values are alive in registers.
#include <cstdio>
#include <vector>

constexpr int kArrays = 37, kTurns = 100, kThreads = 160;

__global__ void wander(float* const* arrays, const int* lengths, float* out, int turns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = i, b = 1, c = 2, d = 3, e = 4, f = 5;
  bool odd = i & 1;
  double g = 0.5;
  unsigned long long h = i * 77ull;
  for (int k = 0; k < turns; ++k) {
    const int which = (k * 5 + blockIdx.x) % kArrays;
    float* array = arrays[which];
    const int n = lengths[which];
    const float x = array[i % n];             // gathers
    const float y = threadIdx.x < n ? array[threadIdx.x] : -1;  // neighbours, not all of them
    a = a * 0.5f + x, b += y, c = c * 0.25f + a, d = d - b * 0.125f, e = odd ? e + x : e - y, f += a - c;
    g = g * 0.5 + x;
    h = h * 6364136223846793005ull + static_cast<unsigned>(n);
    odd = odd != (x > y);
    if (k % 7 == 3 && threadIdx.x == k % 32) arrays[(which + 1) % kArrays][kThreads + blockIdx.x] = k;  // beyond what is read
  }
  out[i] = a + b + c + d + e + f + static_cast<float>(g) + static_cast<float>(h >> 40) + odd;
}

int main() {
  std::vector<std::vector<float>> host(kArrays);
  std::vector<float*> arrays(kArrays);
  std::vector<int> lengths(kArrays);
  const int blocks = 6, n = blocks * kThreads;
  for (int k = 0; k < kArrays; ++k) {
    lengths[k] = 3 + k * 4;
    host[k].resize(kThreads + blocks);
    for (size_t j = 0; j < host[k].size(); ++j) host[k][j] = static_cast<float>((k * 31 + j * 17) % 101) / 16;
    cudaMalloc(&arrays[k], host[k].size() * sizeof(float));
    cudaMemcpy(arrays[k], host[k].data(), host[k].size() * sizeof(float), cudaMemcpyHostToDevice);
  }
  float **d_arrays, *d_out;
  int* d_lengths;
  cudaMalloc(&d_arrays, kArrays * sizeof(float*));
  cudaMalloc(&d_lengths, kArrays * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(float));
  cudaMemcpy(d_arrays, arrays.data(), kArrays * sizeof(float*), cudaMemcpyHostToDevice);
  cudaMemcpy(d_lengths, lengths.data(), kArrays * sizeof(int), cudaMemcpyHostToDevice);
  wander<<<blocks, kThreads>>>(d_arrays, d_lengths, d_out, kTurns);
  std::vector<float> out(n);
  cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess) return 2;

  for (int i = 0; i < n; ++i) {
    const int thread = i % kThreads, block = i / kThreads;
    float a = i, b = 1, c = 2, d = 3, e = 4, f = 5;
    bool odd = i & 1;
    double g = 0.5;
    unsigned long long h = i * 77ull;
    for (int k = 0; k < kTurns; ++k) {
      const int which = (k * 5 + block) % kArrays, m = lengths[which];
      const float x = host[which][i % m], y = thread < m ? host[which][thread] : -1;
      a = __builtin_fmaf(a, 0.5f, x), b += y, c = __builtin_fmaf(c, 0.25f, a), d = __builtin_fmaf(b, -0.125f, d);
      e = odd ? e + x : e - y, f += a - c;
      g = g * 0.5 + x;
      h = h * 6364136223846793005ull + static_cast<unsigned>(m);
      odd = odd != (x > y);
    }
    const float want = a + b + c + d + e + f + static_cast<float>(g) + static_cast<float>(h >> 40) + odd;
    if (out[i] != want) {
      std::printf("thread %d: %.9g instead of %.9g\n", i, out[i], want);
      return 1;
    }
  }
  std::puts("every value outlived every change of allocation");
}
