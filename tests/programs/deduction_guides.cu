// Deduction guides in device code: a program's own, those of the standard library and of cuda::std.
#include <array>
#include <cstdio>
#include <cuda/std/array>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>

template <class... F>
struct overloaded : F... {
  using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

namespace shapes {
template <class T>
struct Box {
  T side;
  template <class U>
  __host__ __device__ Box(U s) : side(static_cast<T>(s)) {}
};
template <class U>
Box(U) -> Box<U>;
struct Unit {
  __host__ __device__ operator float() const { return 1.5f; }
};
Box(Unit) -> Box<float>;
}  // namespace shapes

template <class T>
__host__ __device__ int both(T x) {
  shapes::Box box(x);
  overloaded kind{[](int) { return 1; }, [](float) { return 2; }};
  return static_cast<int>(box.side) * 10 + kind(box.side);
}
__device__ int only_device(int x) {
  overloaded twice{[](int v) { return 2 * v; }, [](const char*) { return 0; }};
  return twice(x);
}

__global__ void deduce(int* out) {
  shapes::Box one(shapes::Unit{});
  out[0] = static_cast<int>(one.side * 2);
  out[1] = both(4) + both(2.5f);
  out[2] = only_device(21);
  cuda::std::array three{1, 2, 3};
  std::array two{8.0, 9.0};
  out[3] = three[2] + static_cast<int>(two[1]);
  cuda::std::span all(out, 4);
  out[4] = static_cast<int>(all.size());
  cuda::std::tuple mixed(7, 2.5f);
  cuda::std::pair couple(1, 'a');
  out[5] = cuda::std::get<0>(mixed) + couple.first;
}

int main() {
  int* out;
  cudaMallocManaged(&out, 6 * sizeof(int));
  deduce<<<1, 1>>>(out);
  const cudaError_t status = cudaDeviceSynchronize();
  const int want[] = {3, 41 + 22, 42, 12, 4, 8};
  int bad = status != cudaSuccess;
  for (int i = 0; i < 6; ++i)
    if (out[i] != want[i]) std::printf("[%d] is %d, not %d\n", i, out[i], want[i]), ++bad;
  if (both(4) + both(2.5f) != 63) ++bad;
  std::puts(bad ? "FAILED" : "PASSED");
  return bad != 0;
}
