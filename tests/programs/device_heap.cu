// malloc, free, new, delete, memcpy and memset in kernels; blocks that share one allocation; a too large request; what is aligned
// to more than malloc's 16 bytes.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

#define NUM_BLOCKS 12
#define THREADS 64

__device__ int* dataptr[NUM_BLOCKS];

__global__ void allocmem() {
  if (threadIdx.x == 0) dataptr[blockIdx.x] = (int*)malloc(blockDim.x * 4 * sizeof(int));
  __syncthreads();
  if (dataptr[blockIdx.x] == NULL) return;
  dataptr[blockIdx.x][threadIdx.x] = 0;
}
__global__ void usemem() {
  int* ptr = dataptr[blockIdx.x];
  if (ptr != NULL) ptr[threadIdx.x] += threadIdx.x + blockIdx.x;
}
__global__ void freemem(int* out) {
  int* ptr = dataptr[blockIdx.x];
  if (ptr != NULL) out[blockIdx.x * blockDim.x + threadIdx.x] = ptr[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) free(ptr);
}

struct Link {
  int value;
  Link* next;
  __device__ Link(int v, Link* n) : value(v), next(n) {}
};

__global__ void lists(int* sums, int* aligned) {
  Link* head = nullptr;
  for (int i = 0; i <= threadIdx.x % 10; i++) head = new Link(i + 1, head);
  int sum = 0;
  while (head) {
    sum += head->value;
    Link* next = head->next;
    delete head;
    head = next;
  }
  int* array = new int[20];
  memset(array, 0xff, 20 * sizeof(int));
  int source[20];
  for (int i = 0; i < 20; i++) source[i] = i * threadIdx.x;
  memcpy(array + 1, source, 19 * sizeof(int));
  sums[threadIdx.x] = sum * 100000 + array[19] * 10 + (array[0] == -1);
  delete[] array;
  void* p = malloc(24);
  aligned[threadIdx.x] = p != nullptr && (size_t)p % 16 == 0;
  free(p);
  free(nullptr);
}

struct Base {
  __device__ virtual ~Base() {}
  __device__ virtual int value() { return 1; }
};
struct alignas(64) Wide : Base {
  int at[3] = {5, 6, 7};
  __device__ int value() override { return at[threadIdx.x % 3] + (int)((size_t)this % 64); }
};

__global__ void wide(int* out) {
  Base* one = new Wide;
  Wide* several = new Wide[3];
  void* page = __nv_aligned_device_malloc(100, 4096);
  out[threadIdx.x] = one->value() * 100 + several[2].value() + (page ? (int)((size_t)page % 4096) : 1);
  delete one;
  delete[] several;
  free(page);
  if (__nv_aligned_device_malloc(16, 24)) out[threadIdx.x] = -1;
}

__global__ void too_much(int* result) {
  void* p = malloc((size_t)1 << 40);
  *result = p == nullptr ? 1 : 2;
  free(p);
}

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 * 1024 * 1024));
  size_t heap = 0;
  CHECK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
  int out[NUM_BLOCKS * THREADS], *d_out, bad = heap < 16 * 1024 * 1024;
  CHECK(cudaMalloc(&d_out, sizeof out));
  allocmem<<<NUM_BLOCKS, THREADS>>>();
  for (int i = 0; i < 3; i++) usemem<<<NUM_BLOCKS, THREADS>>>();
  freemem<<<NUM_BLOCKS, THREADS>>>(d_out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  for (int b = 0; b < NUM_BLOCKS; b++)
    for (int t = 0; t < THREADS; t++) bad += out[b * THREADS + t] != 3 * (t + b);
  lists<<<1, THREADS>>>(d_out, d_out + THREADS);
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  for (int t = 0; t < THREADS; t++) {
    int k = t % 10 + 1;
    bad += out[t] != k * (k + 1) / 2 * 100000 + 18 * t * 10 + 1 || out[THREADS + t] != 1;
  }
  for (int again = 0; again < 3; again++) wide<<<1, THREADS>>>(d_out);
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  for (int t = 0; t < THREADS; t++) bad += out[t] != (5 + t % 3) * 101;
  too_much<<<1, 1>>>(d_out);
  CHECK(cudaMemcpy(out, d_out, sizeof(int), cudaMemcpyDeviceToHost));
  bad += out[0] != 1;
  printf("device_heap: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}
