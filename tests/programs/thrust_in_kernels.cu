// needs: /usr/include/thrust/version.h
// build: --extended-lambda
// Thrust called by kernels: each thread runs the algorithm alone, with thrust::seq and with thrust::device.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <cstdio>

constexpr int kItems = 64, kThreads = 4, kResults = 4;

template <class Policy>
__global__ void work(Policy policy, int* items, int* results) {
  int* mine = items + threadIdx.x * kItems;
  int* result = results + threadIdx.x * kResults;
  thrust::sequence(policy, mine, mine + kItems);
  thrust::transform(policy, mine, mine + kItems, mine, [] __device__(int x) { return x * 37 % kItems; });
  thrust::sort(policy, mine, mine + kItems);
  result[0] = mine[5];
  result[1] = thrust::reduce(policy, mine, mine + kItems);
  thrust::inclusive_scan(policy, mine, mine + kItems, mine);
  result[2] = mine[10];
  result[3] = *thrust::max_element(policy, mine, mine + kItems);
}

template <class Policy>
bool right(Policy policy) {
  thrust::device_vector<int> items(kItems * kThreads), results(kResults * kThreads);
  work<<<1, kThreads>>>(policy, thrust::raw_pointer_cast(items.data()), thrust::raw_pointer_cast(results.data()));
  if (cudaDeviceSynchronize() != cudaSuccess) return false;
  const int expected[kResults] = {5, 2016, 55, 2016};
  for (int i = 0; i < kResults * kThreads; ++i)
    if (results[i] != expected[i % kResults]) return false;
  return true;
}

int main() {
  const bool sequential = right(thrust::seq), device = right(thrust::device);
  printf("seq %s, device %s\n", sequential ? "right" : "wrong", device ? "right" : "wrong");
  return sequential && device ? 0 : 1;
}
