// Patterns of samples: counting, choosing, walking, tiles with halos, products of other sizes and types.
#include <cuda_fp16.h>

#include "pattern.h"

constexpr int kThreads = 256, kElements = 1 << 18, kBlocks = kElements / kThreads;

__device__ int place() { return blockIdx.x * kThreads + threadIdx.x; }

__global__ void count(const unsigned* in, unsigned* out) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = place(); i < kElements; i += gridDim.x * kThreads) atomicAdd(&bins[in[i] & 255], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
__global__ void count_by_warp(const unsigned* in, unsigned* out) {
  __shared__ unsigned bins[8][256];
  for (int k = threadIdx.x; k < 8 * 256; k += kThreads) (&bins[0][0])[k] = 0;
  __syncthreads();
  for (int i = place(); i < kElements; i += gridDim.x * kThreads) atomicAdd(&bins[threadIdx.x / 32][in[i] & 255], 1);
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < 8; ++w) sum += bins[w][threadIdx.x];
  atomicAdd(&out[threadIdx.x], sum);
}

__global__ void filter(const unsigned* in, unsigned* out, unsigned* count) {
  const unsigned v = in[place()];
  if (v & 1) out[atomicAdd(count, 1) % kElements] = v;
}
__global__ void filter_by_warp(const unsigned* in, unsigned* out, unsigned* count) {
  const unsigned v = in[place()];
  if (!(v & 1)) return;
  const unsigned mask = __activemask(), lane = threadIdx.x % 32, leader = __ffs(mask) - 1;
  unsigned base;
  if (lane == leader) base = atomicAdd(count, __popc(mask));
  out[(__shfl_sync(mask, base, leader) + __popc(mask & ((1u << lane) - 1))) % kElements] = v;
}
__global__ void count_equal(const unsigned* in, unsigned* out) { atomicAdd(&out[in[place()] & 7], 1); }
__global__ void count_matches(const unsigned* in, unsigned* out) {
  const unsigned v = in[place()] & 7, same = __match_any_sync(~0u, v);
  if (threadIdx.x % 32 == __ffs(same) - 1) atomicAdd(&out[v], __popc(same));
}

__global__ void list_of_length(const int* next, int* out, int steps) {
  int p = place(), sum = 0;
  for (int k = 0; k < steps; ++k, p = next[p]) sum += p;
  out[place()] = sum;
}
__global__ void list_to_its_end(const int* next, int* out, int steps) {
  int p = place(), sum = 0;
  for (int k = 0; p != -1 && k < steps; ++k, p = next[p]) sum += p;
  out[place()] = sum;
}

constexpr int kRadius = 4;
__constant__ float weights[2 * kRadius + 1];
__global__ void convolve(const float* in, float* out) {
  const int i = place();
  float sum = 0;
  for (int k = -kRadius; k <= kRadius; ++k)
    if (i + k >= 0 && i + k < kElements) sum += in[i + k] * weights[k + kRadius];
  out[i] = sum;
}
__global__ void convolve_tile(const float* in, float* out) {
  __shared__ float tile[kThreads + 2 * kRadius];
  const int i = place(), t = threadIdx.x;
  tile[t + kRadius] = in[i];
  if (t < kRadius) {
    tile[t] = i >= kRadius ? in[i - kRadius] : 0;
    tile[t + kThreads + kRadius] = i + kThreads < kElements ? in[i + kThreads] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = -kRadius; k <= kRadius; ++k) sum += tile[t + kRadius + k] * weights[k + kRadius];
  out[i] = sum;
}

__global__ void copy(const float* in, float* out, int width) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * width + x] = in[(y + j) * width + x];
}
__global__ void transpose(const float* in, float* out, int width) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <class T>
__global__ void product(const T* a, const T* b, T* c, int m, int n, int depth) {
  constexpr int kSide = 16;
  __shared__ T left[kSide][kSide], right[kSide][kSide];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * kSide + tx, y = blockIdx.y * kSide + ty;
  T sum = T(0);
  for (int t = 0; t < depth; t += kSide) {
    left[ty][tx] = y < m && t + tx < depth ? a[y * depth + t + tx] : T(0);
    right[ty][tx] = x < n && t + ty < depth ? b[(t + ty) * n + x] : T(0);
    __syncthreads();
    for (int k = 0; k < kSide; ++k) sum += left[ty][k] * right[k][tx];
    __syncthreads();
  }
  if (y < m && x < n) c[y * n + x] = sum;
}

