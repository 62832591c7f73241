// Recursive device functions, direct and mutual, with divergent depth.
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

__device__ unsigned long long factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }
__device__ __noinline__ bool odd(int n);
__device__ __noinline__ bool even(int n) { return n == 0 ? true : odd(n - 1); }
__device__ __noinline__ bool odd(int n) { return n == 0 ? false : even(n - 1); }
__device__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
__device__ int hanoi(int disks, char from, char to, char via) {
  return disks == 0 ? 0 : hanoi(disks - 1, from, via, to) + 1 + hanoi(disks - 1, via, to, from);
}
__device__ int queens(int n, int row, unsigned cols, unsigned d1, unsigned d2) {
  if (row == n) return 1;
  int count = 0;
  unsigned free = ~(cols | d1 | d2) & ((1u << n) - 1);
  while (free) {
    unsigned bit = free & -free;
    free ^= bit;
    count += queens(n, row + 1, cols | bit, (d1 | bit) << 1, (d2 | bit) >> 1);
  }
  return count;
}

__global__ void run(unsigned long long* fact, int* out) {
  int i = threadIdx.x;
  fact[i] = factorial(i % 21);
  int* o = out + i * 6;
  o[0] = fibonacci(i % 12);
  o[1] = gcd(i * 6, 84);
  o[2] = even(i) * 2 + odd(i);
  o[3] = ackermann(i % 3, i % 4);
  o[4] = hanoi(i % 8, 'a', 'b', 'c');
  o[5] = queens(4 + i % 4, 0, 0, 0, 0);
}

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int hgcd(int a, int b) { return b ? hgcd(b, a % b) : a; }
static int ack(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); }

int main() {
  const int n = 64;
  unsigned long long fact[n], *d_fact;
  int out[n][6], *d_out, bad = 0;
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 32 * 1024));
  size_t stack = 0;
  CHECK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  bad += stack < 32 * 1024;
  CHECK(cudaMalloc(&d_fact, sizeof fact));
  CHECK(cudaMalloc(&d_out, sizeof out));
  run<<<1, n>>>(d_fact, d_out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(fact, d_fact, sizeof fact, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  const int queens[] = {2, 10, 4, 40};
  for (int i = 0; i < n; i++) {
    unsigned long long f = 1;
    for (int k = 2; k <= i % 21; k++) f *= k;
    bad += fact[i] != f || out[i][0] != fib(i % 12) || out[i][1] != hgcd(i * 6, 84) || out[i][2] != (i % 2 ? 1 : 2);
    bad += out[i][3] != ack(i % 3, i % 4) || out[i][4] != (1 << i % 8) - 1 || out[i][5] != queens[i % 4];
  }
  printf("recursion: 20! = %llu, %s\n", fact[20], bad ? "FAILED" : "PASSED");
  return bad != 0;
}
