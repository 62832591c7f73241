// atomics: every built-in read-modify-write, and three of our own made from compare-and-swap.
// Look at the loop in `my_atomic_add`: try, and if somebody else was faster, try again with what they left behind.
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

constexpr int kBlocks = 8, kThreads = 96, kTotal = kBlocks * kThreads;

__device__ int my_atomic_add(int* address, int increment) {
  int expected = *address;
  int old = atomicCAS(address, expected, expected + increment);
  while (old != expected) {
    expected = old;
    old = atomicCAS(address, expected, expected + increment);
  }
  return old;
}
__device__ float my_atomic_add(float* address, float increment) {
  unsigned* bits = reinterpret_cast<unsigned*>(address);
  unsigned old = *bits, expected;
  do {
    expected = old;
    old = atomicCAS(bits, expected, __float_as_uint(__uint_as_float(expected) + increment));
  } while (old != expected);
  return __uint_as_float(old);
}
__device__ double my_atomic_add(double* address, double increment) {
  auto* bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits, expected;
  do {
    expected = old;
    old = atomicCAS(bits, expected, __double_as_longlong(__longlong_as_double(expected) + increment));
  } while (old != expected);
  return __longlong_as_double(old);
}

struct Counters {
  int add = 0, sub = 10000, exchanged = -1, low = 1 << 30, high = -1, all = -1, any = 0, parity = 0, cas = 0, mine = 0;
  unsigned inc = 0, dec = 5, umin = ~0u, umax = 0;
  unsigned long long add64 = 0, max64 = 0;
  float fadd = 0, mine_f = 0, fexchanged = 0;
  double dadd = 0, mine_d = 0;
  int over_threshold = 0, in_shared = 0;
};

__global__ void everybody(Counters* c, int* old_values, const int* data, int threshold) {
  __shared__ int local;  // two levels: first within the block, then one addition per block
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();

  old_values[i] = atomicAdd(&c->add, 1);
  atomicSub(&c->sub, 2);
  atomicExch(&c->exchanged, i);
  atomicExch(&c->fexchanged, (float)i);
  atomicMin(&c->low, data[i]);
  atomicMax(&c->high, data[i]);
  atomicMin(&c->umin, (unsigned)data[i]);
  atomicMax(&c->umax, (unsigned)data[i]);
  atomicInc(&c->inc, 99);  // wraps to 0 after 99
  atomicDec(&c->dec, 9);   // wraps to 9 after 0
  atomicAnd(&c->all, ~(1 << (i % 20)));
  atomicOr(&c->any, 1 << (i % 20));
  atomicXor(&c->parity, i);
  atomicCAS(&c->cas, i, i + 1);
  atomicAdd(&c->add64, 1ull << 33);
  atomicMax(&c->max64, (1ull << 40) + i);
  atomicAdd(&c->fadd, 0.5f);
  atomicAdd(&c->dadd, 0.25);
  my_atomic_add(&c->mine, 3);
  my_atomic_add(&c->mine_f, 2.0f);
  my_atomic_add(&c->mine_d, 1.5);
  if (data[i] > threshold) atomicExch(&c->over_threshold, 1);
  atomicAdd(&local, data[i] & 7);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&c->in_shared, local);
}

int main() {
  int data[kTotal], old_values[kTotal], failures = 0;
  Counters c, *d_c;
  int *d_data, *d_old;
  for (int i = 0; i < kTotal; ++i) data[i] = (i * 7919) % 10007 + 5;
  CHECK(cudaMalloc(&d_c, sizeof c));
  CHECK(cudaMalloc(&d_data, sizeof data));
  CHECK(cudaMalloc(&d_old, sizeof old_values));
  CHECK(cudaMemcpy(d_c, &c, sizeof c, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_data, data, sizeof data, cudaMemcpyHostToDevice));
  everybody<<<kBlocks, kThreads>>>(d_c, d_old, d_data, 9000);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&c, d_c, sizeof c, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(old_values, d_old, sizeof old_values, cudaMemcpyDeviceToHost));

  auto expect = [&](bool right, const char* what) {
    if (!right) std::printf("  wrong: %s\n", what);
    failures += !right;
  };
  int low = 1 << 30, high = -1, parity = 0, sum = 0, any = 0, over = 0;
  bool seen[kTotal] = {};
  for (int i = 0; i < kTotal; ++i) {
    low = data[i] < low ? data[i] : low;
    high = data[i] > high ? data[i] : high;
    parity ^= i;
    sum += data[i] & 7;
    any |= 1 << (i % 20);
    over |= data[i] > 9000;
    expect(old_values[i] >= 0 && old_values[i] < kTotal && !seen[old_values[i]], "each old value is returned once");
    if (old_values[i] >= 0 && old_values[i] < kTotal) seen[old_values[i]] = true;
  }
  expect(c.add == kTotal && c.sub == 10000 - 2 * kTotal, "atomicAdd and atomicSub");
  expect(c.exchanged >= 0 && c.exchanged < kTotal, "atomicExch leaves one of the values");
  expect(c.fexchanged >= 0 && c.fexchanged < kTotal, "atomicExch of floats");
  expect(c.low == low && c.high == high && c.umin == (unsigned)low && c.umax == (unsigned)high, "minimum and maximum");
  expect(c.inc == kTotal % 100 && c.dec == (5 + 10 * kTotal - kTotal) % 10, "atomicInc and atomicDec wrap");
  expect(c.all == ~any && c.any == any && c.parity == parity, "and, or, exclusive or");
  expect(c.cas >= 1 && c.cas <= kTotal, "atomicCAS moved on at least once");
  expect(c.add64 == (unsigned long long)kTotal << 33 && c.max64 == (1ull << 40) + kTotal - 1, "64-bit forms");
  expect(c.fadd == 0.5f * kTotal && c.dadd == 0.25 * kTotal, "floating-point additions");
  expect(c.mine == 3 * kTotal && c.mine_f == 2.0f * kTotal && c.mine_d == 1.5 * kTotal, "our own additions");
  expect(c.over_threshold == over && c.in_shared == sum, "the flag and the two-level sum");
  CHECK(cudaFree(d_c));
  CHECK(cudaFree(d_data));
  CHECK(cudaFree(d_old));
  std::printf("atomics: %d threads, %s\n", kTotal, failures ? "FAILED" : "no update was lost");
  return failures != 0;
}
