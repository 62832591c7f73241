// build: -std=c++17
// Thrust's vectors made of lists of items, as CCCL's are, and what they could be made of before.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/universal_vector.h>

#include <vector>

__global__ void twice(int* at) { at[threadIdx.x] *= 2; }

struct Pair {
  int a, b;
};

int main() {
  thrust::device_vector<int> v{5, 3, 1};
  if (v.size() != 3 || v[1] != 3) return 1;
  v = {1, 2, 3, 4};
  if (v.size() != 4 || thrust::reduce(v.begin(), v.end()) != 10) return 2;
  thrust::host_vector<float> h = {1.5f, 2.5f};
  const thrust::device_vector<float> d = h;
  h = d;
  if (h != d || h[1] != 2.5f) return 3;
  thrust::device_vector deduced{1.0, 2.0};
  const thrust::device_vector copy(deduced);
  static_assert(std::is_same_v<decltype(deduced), thrust::device_vector<double>>);
  if (copy != deduced) return 4;

  const std::vector<int> host{7, 8, 9};
  thrust::device_vector<int> from_host(host), sized(4), filled(4, 6), range(host.begin() + 1, host.end()), empty;
  thrust::device_vector<long long> wider(from_host);
  from_host = host;
  if (sized[3] != 0 || filled[3] != 6 || range.size() != 2 || range[0] != 8 || !empty.empty() || wider[2] != 9) return 5;
  empty = std::move(filled);
  swap(empty, sized);
  wider = v;
  if (sized.size() != 4 || wider.back() != 4 || !(sized == thrust::host_vector<int>(4, 6))) return 6;
  v.insert(v.begin(), 0);
  v.push_back(5);
  v.erase(v.begin() + 1);
  if (v != std::vector<int>{0, 2, 3, 4, 5}) return 7;

  thrust::universal_vector<int> u{1, 2, 3};
  u = {4, 5};
  twice<<<1, 2>>>(thrust::raw_pointer_cast(u.data()));
  if (cudaDeviceSynchronize() || u[0] != 8 || u[1] != 10) return 8;
  const thrust::device_vector<Pair> pairs{{1, 2}, {3, 4}};
  return static_cast<Pair>(pairs[1]).b == 4 ? 0 : 9;
}
