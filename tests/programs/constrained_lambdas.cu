// build: -std=c++20 --extended-lambda
// Templates of the host that ask whether a lambda of the device can be called, and with what result: as with nvcc it can.
#include <concepts>
#include <cstdio>
#include <ranges>
#include <span>
#include <type_traits>

__device__ int only_device(int x) { return __popc(x) + static_cast<int>(blockIdx.x); }

template <std::invocable<int> F>
__global__ void each(F f, int* out) {
  out[threadIdx.x] = f(static_cast<int>(threadIdx.x));
}

template <class F>
  requires std::is_invocable_v<F, int, float>
__global__ void each_scaled(F f, int* out) {
  out[threadIdx.x] = f(static_cast<int>(threadIdx.x), 2.5f);
}

template <class F>
concept Rule = requires(F f, int i) {
  { f(i) } -> std::convertible_to<int>;
};
void launch(Rule auto f, int* out) { each<<<1, 32>>>(f, out); }

template <class F, class = std::enable_if_t<std::is_invocable<F, int>::value>>
void launch_older(F f, int* out) {
  each<<<1, 32>>>(f, out);
}

int bad = 0;
template <class Want>
void check(const char* what, const int* out, Want want) {
  const cudaError_t status = cudaDeviceSynchronize();
  for (int k = 0; k < 32; ++k)
    if (status != cudaSuccess || out[k] != want(k)) {
      std::printf("%s: %s, [%d] is %d, not %d\n", what, cudaGetErrorString(status), k, out[k], want(k));
      ++bad;
      return;
    }
}

int main() {
  int* out;
  cudaMallocManaged(&out, 32 * sizeof(int));
  const int by = 3;
  each<<<1, 32>>>([=] __device__(int i) { return only_device(i) * by; }, out);
  check("constrained kernel", out, [](int k) { return __builtin_popcount(k) * 3; });
  each_scaled<<<1, 32>>>([] __device__(int i, float f) -> int { return i * f; }, out);
  check("requires clause", out, [](int k) { return static_cast<int>(k * 2.5f); });
  launch([=] __device__(int i) { return i - by; }, out);
  check("concept", out, [](int k) { return k - 3; });
  launch_older([=] __device__(int i) { return i ^ by; }, out);
  check("enable_if", out, [](int k) { return k ^ 3; });
  auto even = std::span<int>(out, 32) | std::views::filter([](int v) { return v % 2 == 0; });
  if (std::ranges::distance(even) != 16) ++bad;
  std::puts(bad ? "FAILED" : "PASSED");
  return bad != 0;
}
