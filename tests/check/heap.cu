// The kernel's own heap: malloc, free, new and delete in device code. An argument picks the case.
#include "cases.h"

__global__ void overrun(int n) {
  int* p = (int*)malloc(n * sizeof(int));
  for (int k = 0; k <= n; ++k) p[k] = k;  // expect overrun out_of_bounds
  free(p);
}
__global__ void underrun(int n) {
  int* p = (int*)malloc(n * sizeof(int));
  for (int k = n - 1; k >= -1; --k) p[k] = k;  // expect underrun out_of_bounds
  free(p);
}
__global__ void new_array(int n, int* out) {
  char* text = new char[n];
  for (int k = 0; k < n; ++k) text[k] = 'a';
  text[n] = 0;  // expect terminator out_of_bounds
  out[threadIdx.x] = text[threadIdx.x];
  delete[] text;
}
__global__ void used_after(int* out) {
  int* p = (int*)malloc(64);
  p[3] = 5;
  free(p);
  out[threadIdx.x] = p[3];  // expect used_after_free use_after_free
}
__global__ void twice(int* out) {
  int* p = new int[4];
  p[0] = 1;
  out[threadIdx.x] = p[0];
  delete[] p;
  if (out[threadIdx.x]) delete[] p;  // expect deleted_twice double_free
}
__global__ void middle(int* out) {
  int* p = (int*)malloc(64);
  p[1] = 1;
  out[threadIdx.x] = p[1];
  free(p + 1);  // expect freed_middle invalid_free
}
__global__ void not_from_heap(int* p) {
  if (threadIdx.x == 0) free(p);  // expect freed_global invalid_free
}
__global__ void no_value(int* out) {
  int* p = (int*)malloc(16 * sizeof(int));
  for (int k = 1; k < 16; ++k) p[k] = k;
  int sum = 0;
  for (int k = 0; k < 16; ++k) sum += p[(k + threadIdx.x) & 15];  // expect heap_no_value uninitialized_read
  out[threadIdx.x] = sum;
  free(p);
}
__global__ void unchecked(int* out) {
  int* p = (int*)malloc(size_t(1) << 40);
  for (int k = 0; k < 10; ++k) p[(k + out[0]) % 10] = k;  // expect heap_exhausted null_pointer
  out[threadIdx.x] = p[out[1]];
}
__global__ void checked(int* out) {
  int* p = (int*)malloc(size_t(1) << 40);
  out[threadIdx.x] = p == nullptr;
}
struct Node {
  int value;
  Node* next;
};
__device__ Node* head;
__global__ void build(int n) {
  head = nullptr;
  for (int k = 0; k < n; ++k) head = new Node{k, head};
}
__global__ void sum(int* out) {
  int total = 0;
  for (Node* n = head; n; n = n->next) total += n->value;
  *out = total;
}
__global__ void destroy() {
  while (Node* n = head) {
    head = n->next;
    delete n;
  }
}
__global__ void destroy_badly() {
  for (Node* n = head; n; n = n->next) delete n;  // expect list_deleted_badly use_after_free
}
__global__ void block_buffer(int* out, bool sync) {
  __shared__ int* p;
  if (threadIdx.x == 0) p = (int*)malloc(blockDim.x * sizeof(int));
  __syncthreads();
  p[threadIdx.x] = threadIdx.x;
  if (sync) __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = p[blockDim.x - 1 - threadIdx.x];  // expect block_buffer_unsynced race_war
  __syncthreads();
  if (threadIdx.x == 0) free(p);
}
__global__ void freed_early(int* out) {
  __shared__ int* p;
  if (threadIdx.x == 0) {
    p = (int*)malloc(blockDim.x * sizeof(int));
    for (int k = 0; k < blockDim.x; ++k) p[k] = k;
  }
  __syncthreads();
  if (threadIdx.x == 0) free(p);
  out[threadIdx.x] = p[threadIdx.x];  // expect freed_before_others_read use_after_free; expect freed_before_others_read race_war
}
__global__ void one_each(int* out) {
  int* p = (int*)malloc(5 * sizeof(int));
  for (int k = 0; k < 5; ++k) p[k] = threadIdx.x + k;
  int s = 0;
  for (int k = 0; k < 5; ++k) s += p[(k + threadIdx.x) % 5];
  out[threadIdx.x] = s;
  free(p);
}
__global__ void forgets(int* out) {
  int* p = (int*)malloc(64);  // expect heap_leak leak
  p[2] = threadIdx.x;
  out[threadIdx.x] = p[2];
  if (threadIdx.x) free(p);
}
struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
  float r;
  __device__ Disc(float r) : r(r) {}
  __device__ float area() const override { return 3.14f * r * r; }
};
__global__ void shapes(float* out) {
  Shape* s = threadIdx.x & 1 ? (Shape*)new Square(threadIdx.x) : (Shape*)new Disc(threadIdx.x);
  out[threadIdx.x] = s->area();
  delete s;
}
__global__ void neighbours(int* out) {
  int* a = (int*)malloc(16);
  int* b = (int*)malloc(16);
  for (int k = 0; k < 4; ++k) a[k] = 1, b[k] = 2;
  int s = 0;
  for (int k = 0; k < 5; ++k) s += a[k + (threadIdx.x & 0)];  // expect into_next_chunk out_of_bounds
  out[threadIdx.x] = s + b[0];
  free(a);
  free(b);
}