__global__ void stencil(const float* in, float* out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x + 1, y = blockIdx.y * 8 + threadIdx.y + 1;
  for (int z = 1; z < n - 1; ++z) {
    const int i = (z * n + y) * n + x;
    out[i] = in[i] * 0.5f + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
  }
}
__global__ void stencil_planes(const float* in, float* out, int n) {
  __shared__ float plane[10][34];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  float below = in[y * n + x], here = in[(n + y) * n + x];
  for (int z = 1; z < n - 1; ++z) {
    const int i = (z * n + y) * n + x;
    const float above = in[i + n * n];
    __syncthreads();
    plane[ty][tx] = here;
    if (tx == 1) plane[ty][0] = in[i - 1];
    if (tx == 32) plane[ty][33] = in[i + 1];
    if (ty == 1) plane[0][tx] = in[i - n];
    if (ty == 8) plane[9][tx] = in[i + n];
    __syncthreads();
    out[i] = here * 0.5f + 0.1f * (plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + below + above);
    below = here;
    here = above;
  }
}

__global__ void program_of_sums(const unsigned* code, int length, const int* in, int* out) {
  int value = in[place()];
  for (int k = 0; k < length; ++k) value = value * 3 + code[k];
  out[place()] = value;
}
__global__ void program(const unsigned* code, int length, const int* in, int* out) {
  int value = in[place()], x = value;
  for (int k = 0; k < length; ++k) {
    const unsigned op = code[k];
    switch (op & 7) {
      case 0: value += x; break;
      case 1: value -= op >> 3; break;
      case 2: value *= 3; break;
      case 3: value ^= x; break;
      case 4: x = value; break;
      case 5: value >>= 1; break;
      case 6: value = max(value, x); break;
      case 7: value = abs(value); break;
    }
  }
  out[place()] = value;
}

template <class T>
pattern::Form product_of(int m, int n, int depth) {
  const T* in = array<T>(1 << 14);
  T* out = array<T>(1 << 14);
  return {double(m) * n * depth, [=] { product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(in, in, out, m, n, depth); }};
}

void rows() {
  std::vector<unsigned> any(kElements);
  unsigned x = 1;
  for (unsigned& v : any) v = (x = x * 1664525 + 1013904223) >> 8;
  unsigned* in = array<unsigned>(kElements);
  CHECK(cudaMemcpy(in, any.data(), kElements * sizeof(unsigned), cudaMemcpyHostToDevice));
  unsigned *out = array<unsigned>(kElements), *counts = array<unsigned>(256);
  row("histogram: a table for each warp", "element", {kElements, [=] { count_by_warp<<<64, kThreads>>>(in, out); }}, "one", {kElements, [=] { count<<<64, kThreads>>>(in, out); }});
  row("filter: a place for each warp's lanes", "element", {kElements, [=] { filter_by_warp<<<kBlocks, kThreads>>>(in, out, counts); }}, "for each lane", {kElements, [=] { filter<<<kBlocks, kThreads>>>(in, out, counts); }});
  row("counts: lanes that match", "element", {kElements, [=] { count_matches<<<kBlocks, kThreads>>>(in, counts); }}, "each lane", {kElements, [=] { count_equal<<<kBlocks, kThreads>>>(in, counts); }});
  const int* next = array<int>(kElements, 7, 61);
  int* sums = array<int>(kElements);
  row("list: to its end", "step", {kElements * 16., [=] { list_to_its_end<<<kBlocks, kThreads>>>(next, sums, 16); }}, "so many steps", {kElements * 16., [=] { list_of_length<<<kBlocks, kThreads>>>(next, sums, 16); }});
  const float* f = array<float>(1 << 20, 1, 0.25f);
  float* fo = array<float>(1 << 20);
  row("convolution: a tile with its halo", "element", {kElements, [=] { convolve_tile<<<kBlocks, kThreads>>>(f, fo); }}, "without", {kElements, [=] { convolve<<<kBlocks, kThreads>>>(f, fo); }});
  row("transpose: padded tiles", "element", {512 * 512, [=] { transpose<<<dim3(16, 16), dim3(32, 8)>>>(f, fo, 512); }}, "a copy", {512 * 512, [=] { copy<<<dim3(16, 16), dim3(32, 8)>>>(f, fo, 512); }});
  const pattern::Form even = product_of<float>(128, 128, 128);
  row("product: sizes of no multiples", "fma", product_of<float>(123, 117, 131), "of multiples", even);
  row("product: int", "fma", product_of<int>(128, 128, 128), "float", even);
  row("product: long long", "fma", product_of<long long>(128, 128, 128), "float", even);
  row("product: half", "fma", product_of<__half>(128, 128, 128), "float", even, 8);
  row("stencil 3D: planes in shared memory", "element", {64 * 56 * 32, [=] { stencil_planes<<<dim3(1, 7), dim3(32, 8)>>>(f, fo, 64); }}, "without", {64 * 56 * 32, [=] { stencil<<<dim3(1, 7), dim3(32, 8)>>>(f, fo, 64); }});
  row("interpreter: a switch", "instruction", {kElements * 64., [=] { program<<<kBlocks, kThreads>>>(in, 64, sums, sums); }}, "a loop of sums", {kElements * 64., [=] { program_of_sums<<<kBlocks, kThreads>>>(in, 64, sums, sums); }});
}
