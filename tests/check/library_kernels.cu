// What kernels of CUB and Thrust do within their shared memory is no mistake: merges look at the element behind the end of a run,
// and one place takes the runs that are dropped. What they are given is looked at as ever.
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <thrust/device_vector.h>
#include <thrust/merge.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include "cases.h"

struct Pair {
  int key;
  float value;
};
struct ByKey {
  __host__ __device__ bool operator()(const Pair& a, const Pair& b) const { return a.key < b.key; }
};

CASE(sorted_by_comparison) {
  std::vector<Pair> pairs(10007);
  for (int i = 0; i < 10007; ++i) pairs[i] = {i * 7919 % 1009, float(i)};
  thrust::device_vector<Pair> sorted(pairs.begin(), pairs.end());
  thrust::sort(sorted.begin(), sorted.end(), ByKey());
  thrust::device_vector<int> order(10007);
  thrust::sequence(order.begin(), order.end());
  thrust::stable_sort_by_key(sorted.begin(), sorted.end(), order.begin(), ByKey());
}
CASE(merged_and_intersected) {
  thrust::device_vector<int> a(3001), b(2003), both(5004);
  thrust::sequence(a.begin(), a.end());
  thrust::sequence(b.begin(), b.end(), 5, 3);
  thrust::merge(a.begin(), a.end(), b.begin(), b.end(), both.begin());
  thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), both.begin());
}
CASE(lengths_of_runs) {
  thrust::device_vector<int> values(3000), offsets(3000), lengths(3000), count(1);
  std::vector<int> sevens(3000);
  for (int i = 0; i < 3000; ++i) sevens[i] = i / 7;
  values = sevens;
  size_t bytes = 0;
  const auto encode = [&](void* storage) {
    cub::DeviceRunLengthEncode::NonTrivialRuns(storage, bytes, values.data(), offsets.data(), lengths.data(), count.data(), 3000);
  };
  encode(nullptr);
  thrust::device_vector<char> storage(bytes);
  encode(thrust::raw_pointer_cast(storage.data()));
  cudaDeviceSynchronize();
}

// In kernels of the program's, too, a merge looks at the element behind a run's end. What the kernel itself reads it must have stored.
__global__ void sorts_by_warps(int* out, int* sum) {
  __shared__ cub::WarpMergeSort<int, 4, 32>::TempStorage room;
  __shared__ int totals[33];
  int keys[4] = {int(threadIdx.x * 7 % 31), int(threadIdx.x * 5 % 29), 3, -int(threadIdx.x)};
  cub::WarpMergeSort<int, 4, 32>(room).Sort(keys, [](int a, int b) { return a < b; });
  for (int k = 0; k < 4; ++k) out[4 * threadIdx.x + k] = keys[k];
  totals[threadIdx.x] = keys[0];
  __syncwarp();
  sum[threadIdx.x] = totals[threadIdx.x + (sum[threadIdx.x] == 0)];  // expect sorted_and_past_the_end uninitialized_read
}
static void sort_by_warps(bool past_the_end) {
  int *out, *sum;
  cudaMalloc(&out, 128 * sizeof(int));
  cudaMalloc(&sum, 32 * sizeof(int));
  cudaMemset(sum, past_the_end ? 0 : 1, 32 * sizeof(int));
  sorts_by_warps<<<1, 32>>>(out, sum);
  cudaDeviceSynchronize();
  cudaFree(out);
  cudaFree(sum);
}
CASE(sorted_by_warps) { sort_by_warps(false); }
CASE(sorted_and_past_the_end) { sort_by_warps(true); }
