// Tiles of several warps: reductions, scans, votes and barriers of their own, and totals that go into a shared object.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <utility>
#define CK(x)                                                                     \
  do {                                                                            \
    auto e_ = (x);                                                                \
    if (e_ != cudaSuccess) {                                                      \
      printf("%s:%d %s -> %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_)); \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)
#define REQ(c)                                              \
  do {                                                      \
    if (!(c)) {                                             \
      printf("%s:%d failed: %s\n", __FILE__, __LINE__, #c); \
      exit(1);                                              \
    }                                                       \
  } while (0)
namespace cg = cooperative_groups;
template <int S>
__global__ void big(const int* in, int* red, int* inc, int* exc, double* mx, int* upd, int* total) {
  auto b = cg::this_thread_block();
  auto t = cg::tiled_partition<S>(b);
  int i = blockIdx.x * blockDim.x + b.thread_rank();
  red[i] = cg::reduce(t, in[i], cg::plus<int>());
  inc[i] = cg::inclusive_scan(t, in[i]);
  exc[i] = cg::exclusive_scan(t, in[i], cg::plus<int>());
  mx[i] = cg::reduce(t, (double)in[i], cg::greater<double>());
  cuda::atomic_ref<int, cuda::thread_scope_device> r(*total);
  upd[i] = cg::exclusive_scan_update(t, r, in[i], cg::plus<int>()) - cg::exclusive_scan(t, in[i]);
  t.sync();
  auto h = cg::tiled_partition<32>(t);
  int v = cg::reduce(h, 1, cg::plus<int>());
  if (v != 32) red[i] = -1;
  b.sync();
  if (t.meta_group_rank() == 0) {
    t.sync();
    t.sync();
  }
}
template <int S>
void run(int bs) {
  int n = bs * 2;
  int *in, *a, *b, *c, *u, *tot;
  double* m;
  CK(cudaMallocManaged(&in, n * 4));
  CK(cudaMallocManaged(&a, n * 4));
  CK(cudaMallocManaged(&b, n * 4));
  CK(cudaMallocManaged(&c, n * 4));
  CK(cudaMallocManaged(&u, n * 4));
  CK(cudaMallocManaged(&m, n * 8));
  CK(cudaMallocManaged(&tot, 4));
  *tot = 0;
  long all = 0;
  for (int i = 0; i < n; i++) {
    in[i] = rand() % 100;
    all += in[i];
  }
  big<S><<<2, bs>>>(in, a, b, c, m, u, tot);
  CK(cudaDeviceSynchronize());
  for (int g = 0; g < n / S; g++) {
    int s = 0, mxv = 0;
    for (int k = 0; k < S; k++) {
      int i = g * S + k;
      REQ(c[i] == s);
      s += in[i];
      REQ(b[i] == s);
      mxv = in[i] > mxv ? in[i] : mxv;
      REQ(u[i] == u[g * S]);
    }
    for (int k = 0; k < S; k++) {
      REQ(a[g * S + k] == s);
      REQ(m[g * S + k] == mxv);
    }
  }
  REQ(*tot == all);
  printf("%d %d ok\n", S, bs);
}
int main() {
  run<64>(64);
  run<64>(256);
  run<64>(512);
  run<64>(1024);
  run<128>(256);
  run<256>(1024);
  run<512>(1024);
  run<1024>(1024);
  run<32>(128);
  run<8>(64);
  puts("PASSED");
}
