// Every atomic on every type it takes, global and shared, block and system scope, contended and not.
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

#define N 128

struct All {
  int i[10];
  unsigned u[12];
  unsigned long long ull[10];
  long long ll[2];
  float f[2];
  double d[2];
  unsigned short us;
};

template <typename P>
__device__ void apply(P* a, int t) {
  atomicAdd(&a->i[0], t);
  atomicSub(&a->i[1], t);
  atomicMin(&a->i[2], -t);
  atomicMax(&a->i[3], t);
  atomicAnd(&a->i[4], ~(1 << (t % 31)));
  atomicOr(&a->i[5], 1 << (t % 31));
  atomicXor(&a->i[6], t * 3);
  atomicExch(&a->i[7], t);
  atomicCAS(&a->i[8], t, t + 1);
  atomicAdd_block(&a->i[9], 1);
  atomicAdd(&a->u[0], (unsigned)t);
  atomicSub(&a->u[1], (unsigned)t);
  atomicMin(&a->u[2], 1000u - t);
  atomicMax(&a->u[3], (unsigned)t * 7u);
  atomicAnd(&a->u[4], ~(1u << (t % 32)));
  atomicOr(&a->u[5], 1u << (t % 32));
  atomicXor(&a->u[6], 1u << (t % 32));
  atomicExch(&a->u[7], (unsigned)t);
  atomicCAS(&a->u[8], 0u, (unsigned)t + 1);
  atomicInc(&a->u[9], 10u);
  atomicDec(&a->u[10], 10u);
  atomicAdd_system(&a->u[11], 2u);
  atomicAdd(&a->ull[0], (unsigned long long)t << 32);
  atomicMin(&a->ull[1], (1ull << 50) - t);
  atomicMax(&a->ull[2], (1ull << 50) + t);
  atomicAnd(&a->ull[3], ~(1ull << (t % 64)));
  atomicOr(&a->ull[4], 1ull << (t % 64));
  atomicXor(&a->ull[5], 3ull << (t % 62));
  atomicExch(&a->ull[6], (unsigned long long)t << 40);
  atomicCAS(&a->ull[7], 0ull, 1ull << 60);
  atomicMin(&a->ll[0], -((long long)t << 35));
  atomicMax(&a->ll[1], (long long)t - 200);
  atomicAdd(&a->f[0], 0.25f);
  atomicExch(&a->f[1], (float)t);
  atomicAdd(&a->d[0], 0.125);
  unsigned short seen = a->us, assumed;
  do {
    assumed = seen;
    seen = atomicCAS(&a->us, assumed, (unsigned short)(assumed + 1));
  } while (seen != assumed);
}

__device__ void start(All* a) {
  *a = All();
  for (int k = 0; k < 8; k++) a->i[k] = 0;
  a->i[4] = -1;
  a->u[1] = 1000000;
  a->u[2] = ~0u, a->u[4] = ~0u;
  a->ull[1] = ~0ull, a->ull[3] = ~0ull;
  a->ll[1] = -1000;
}

__global__ void in_global(All* a) { apply(a, threadIdx.x); }
__global__ void init(All* a) { start(a); }
__global__ void in_shared(All* out) {
  __shared__ All a;
  if (threadIdx.x == 0) start(&a);
  __syncthreads();
  apply(&a, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) *out = a;
}
// What an atomic returns: the running total of a single thread.
__global__ void old_values(int* x, int* out) {
  out[0] = atomicAdd(x, 5);
  out[1] = atomicSub(x, 2);
  out[2] = atomicExch(x, 9);
  out[3] = atomicMin(x, 4);
  out[4] = atomicMax(x, 6);
  out[5] = atomicAnd(x, 2);
  out[6] = atomicOr(x, 1);
  out[7] = atomicXor(x, 7);
  out[8] = atomicCAS(x, 4, 50);
  out[9] = atomicCAS(x, 4, 60);
  out[10] = (int)atomicInc((unsigned*)x, 50);
  out[11] = (int)atomicDec((unsigned*)x, 33);
  out[12] = *x;
}

static int check(const char* where, const All& a) {
  int bad = 0, sum = N * (N - 1) / 2, x3 = 0;
  unsigned long long x62 = 0;
  for (int t = 0; t < N; t++) x3 ^= t * 3, x62 ^= 3ull << (t % 62);
  unsigned bits32 = 0;
  for (int t = 0; t < N; t++) bits32 ^= 1u << (t % 32);
  auto expect = [&](bool ok, const char* what) {
    if (!ok) printf("  %s: %s\n", where, what), bad++;
  };
  expect(a.i[0] == sum && a.i[1] == -sum && a.i[2] == 1 - N && a.i[3] == N - 1, "int add sub min max");
  expect(a.i[4] == (int)0x80000000 && a.i[5] == 0x7fffffff && a.i[6] == x3, "int and or xor");
  expect(a.i[7] >= 0 && a.i[7] < N && a.i[8] > 0 && a.i[8] <= N && a.i[9] == N, "int exch cas block");
  expect(a.u[0] == (unsigned)sum && a.u[1] == 1000000u - sum && a.u[2] == 1001u - N && a.u[3] == 7u * (N - 1),
         "unsigned");
  expect(a.u[4] == 0 && a.u[5] == ~0u && a.u[6] == bits32 && a.u[7] < N && a.u[8] >= 1 && a.u[8] <= N, "unsigned bits");
  expect(a.u[9] == N % 11 && a.u[10] == (11 * N - N) % 11 && a.u[11] == 2 * N, "inc dec system");
  expect(
      a.ull[0] == (unsigned long long)sum << 32 && a.ull[1] == (1ull << 50) - N + 1 && a.ull[2] == (1ull << 50) + N - 1,
      "64-bit");
  expect(a.ull[3] == 0 && a.ull[4] == ~0ull && a.ull[5] == x62 && a.ull[6] >> 40 < N && a.ull[7] == 1ull << 60,
         "64-bit bits");
  expect(a.ll[0] == -((long long)(N - 1) << 35) && a.ll[1] == N - 1 - 200, "signed 64-bit");
  expect(a.f[0] == 0.25f * N && a.f[1] >= 0 && a.f[1] < N && a.d[0] == 0.125 * N, "floating point");
  expect(a.us == N, "16-bit compare and swap");
  return bad;
}

int main() {
  All a, *d_a;
  int *d_x, *d_out, out[13], three = 3;
  CHECK(cudaMalloc(&d_a, sizeof a));
  CHECK(cudaMalloc(&d_x, 4));
  CHECK(cudaMalloc(&d_out, sizeof out));
  init<<<1, 1>>>(d_a);
  in_global<<<1, N>>>(d_a);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&a, d_a, sizeof a, cudaMemcpyDeviceToHost));
  int bad = check("global", a);
  in_shared<<<1, N>>>(d_a);
  CHECK(cudaMemcpy(&a, d_a, sizeof a, cudaMemcpyDeviceToHost));
  bad += check("shared", a);
  CHECK(cudaMemcpy(d_x, &three, 4, cudaMemcpyHostToDevice));
  old_values<<<1, 1>>>(d_x, d_out);
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  const int want[13] = {3, 8, 6, 9, 4, 6, 2, 3, 4, 50, 50, 0, 33};
  for (int i = 0; i < 13; i++)
    if (out[i] != want[i]) printf("  old value %d is %d, not %d\n", i, out[i], want[i]), bad++;
  printf("atomics_all_types: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}
