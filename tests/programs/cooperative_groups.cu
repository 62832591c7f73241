#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
namespace cg = cooperative_groups;
__managed__ int m = 5;
__global__ void bump() { m += 2; }
__global__ void tiles(int* out) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto eight = cg::tiled_partition<8>(block);
  int t = threadIdx.x;
  out[t] = cg::reduce(warp, t, cg::plus<int>());
  out[128 + t] = cg::reduce(eight, t, cg::greater<int>());
  out[256 + t] = cg::inclusive_scan(eight, 1);
  out[384 + t] = cg::exclusive_scan(warp, 1);
  if (t % 3 == 0) { auto c = cg::coalesced_threads(); out[512 + t] = cg::reduce(c, 1, cg::plus<int>()) * 100 + c.thread_rank() * 1 + 10000 * (c.shfl(t, 1)); }
  else out[512 + t] = -1;
  auto b = cg::binary_partition(eight, t & 1); out[640 + t] = b.size() * 100 + b.thread_rank();
  auto l = cg::labeled_partition(warp, t % 5); out[768 + t] = l.size() * 1000 + l.thread_rank() * 10 + l.meta_group_rank();
}
__global__ void grid(int* a, int* b) {
  auto g = cg::this_grid();
  for (int r = 0; r < 5; r++) { a[g.thread_rank()] = r; g.sync(); b[g.thread_rank()] += a[(g.thread_rank() + 300) % g.size()]; g.sync(); }
}
int main() {
  int* d; cudaMallocManaged(&d, 4096 * 4);
  tiles<<<1, 128>>>(d); printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  int bad = 0;
  for (int t = 0; t < 128; t++) { int w = t / 32 * 32, e = t / 8 * 8;
    bad += d[t] != 32 * w + 496; bad += d[128 + t] != e + 7; bad += d[256 + t] != t % 8 + 1; bad += d[384 + t] != t % 32;
    bad += d[640 + t] != 400 + t % 8 / 2;
    int lab = t % 5, size = 0, rank = 0; for (int k = w; k < w + 32; k++) if (k % 5 == lab) { size++; rank += k < t; }
    bad += d[768 + t] / 10 != size * 100 + rank; 
    if (t % 3 == 0) { int n = 0, r = 0, second = -1; for (int k = w; k < w + 32; k++) if (k % 3 == 0) { if (n == 1) second = k; n++; r += k < t; } bad += d[512 + t] != n * 100 + r + 10000 * second; } }
  printf("bad %d\n", bad);
  int *a = d, *b = d + 2048; for (int i = 0; i < 1024; i++) b[i] = 0; void* args[] = {&a, &b};
  cudaError_t e = cudaLaunchCooperativeKernel((void*)grid, dim3(8), dim3(128), args, 0, 0); printf("%s ", cudaGetErrorString(e)); printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  for (int i = 0; i < 1024; i++) bad += b[i] != 10; printf("bad %d\n", bad);
  m = 7; bump<<<1, 1>>>(); printf("%s ", cudaGetErrorString(cudaDeviceSynchronize())); printf("m %d\n", m);
  return bad;
}
