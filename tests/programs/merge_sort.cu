// Bottom-up merge sort, one thread per pair of runs, then a rank-based parallel merge within blocks.
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

__device__ void bottomUpMerge(const long* source, long* dest, long start, long middle, long end) {
  long i = start, j = middle;
  for (long k = start; k < end; k++) {
    if (i < middle && (j >= end || source[i] < source[j]))
      dest[k] = source[i++];
    else
      dest[k] = source[j++];
  }
}

__device__ unsigned getIdx(const dim3* threads, const dim3* blocks) {
  unsigned inBlock = threadIdx.x + threads->x * (threadIdx.y + threads->y * threadIdx.z);
  unsigned block = blockIdx.x + blocks->x * (blockIdx.y + blocks->y * blockIdx.z);
  return inBlock + block * (threads->x * threads->y * threads->z);
}

__global__ void gpu_mergesort(long* source, long* dest, long size, long width, long slices, dim3* threads,
                              dim3* blocks) {
  unsigned idx = getIdx(threads, blocks);
  long start = width * idx * slices;
  for (long slice = 0; slice < slices; slice++) {
    if (start >= size) break;
    long middle = min(start + (width >> 1), size), end = min(start + width, size);
    bottomUpMerge(source, dest, start, middle, end);
    start += width;
  }
}

__device__ int rankLess(const int* a, int n, int key) {
  int lo = 0, hi = n;
  while (lo < hi) {
    int mid = (lo + hi) >> 1;
    if (a[mid] < key)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}
__device__ int rankLessEqual(const int* a, int n, int key) {
  int lo = 0, hi = n;
  while (lo < hi) {
    int mid = (lo + hi) >> 1;
    if (a[mid] <= key)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

__global__ void sortInShared(int* keys, int n) {
  __shared__ int s[512];
  int t = threadIdx.x;
  keys += blockIdx.x * 512;
  s[t] = keys[t], s[t + 256] = keys[t + 256];
  for (int stride = 1; stride < 512; stride *= 2) {
    int pos = t & (stride - 1);
    int* base = s + 2 * (t - pos);
    __syncthreads();
    int a = base[pos], b = base[pos + stride];
    int pa = rankLess(base + stride, stride, a) + pos, pb = rankLessEqual(base, stride, b) + pos;
    __syncthreads();
    base[pa] = a, base[pb] = b;
  }
  __syncthreads();
  keys[t] = s[t], keys[t + 256] = s[t + 256];
}

int main() {
  const long n = 3000;
  std::vector<long> data(n), sorted(n);
  unsigned s = 1;
  for (long& d : data) d = (long)((s = s * 1664525u + 1013904223u) >> 8) - 5000000;
  dim3 threads(32, 1, 1), blocks(4, 1, 1), *d_threads, *d_blocks;
  long *d_data, *d_swap;
  CHECK(cudaMalloc(&d_data, n * sizeof(long)));
  CHECK(cudaMalloc(&d_swap, n * sizeof(long)));
  CHECK(cudaMalloc(&d_threads, sizeof(dim3)));
  CHECK(cudaMalloc(&d_blocks, sizeof(dim3)));
  CHECK(cudaMemcpy(d_data, data.data(), n * sizeof(long), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_threads, &threads, sizeof(dim3), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_blocks, &blocks, sizeof(dim3), cudaMemcpyHostToDevice));
  long *A = d_data, *B = d_swap, nThreads = 128;
  for (long width = 2; width < (n << 1); width <<= 1) {
    long slices = n / (nThreads * width) + 1;
    gpu_mergesort<<<blocks, threads>>>(A, B, n, width, slices, d_threads, d_blocks);
    std::swap(A, B);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(sorted.data(), A, n * sizeof(long), cudaMemcpyDeviceToHost));
  std::sort(data.begin(), data.end());
  int bad = sorted != data;

  const int m = 4096;
  std::vector<int> keys(m), out(m);
  for (int& k : keys) k = (int)((s = s * 1664525u + 1013904223u) >> 22);
  int* d_keys;
  CHECK(cudaMalloc(&d_keys, m * 4));
  CHECK(cudaMemcpy(d_keys, keys.data(), m * 4, cudaMemcpyHostToDevice));
  sortInShared<<<m / 512, 256>>>(d_keys, m);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d_keys, m * 4, cudaMemcpyDeviceToHost));
  for (int b = 0; b < m; b += 512) std::sort(keys.begin() + b, keys.begin() + b + 512);
  bad += out != keys;
  printf("merge_sort: %ld to %ld, %s\n", sorted.front(), sorted.back(), bad ? "FAILED" : "PASSED");
  return bad != 0;
}
