// build: -rdc=true -lcudadevrt
// dynamic_parallelism_quicksort: kernels that launch kernels. Each call partitions its part of the array and launches one
// child for either side, in two streams of its own so that the sides need not wait for each other.
// Look at `quicksort`: nobody waits for the children; a grid ends when all that it launched has ended.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

constexpr int kDeepest = 16, kSmall = 32;

// What is small, or too deep to launch once more, is sorted by selection.
__device__ void selection_sort(int* data, int left, int right) {
  for (int i = left; i <= right; ++i) {
    int smallest = i;
    for (int j = i + 1; j <= right; ++j)
      if (data[j] < data[smallest]) smallest = j;
    int value = data[i];
    data[i] = data[smallest];
    data[smallest] = value;
  }
}

__global__ void quicksort(int* data, int left, int right, int depth) {
  if (depth == kDeepest || right - left <= kSmall) {
    selection_sort(data, left, right);
    return;
  }
  int* low = data + left;
  int* high = data + right;
  int pivot = data[(left + right) / 2];
  while (low <= high) {
    while (*low < pivot) ++low;
    while (*high > pivot) --high;
    if (low <= high) {
      int value = *low;
      *low++ = *high;
      *high-- = value;
    }
  }
  int next_right = int(high - data), next_left = int(low - data);
  if (left < next_right) {
    cudaStream_t side;
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, side>>>(data, left, next_right, depth + 1);
    cudaStreamDestroy(side);
  }
  if (next_left < right) {
    cudaStream_t side;
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, side>>>(data, next_left, right, depth + 1);
    cudaStreamDestroy(side);
  }
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 3000;
  std::vector<int> values(n), sorted;
  std::mt19937 random(7);
  for (int& v : values) v = int(random() % 10000);
  sorted = values;
  std::sort(sorted.begin(), sorted.end());

  int* data;
  CHECK(cudaMalloc(&data, n * sizeof(int)));
  CHECK(cudaMemcpy(data, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  quicksort<<<1, 1>>>(data, 0, n - 1, 0);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(values.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(data));
  std::printf("%d values sorted on the device: %s\n", n, values == sorted ? "right" : "WRONG");
  return values == sorted ? 0 : 1;
}
