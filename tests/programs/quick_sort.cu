// Iterative quicksort with an explicit stack in local memory (one segment per thread), recursive quicksort on the
// device, odd-even transposition and binary search.
#include <algorithm>
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

__device__ void iterative(float* a, int l, int h) {
  int stack[64], top = -1;
  stack[++top] = l;
  stack[++top] = h;
  while (top >= 0) {
    h = stack[top--];
    l = stack[top--];
    float x = a[h];
    int i = l - 1;
    for (int j = l; j <= h - 1; j++) {
      if (a[j] <= x) {
        i++;
        float t = a[i];
        a[i] = a[j];
        a[j] = t;
      }
    }
    float t = a[i + 1];
    a[i + 1] = a[h];
    a[h] = t;
    int p = i + 1;
    if (p - 1 > l) {
      stack[++top] = l;
      stack[++top] = p - 1;
    }
    if (p + 1 < h) {
      stack[++top] = p + 1;
      stack[++top] = h;
    }
  }
}

__device__ void recursive(int* a, int left, int right) {
  int i = left, j = right, pivot = a[(left + right) / 2];
  while (i <= j) {
    while (a[i] < pivot) i++;
    while (a[j] > pivot) j--;
    if (i <= j) {
      int t = a[i];
      a[i++] = a[j];
      a[j--] = t;
    }
  }
  if (left < j) recursive(a, left, j);
  if (i < right) recursive(a, i, right);
}

__global__ void sort_segments(float* f, int* k, int len, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    iterative(f + i * len, 0, len - 1);
    recursive(k + i * len, 0, len - 1);
  }
}

__global__ void odd_even(int* a, int n) {
  int t = threadIdx.x;
  for (int phase = 0; phase < n; phase++) {
    int i = 2 * t + (phase & 1);
    if (i + 1 < n && a[i] > a[i + 1]) {
      int x = a[i];
      a[i] = a[i + 1];
      a[i + 1] = x;
    }
    __syncthreads();
  }
}

__global__ void search(const int* a, int n, const int* wanted, int* where, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  int lo = 0, hi = n - 1, found = -1;
  while (lo <= hi && found < 0) {
    int mid = lo + (hi - lo) / 2;
    if (a[mid] == wanted[i])
      found = mid;
    else if (a[mid] < wanted[i])
      lo = mid + 1;
    else
      hi = mid - 1;
  }
  where[i] = found;
}

int main() {
  const int len = 50, count = 96, n = len * count;
  std::vector<float> f(n), fo(n);
  std::vector<int> k(n), ko(n);
  unsigned s = 17;
  for (int i = 0; i < n; i++) {
    f[i] = (float)((s = s * 1664525u + 1013904223u) >> 20) * 0.5f;
    k[i] = (int)((s = s * 1664525u + 1013904223u) >> 20) - 2000;
  }
  float* df;
  int* dk;
  CHECK(cudaMalloc(&df, n * 4));
  CHECK(cudaMalloc(&dk, n * 4));
  CHECK(cudaMemcpy(df, f.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dk, k.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16 * 1024));
  sort_segments<<<(count + 63) / 64, 64>>>(df, dk, len, count);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(fo.data(), df, n * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(ko.data(), dk, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; i++) {
    std::sort(f.begin() + i * len, f.begin() + (i + 1) * len);
    std::sort(k.begin() + i * len, k.begin() + (i + 1) * len);
  }
  int bad = (fo != f) + (ko != k);
  printf("segments: %s\n", bad ? "WRONG" : "sorted");

  const int m = 300;
  std::vector<int> a(m), b(m), w(2 * m), where(2 * m);
  for (int i = 0; i < m; i++) a[i] = 3 * ((i * 101) % m);
  for (int i = 0; i < 2 * m; i++) w[i] = i * 2;
  int *da, *dw, *dwhere;
  CHECK(cudaMalloc(&da, m * 4));
  CHECK(cudaMalloc(&dw, 2 * m * 4));
  CHECK(cudaMalloc(&dwhere, 2 * m * 4));
  CHECK(cudaMemcpy(da, a.data(), m * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dw, w.data(), 2 * m * 4, cudaMemcpyHostToDevice));
  odd_even<<<1, (m + 1) / 2>>>(da, m);
  search<<<(2 * m + 127) / 128, 128>>>(da, m, dw, dwhere, 2 * m);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(b.data(), da, m * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(where.data(), dwhere, 2 * m * 4, cudaMemcpyDeviceToHost));
  std::sort(a.begin(), a.end());
  bad += a != b;
  for (int i = 0; i < 2 * m; i++) bad += where[i] != (w[i] % 3 == 0 && w[i] < 3 * m ? w[i] / 3 : -1);
  printf("quick_sort: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}
