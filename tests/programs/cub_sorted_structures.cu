// nvcc: no
// What newer versions of CUB have for a thread's own items and for keys that are structures: ThreadReduce, and radix sorts whose
// key's members a function names, the most significant first.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <cuda/std/tuple>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

static int wrong = 0;
static void expect(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++wrong;
}

struct Particle {
  short cell;
  float energy;
  int name;
};
struct ByCellAndEnergy {
  __host__ __device__ ::cuda::std::tuple<short&, float&> operator()(Particle& p) const { return {p.cell, p.energy}; }
};

__global__ void sums(const int* in, int* out) {
  int items[4];
  for (int k = 0; k < 4; ++k) items[k] = in[4 * threadIdx.x + k];
  out[2 * threadIdx.x] = cub::ThreadReduce(items, cub::Sum());
  out[2 * threadIdx.x + 1] = cub::ThreadReduce(items, cub::Max(), 40);
}

template <class F>
void in_two_steps(F algorithm) {
  size_t bytes = 0;
  CHECK(algorithm(nullptr, bytes));
  void* storage;
  CHECK(cudaMalloc(&storage, bytes ? bytes : 1));
  CHECK(algorithm(storage, bytes));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(storage));
}

int main() {
  constexpr int n = 3001;
  Particle *in, *out;
  int *values, *sorted;
  CHECK(cudaMallocManaged(&in, n * sizeof(Particle)));
  CHECK(cudaMallocManaged(&out, n * sizeof(Particle)));
  CHECK(cudaMallocManaged(&values, n * sizeof(int)));
  CHECK(cudaMallocManaged(&sorted, n * sizeof(int)));
  for (int i = 0; i < n; ++i) {
    in[i] = {static_cast<short>(i * 7919 % 11 - 5), (i * 104729 % 1009) * 0.5f - 250, i};
    values[i] = i;
  }
  const auto less = [](const Particle& a, const Particle& b) { return a.cell != b.cell ? a.cell < b.cell : a.energy < b.energy; };
  const auto same = [&](const std::vector<Particle>& expected, const Particle* got) {
    return std::equal(expected.begin(), expected.end(), got, [](const Particle& a, const Particle& b) { return a.name == b.name; });
  };
  std::vector<Particle> up(in, in + n), down(in, in + n);
  std::stable_sort(up.begin(), up.end(), less);
  std::stable_sort(down.begin(), down.end(), [&](const Particle& a, const Particle& b) { return less(b, a); });

  in_two_steps([&](void* t, size_t& b) { return cub::DeviceRadixSort::SortKeys(t, b, in, out, n, ByCellAndEnergy{}); });
  expect(same(up, out), "SortKeys");
  in_two_steps([&](void* t, size_t& b) { return cub::DeviceRadixSort::SortKeysDescending(t, b, in, out, n, ByCellAndEnergy{}); });
  expect(same(down, out), "SortKeysDescending");
  in_two_steps([&](void* t, size_t& b) { return cub::DeviceRadixSort::SortPairs(t, b, in, out, values, sorted, n, ByCellAndEnergy{}); });
  bool right = same(up, out);
  for (int i = 0; i < n; ++i) right &= sorted[i] == up[i].name;
  expect(right, "SortPairs");
  // The lower 32 bits are the energy's.
  in_two_steps([&](void* t, size_t& b) { return cub::DeviceRadixSort::SortKeys(t, b, in, out, n, ByCellAndEnergy{}, 0, 32); });
  std::vector<Particle> by_energy(in, in + n);
  std::stable_sort(by_energy.begin(), by_energy.end(), [](const Particle& a, const Particle& b) { return a.energy < b.energy; });
  expect(same(by_energy, out), "SortKeys of some bits");

  sums<<<1, 64>>>(values, sorted);
  CHECK(cudaDeviceSynchronize());
  right = true;
  for (int i = 0; i < 64; ++i) right &= sorted[2 * i] == 16 * i + 6 && sorted[2 * i + 1] == std::max(40, 4 * i + 3);
  expect(right, "ThreadReduce");
  std::printf(wrong ? "FAILED\n" : "PASSED\n");
  return wrong != 0;
}
