// Structures passed by value.
#include "pattern.h"

struct Layout {  // of a tensor
  int sizes[8], strides[8];
  int dimensions;
};

__device__ int offset_of(const Layout& l, int i) {
  int offset = 0;
  for (int d = l.dimensions - 1; d > 0; --d) {
    const int rest = i / l.sizes[d];
    offset += (i - rest * l.sizes[d]) * l.strides[d];
    i = rest;
  }
  return offset + i * l.strides[0];
}

__global__ void add_indexed(const float* a, float* out, Layout la, Layout lo, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[offset_of(lo, i)] = a[offset_of(la, i)] + 1;
}

struct Two {
  int size, stride, outer;
};
__global__ void add_two(const float* a, float* out, Two la, Two lo, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int ra = i / la.size, ro = i / lo.size;
    out[ro * lo.outer + (i - ro * lo.size) * lo.stride] = a[ra * la.outer + (i - ra * la.size) * la.stride] + 1;
  }
}

struct Pointers {
  float* p[16];
};
__global__ void pick_pointer(Pointers all, const int* which, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) all.p[which[blockIdx.x]][i] = i;
}
__global__ void one_pointer(float* p, const int* which, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i + which[blockIdx.x];
}

__global__ void few_bytes(float* p, int n) {
  if (n < 0) p[n] = 1;
}
__global__ void many_bytes(Layout l, Layout m, float* p) {
  if (l.sizes[l.dimensions] < 0) p[m.dimensions] = 1;
}

void rows() {
  constexpr int n = 1 << 18;
  const float* a = array<float>(n);
  float* out = array<float>(n);
  Layout l{{512, 512}, {512, 1}, 2};
  const pattern::Form indexed{n, [=] { add_indexed<<<256, 256>>>(a, out, l, l, n); }};
  const pattern::Form two{n, [=] { add_two<<<256, 256>>>(a, out, Two{512, 1, 512}, Two{512, 1, 512}, n); }};
  row("structure by value, indexed in a loop", "element", indexed, "its members by name", two);
  const int* which = array<int>(n / 256, 3);
  Pointers all;
  for (float*& p : all.p) p = out;
  row("pointer from an array in a structure", "element", {n, [=] { pick_pointer<<<n / 256, 256>>>(all, which, n); }}, "the pointer", {n, [=] { one_pointer<<<n / 256, 256>>>(out, which, n); }});
  row("launch with a structure", "launch", {1, [=] { many_bytes<<<1, 32>>>(l, l, out); }}, "with numbers", {1, [=] { few_bytes<<<1, 32>>>(out, 1); }});
}