struct Out {
  int* p;
  Out() {
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
  }
  ~Out() {
    cudaDeviceSynchronize();
    cudaFree(p);
  }
};
CASE(overrun) { overrun<<<1, 1>>>(10); cudaDeviceSynchronize(); }
CASE(underrun) { underrun<<<1, 1>>>(10); cudaDeviceSynchronize(); }
CASE(terminator) { Out o; new_array<<<1, 1>>>(16, o.p); }
CASE(used_after_free) { Out o; used_after<<<1, 1>>>(o.p); }
CASE(deleted_twice) { Out o; twice<<<1, 1>>>(o.p); }
CASE(freed_middle) { Out o; middle<<<1, 1>>>(o.p); }
CASE(freed_global) { Out o; not_from_heap<<<1, 32>>>(o.p); }
CASE(heap_no_value) { Out o; no_value<<<1, 4>>>(o.p); }
CASE(heap_exhausted) { Out o; unchecked<<<1, 1>>>(o.p); }
CASE(heap_exhausted_seen) { Out o; checked<<<1, 32>>>(o.p); }
CASE(list_over_kernels) { Out o; build<<<1, 1>>>(20); sum<<<1, 1>>>(o.p); destroy<<<1, 1>>>(); }
CASE(list_deleted_badly) { build<<<1, 1>>>(20); destroy_badly<<<1, 1>>>(); cudaDeviceSynchronize(); }
CASE(block_buffer) { Out o; block_buffer<<<4, 64>>>(o.p, true); }
CASE(block_buffer_unsynced) { Out o; block_buffer<<<1, 64>>>(o.p, false); }
CASE(freed_before_others_read) { Out o; freed_early<<<1, 64>>>(o.p); }
CASE(one_each) { Out o; one_each<<<2, 64>>>(o.p); one_each<<<2, 64>>>(o.p); }
CASE(heap_leak) { Out o; forgets<<<1, 32>>>(o.p); }
// What the host has made leads to functions of the host.
struct Width {
  int bits = 8;
  __host__ __device__ virtual int bytes() const { return bits / 8; }
};
__global__ void width_of(const Width* width, int* out) { *out = width->bytes(); }  // expect virtual_of_host host_pointer
CASE(virtual_of_host) {
  const Width width;
  Width* copy;
  Out o;
  cudaMalloc(&copy, sizeof width);
  cudaMemcpy(copy, &width, sizeof width, cudaMemcpyHostToDevice);
  width_of<<<1, 1>>>(copy, o.p);
  cudaDeviceSynchronize();
  cudaFree(copy);
}
CASE(virtual_shapes) { Out o; shapes<<<1, 64>>>((float*)o.p); }
CASE(into_next_chunk) { Out o; neighbours<<<1, 2>>>(o.p); }
