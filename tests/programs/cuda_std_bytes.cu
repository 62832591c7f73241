// build: -std=c++20
// The bytes of a cuda::std::span and letters of a string_view in kernels, and times to wait that <cuda/barrier> and <cuda/semaphore> bring along.
#include <cuda/barrier>
#include <cuda/semaphore>
#include <cuda/std/span>
#include <cuda/std/string_view>

#include <cstdio>

__global__ void xor_bytes(cuda::std::span<unsigned> words, unsigned char* out) {
  unsigned char all = 0;
  for (const auto b : cuda::std::as_bytes(words)) all ^= static_cast<unsigned char>(b);
  cuda::std::as_writable_bytes(words.first<1>())[3] = cuda::std::byte{0x7f};
  static_assert(decltype(cuda::std::as_bytes(words.first<2>()))::extent == 8);
  const cuda::std::string_view text("hello, world");
  *out = text.find("wor") == 7 && text.find('o') == 4 && text.find('x') == text.npos && text.rfind('o') == 8 ? all : 0;
}

__global__ void waits(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  if (threadIdx.x == 0) init(&all, blockDim.x);
  __syncthreads();
  auto token = all.arrive();
  int tries = 1;
  while (!all.try_wait_for(std::move(token), cuda::std::chrono::microseconds(50))) ++tries;
  if (tries > 0) atomicAdd(out, 1);
}

int main() {
  unsigned* words;
  unsigned char* sum;
  int* through;
  cudaMallocManaged(&words, 2 * sizeof *words);
  cudaMallocManaged(&sum, 1);
  cudaMallocManaged(&through, sizeof *through);
  words[0] = 0x01020408, words[1] = 0x10204080;
  *through = 0;
  xor_bytes<<<1, 1>>>({words, 2}, sum);
  waits<<<1, 64>>>(through);
  const bool right = cudaDeviceSynchronize() == cudaSuccess && *sum == 0xff && words[0] == 0x7f020408 && *through == 64;
  std::puts(right ? "PASSED" : "FAILED");
  return !right;
}
