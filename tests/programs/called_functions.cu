// Functions that are not inlined: virtual ones whose targets differ from lane to lane, tables of function pointers, recursion
// by name and through pointers, structures by value and by reference, early returns, and what they do with arrays of their own.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

#define BOTH __host__ __device__
#define CALLED __host__ __device__ __noinline__

struct Vec {
  int x, y, z;
};
struct Hit {
  int depth;
  Vec at;
  long long tag;
};

CALLED Vec add(const Vec& a, Vec b) { return {a.x + b.x, a.y - b.y, a.z ^ b.z}; }
CALLED bool step(Vec& v, int by, Hit& hit) {
  if (by == 0) return false;
  v.x += by;
  if (v.x & 1) {
    hit.depth = by;
    hit.at = v;
    return true;
  }
  hit.tag = (long long)by << 33 | (unsigned)v.y;
  v.y -= 3;
  return by > 4;
}
CALLED int pick(Vec v, const int* order, int which) {
  int parts[3] = {v.x, v.y, v.z};
  return parts[order[which % 3]];
}

struct Node {
  BOTH explicit Node(int k) : key(k) {}
  BOTH virtual int weight(const Vec& v, Hit& hit) const = 0;
  int key;
};
struct Leaf : Node {
  BOTH explicit Leaf(int k) : Node(k) {}
  BOTH int weight(const Vec& v, Hit& hit) const override {
    hit.at.x ^= key;
    return v.x * key + 1;
  }
};
struct Twice : Node {
  BOTH explicit Twice(int k) : Node(k) {}
  BOTH int weight(const Vec& v, Hit& hit) const override {
    Hit own = {key, v, 5};
    for (int k = 0; k < (v.y & 3); ++k) own.at = add(own.at, v);
    hit.tag += own.at.x;
    return own.at.y - own.depth;
  }
};
struct Pair : Node {  // calls the same function of others
  BOTH Pair(const Node* a, const Node* b) : Node(9), first(a), second(b) {}
  BOTH int weight(const Vec& v, Hit& hit) const override {
    Hit inner = hit;
    const int w = first->weight(v, inner) + 2 * second->weight(v, inner);
    hit.tag ^= inner.tag + inner.at.x;
    return w;
  }
  const Node *first, *second;
};

using Function = int (*)(int, int);
CALLED int plus(int a, int b) { return a + b; }
CALLED int minus(int a, int b) { return a - 3 * b; }
CALLED int longest(int a, int b) {
  int n = 0;
  while (a != b && n < 40) a = a & 1 ? a * 3 + 1 : a / 2, ++n;
  return n;
}
CALLED int fibonacci(int n, int m) { return n < 2 ? n + m : fibonacci(n - 1, m) + fibonacci(n - 2, m); }
__device__ Function table[] = {plus, minus, longest, fibonacci};

extern __device__ Function turns[2];
__device__ __noinline__ int ping(int n, int a) { return n == 0 ? a : turns[1](n - 1, a * 2 + 1); }
__device__ __noinline__ int pong(int n, int a) { return n == 0 ? -a : turns[0](n - 1, a + 7); }
__device__ Function turns[2] = {ping, pong};

BOTH int structures(int t) {
  Vec v = {t * 3, t ^ 21, 100 - t};
  Hit hit = {0, {1, 2, 3}, 4};
  const int order[3] = {2, t % 3, 1};
  int sum = 0;
  for (int k = 0; k < 6; ++k) {
    if (step(v, (t + k) % 7, hit)) sum += hit.at.z + hit.depth;
    else sum -= (int)(hit.tag >> 33) + (int)hit.tag;
    v = add(v, hit.at);
    sum = sum * 5 + pick(v, order, t + k);
  }
  return sum;
}

__global__ void run_structures(int* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = structures(t);
}

__global__ void make(Node** nodes) {
  nodes[0] = new Leaf(3);
  nodes[1] = new Twice(11);
  nodes[2] = new Leaf(-5);
  nodes[3] = new Pair(nodes[0], nodes[1]);
  nodes[4] = new Pair(nodes[3], nodes[2]);  // goes two deep
}
BOTH int weigh(const Node* const* nodes, int count, int t) {
  Vec v = {t, t * 7, -t};
  Hit hit = {1, {2, 3, 4}, 5};
  int sum = 0;
  for (int k = 0; k < 5; ++k) sum = sum * 3 + nodes[(t * (k + 1)) % count]->weight(v, hit) + (int)hit.tag;
  return sum ^ hit.at.x;
}
__global__ void run_nodes(const Node* const* nodes, int count, int* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = weigh(nodes, count, t);
}

__global__ void run_table(int count, int* out, int* order, int* tickets) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  Function f = table[(t / 3) % count];
  int r = f(t % 11, 5);
  if (t % 5 != 4) r += table[t % 2](r, t);  // some lanes call nothing
  out[t] = r;
  order[t] = blockIdx.x ? 0 : atomicAdd(tickets, 1);
}

__global__ void run_turns(int* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = turns[0](t % 9, t);
}

int host_table(int t, int count) {
  Function f[] = {plus, minus, longest, fibonacci};
  int r = f[t / 3 % count](t % 11, 5);
  if (t % 5 != 4) r += f[t % 2](r, t);
  return r;
}
int host_turns(int n, int a, bool ping) { return n == 0 ? (ping ? a : -a) : host_turns(n - 1, ping ? a * 2 + 1 : a + 7, !ping); }

int main() {
  const int blocks = 40, threads = 96, n = blocks * threads;
  int *out, *order, *tickets;
  Node** nodes;
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  CHECK(cudaMalloc(&order, n * sizeof(int)));
  CHECK(cudaMalloc(&tickets, sizeof(int)));
  CHECK(cudaMalloc(&nodes, 5 * sizeof(Node*)));
  CHECK(cudaMemset(tickets, 0, sizeof(int)));
  std::vector<int> got(n);
  int bad = 0;
  const auto compare = [&](const char* what, auto want) {
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int t = 0; t < n; ++t)
      if (got[t] != want(t) && bad++ < 5) std::printf("%s: thread %d has %d, not %d\n", what, t, got[t], want(t));
  };
  for (int round = 0; round < 3; ++round) {
    run_structures<<<blocks, threads>>>(out);
    compare("structures", structures);
  }
  make<<<1, 1>>>(nodes);
  Leaf a(3), c(-5);
  Twice b(11);
  Pair d(&a, &b), e(&d, &c);
  const Node* host[] = {&a, &b, &c, &d, &e};
  for (const int count : {1, 3, 4, 5, 4}) {
    run_nodes<<<blocks, threads>>>(nodes, count, out);
    compare("nodes", [&](int t) { return weigh(host, count, t); });
  }
  for (const int count : {1, 3, 4, 2}) {
    run_table<<<blocks, threads>>>(count, out, order, tickets);
    compare("table", [&](int t) { return host_table(t, count); });
  }
  run_turns<<<blocks, threads>>>(out);
  compare("turns", [](int t) { return host_turns(t % 9, t, true); });
  if (bad) std::printf("%d wrong\n", bad);
  return bad != 0;
}
