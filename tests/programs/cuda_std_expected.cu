// cuda::std::expected: values, errors, what is thrown on the host where there is no value.
#include <cuda/std/expected>

#include <cstdio>

__host__ __device__ cuda::std::expected<int, char> half(int x) {
  if (x % 2) return cuda::std::unexpected<char>('o');
  return x / 2;
}

__global__ void kernel(int* out) {
  const auto good = half(8), bad = half(7);
  *out = good.value() * 100 + bad.value_or(5) + (bad.error() == 'o' ? 1000 : 0);
}

int main() {
  int* out;
  cudaMallocManaged(&out, sizeof(int));
  kernel<<<1, 1>>>(out);
  bool right = cudaDeviceSynchronize() == cudaSuccess && *out == 1405 && half(6).value() == 3;
  char caught = 0;
  try {
    auto bad = half(3);
    bad.value() = 1;
  } catch (const cuda::std::bad_expected_access<char>& error) {
    caught = error.error();
  }
  right &= caught == 'o';
  try {
    const auto bad = half(3);
    right &= bad.value() == 77;
  } catch (const cuda::std::bad_expected_access<void>&) {
    caught = 'v';
  }
  right &= caught == 'v';
  cudaFree(out);
  std::printf(right ? "PASSED\n" : "FAILED\n");
  return !right;
}
