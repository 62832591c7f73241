// What a warp's lanes have of their own: bytes, rows that are no power of two, arrays, functions, memory of the heap.
#include "pattern.h"

__device__ size_t me() { return size_t(blockIdx.x) * blockDim.x + threadIdx.x; }

__global__ void bytes_each(const unsigned char* in, unsigned char* out) {
  for (int k = 0; k < 16; ++k) out[me() * 16 + k] = in[me() * 16 + k] ^ 0x5a;
}
__global__ void byte_each(const unsigned char* in, unsigned char* out) { out[me()] = in[me()] ^ 0x5a; }
__global__ void hash_bytes(const unsigned char* in, unsigned* out) {
  unsigned sum = 0;
  for (int k = 0; k < 16; ++k) sum = sum * 31 + in[me() * 16 + k];
  out[me()] = sum;
}
__global__ void hash_words(const uint4* in, unsigned* out) {
  const uint4 all = in[me()];
  const unsigned words[4] = {all.x, all.y, all.z, all.w};
  unsigned sum = 0;
  for (int k = 0; k < 16; ++k) sum = sum * 31 + (words[k / 4] >> k % 4 * 8 & 255);
  out[me()] = sum;
}

template <int kSide>
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float left[kSide][kSide], right[kSide][kSide];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * kSide + tx, y = blockIdx.y * kSide + ty;
  float sum = 0;
  for (int t = 0; t < n; t += kSide) {
    left[ty][tx] = a[y * n + t + tx];
    right[ty][tx] = b[(t + ty) * n + x];
    __syncthreads();
    for (int k = 0; k < kSide; ++k) sum += left[ty][k] * right[k][tx];
    __syncthreads();
  }
  c[y * n + x] = sum;
}
__global__ void picture(const float* in, float* out, int n) {
  const int i = (blockIdx.y * blockDim.y + threadIdx.y) * n + blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 2 + 1;
}

__global__ void reversed(const int* in, int* out, int count) {
  int own[64], sum = 0;
  for (int k = 0; k < count; ++k) own[k] = in[(me() + k) & 0xffff];
  for (int k = count; k > 0; --k) sum = sum * 3 + own[k - 1];
  out[me()] = sum;
}
__global__ void read_backwards(const int* in, int* out, int count) {
  int sum = 0;
  for (int k = count; k > 0; --k) sum = sum * 3 + in[(me() + k - 1) & 0xffff];
  out[me()] = sum;
}

using Function = float (*)(float);
__device__ float twice(float x) { return x * 2 + 1; }
__device__ float squared(float x) { return x * x; }
__device__ float less(float x) { return x - 3; }
__device__ float half(float x) { return x * 0.5f; }
__device__ Function functions[4] = {twice, squared, less, half};
__global__ void call_each(const float* in, float* out) { out[me()] = functions[me() & 3](in[me()]); }
__global__ void choose_each(const float* in, float* out) {
  const float x = in[me()];
  float y;
  switch (me() & 3) {
    case 0: y = twice(x); break;
    case 1: y = squared(x); break;
    case 2: y = less(x); break;
    default: y = half(x);
  }
  out[me()] = y;
}

__host__ __device__ float of_heap(float x) {
  float* own = new float[4];
#ifndef __CUDA_ARCH__
  asm volatile("" : : "r"(own) : "memory");  // else the host's compiler leaves it out
#endif
  for (int k = 0; k < 4; ++k) own[k] = x + k;
  const float result = own[0] + own[1] * own[2] + own[3];
  delete[] own;
  return result;
}
__global__ void heap_each(const float* in, float* out) { out[me()] = of_heap(in[me()]); }

void rows() {
  constexpr int n = 1 << 16, kSide = 320;
  const unsigned char* bytes = array<unsigned char>(n * 16, 1, 7);
  unsigned char* bytes_out = array<unsigned char>(n * 16);
  unsigned* words = array<unsigned>(n);
  const float* in = array<float>(kSide * kSide, 1, 0.25f);
  float* out = array<float>(kSide * kSide);
  const int* ints = array<int>(n, 1, 5);
  int* ints_out = array<int>(n);
  const pattern::Form byte{n * 16., [=] { byte_each<<<n / 16, 256>>>(bytes, bytes_out); }};
  row("bytes, 16 a thread", "byte", {n * 16., [=] { bytes_each<<<n / 256, 256>>>(bytes, bytes_out); }}, "one a thread", byte);
  row("bytes, 16 a thread: a hash", "thread", {n, [=] { hash_bytes<<<n / 256, 256>>>(bytes, words); }}, "16 at once", {n, [=] { hash_words<<<n / 256, 256>>>(reinterpret_cast<const uint4*>(bytes), words); }});

  constexpr double kProducts = double(kSide) * kSide * kSide, kPixels = kSide * kSide;
  const dim3 tens(10, 10), tens_grid(kSide / 10, kSide / 10), square(16, 16), grid(kSide / 16, kSide / 16);
  row("matrix product: tiles of 10 by 10", "product", {kProducts, [=] { product<10><<<tens_grid, tens>>>(in, in, out, kSide); }}, "of 16 by 16", {kProducts, [=] { product<16><<<grid, square>>>(in, in, out, kSide); }});
  row("blocks of 10 by 10", "thread", {kPixels, [=] { picture<<<tens_grid, tens>>>(in, out, kSide); }}, "of 16 by 16", {kPixels, [=] { picture<<<grid, square>>>(in, out, kSide); }});

  row("array of a thread's own, one index for all", "element", {n * 48., [=] { reversed<<<n / 256, 256>>>(ints, ints_out, 48); }}, "without it", {n * 48., [=] { read_backwards<<<n / 256, 256>>>(ints, ints_out, 48); }});
  row("function pointers, another in each lane", "call", {n, [=] { call_each<<<n / 256, 256>>>(in, out); }}, "a switch", {n, [=] { choose_each<<<n / 256, 256>>>(in, out); }});
  row("new and delete", "thread", {n, [=] { heap_each<<<n / 256, 256>>>(in, out); }}, "the host's", {n, [=] {
        static std::vector<float> results(n, 1.5f);
        for (float& x : results) x = of_heap(x * 1e-3f);
      }}, 5);
}
