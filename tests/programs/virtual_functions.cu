// Virtual functions on objects built by the device, device function pointers, pointers to members, and a small
// expression tree built with device new.
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

class Shape {
 public:
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ virtual int corners() const { return 0; }
};
class Rect : public Shape {
 public:
  __device__ Rect(float w, float h) : w_(w), h_(h) {}
  __device__ float area() const override { return w_ * h_; }
  __device__ int corners() const override { return 4; }

 protected:
  float w_, h_;
};
class Square final : public Rect {
 public:
  __device__ explicit Square(float s) : Rect(s, s) {}
  __device__ float area() const override { return w_ * w_ + 0.5f; }
};
class Circle : public Shape {
 public:
  __device__ explicit Circle(float r) : r_(r) {}
  __device__ float area() const override { return 3.0f * r_ * r_; }

 private:
  float r_;
};

__device__ Shape* g_shapes[96];

__global__ void create(int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  switch (i % 3) {
    case 0:
      g_shapes[i] = new Rect(i, 2);
      break;
    case 1:
      g_shapes[i] = new Square(i);
      break;
    case 2:
      g_shapes[i] = new Circle(i);
      break;
  }
}
__global__ void measure(float* area, int* corners, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  area[i] = g_shapes[i]->area();
  corners[i] = g_shapes[i]->corners();
}
__global__ void destroy(int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) delete g_shapes[i];
}

typedef int (*Op)(int, int);
__device__ int op_add(int a, int b) { return a + b; }
__device__ int op_mul(int a, int b) { return a * b; }
__device__ int op_max(int a, int b) { return a > b ? a : b; }
__device__ Op d_table[3] = {op_add, op_mul, op_max};
__device__ Op d_add = op_add;

__global__ void by_table(int* out) {  // lanes of a warp call different functions
  int i = threadIdx.x;
  out[i] = d_table[i % 3](i, 7);
}
__global__ void by_argument(Op op, int* out) { out[threadIdx.x] = op(threadIdx.x, 100); }

struct Counter {
  int n;
  __device__ void up(int k) { n += k; }
  __device__ void down(int k) { n -= k; }
};
__global__ void members(int* out) {
  void (Counter::*step)(int) = threadIdx.x & 1 ? &Counter::up : &Counter::down;
  int Counter::*field = &Counter::n;
  Counter c{10};
  (c.*step)(threadIdx.x);
  out[threadIdx.x] = c.*field;
}

struct Node {
  char op;
  float value;
  Node *left, *right;
  __device__ Node(float v) : op('n'), value(v), left(nullptr), right(nullptr) {}
  __device__ Node(char o, Node* l, Node* r) : op(o), value(0), left(l), right(r) {}
  __device__ ~Node() {
    delete left;
    delete right;
  }
};
__device__ float evaluate(const Node* n) {
  switch (n->op) {
    case '+':
      return evaluate(n->left) + evaluate(n->right);
    case '*':
      return evaluate(n->left) * evaluate(n->right);
    default:
      return n->value;
  }
}
__global__ void tree(float* out) {
  float x = threadIdx.x;
  Node* root = new Node('+', new Node('*', new Node(x), new Node(x)), new Node('*', new Node(2.0f), new Node(x + 1)));
  out[threadIdx.x] = evaluate(root);
  delete root;
}

int main() {
  const int n = 96;
  float area[n], *d_area;
  int corners[n], *d_corners, bad = 0;
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
  CHECK(cudaMalloc(&d_area, sizeof area));
  CHECK(cudaMalloc(&d_corners, sizeof corners));
  create<<<3, 32>>>(n);
  measure<<<3, 32>>>(d_area, d_corners, n);
  destroy<<<3, 32>>>(n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(area, d_area, sizeof area, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(corners, d_corners, sizeof corners, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) {
    float want = i % 3 == 0 ? i * 2.0f : i % 3 == 1 ? i * i + 0.5f : 3.0f * i * i;
    bad += area[i] != want || corners[i] != (i % 3 == 2 ? 0 : 4);
  }
  by_table<<<1, n>>>(d_corners);
  CHECK(cudaMemcpy(corners, d_corners, sizeof corners, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) bad += corners[i] != (i % 3 == 0 ? i + 7 : i % 3 == 1 ? i * 7 : i > 7 ? i : 7);
  Op h_add;
  CHECK(cudaMemcpyFromSymbol(&h_add, d_add, sizeof(Op)));
  by_argument<<<1, n>>>(h_add, d_corners);
  CHECK(cudaMemcpy(corners, d_corners, sizeof corners, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) bad += corners[i] != i + 100;
  members<<<1, n>>>(d_corners);
  CHECK(cudaMemcpy(corners, d_corners, sizeof corners, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) bad += corners[i] != (i & 1 ? 10 + i : 10 - i);
  tree<<<1, n>>>(d_area);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(area, d_area, sizeof area, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) bad += area[i] != (float)(i * i + 2 * (i + 1));
  printf("virtual_functions: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}
