// managed_matrix: the matrix sum once more, without a single copy: one pointer for both sides.
// Look at the synchronisation before the host reads; it is all that is left of the copies.
#include <cuda_runtime.h>

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

__global__ void add(const float* a, const float* b, float* c, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) c[y * width + x] = a[y * width + x] + b[y * width + x];
}

// A list whose links are ordinary pointers, built by the host and walked by a kernel.
struct Node {
  int value;
  Node* next;
};
__global__ void walk(const Node* head, int* sum) {
  for (const Node* node = head; node; node = node->next) *sum += node->value;
}

int main(int argc, char** argv) {
  const int width = argc > 1 ? std::atoi(argv[1]) : 512, height = argc > 2 ? std::atoi(argv[2]) : 300;
  const size_t bytes = (size_t)width * height * sizeof(float);
  float *a, *b, *c;
  CHECK(cudaMallocManaged(&a, bytes));
  CHECK(cudaMallocManaged(&b, bytes));
  CHECK(cudaMallocManaged(&c, bytes));
  for (int i = 0; i < width * height; ++i) a[i] = (float)i, b[i] = (float)(i % 17), c[i] = -1.0f;
  dim3 block(32, 16), grid((width + 31) / 32, (height + 15) / 16);
  add<<<grid, block>>>(a, b, c, width, height);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < width * height; ++i) wrong += c[i] != a[i] + b[i];

  Node* head = nullptr;
  int *sum, expected = 0;
  CHECK(cudaMallocManaged(&sum, sizeof(int)));
  *sum = 0;
  for (int i = 1; i <= 50; ++i) {
    Node* node;
    CHECK(cudaMallocManaged(&node, sizeof(Node)));
    *node = {i * i, head};
    head = node;
    expected += i * i;
  }
  walk<<<1, 1>>>(head, sum);
  CHECK(cudaDeviceSynchronize());
  std::printf("matrix: %d wrong; list: sum %d\n", wrong, *sum);
  wrong += *sum != expected;
  while (head) {
    Node* next = head->next;
    CHECK(cudaFree(head));
    head = next;
  }
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(c));
  CHECK(cudaFree(sum));
  std::printf("managed_matrix: %s\n", wrong ? "FAILED" : "one pointer, two processors");
  return wrong != 0;
}
