// In which order groups combine their threads' values: it shows with operations that are neither commutative nor
// associative, as with sums of floats. Recorded on an H100 by this program, built with the vendor's compiler and given an argument.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>
namespace cg = cooperative_groups;

constexpr int kThreads = 256, kResults = 8;

struct Mix {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a * 31 + b; }
};

template <class G>
__device__ void collect(const G& g, unsigned* out) {
  const unsigned i = threadIdx.x, v = i * 2654435761u;
  const float f = 1.0f / (1 + (v >> 20)) - 0.1f;
  out[0] = cg::reduce(g, v, Mix()), out[1] = cg::inclusive_scan(g, v, Mix()), out[2] = cg::exclusive_scan(g, v, Mix());
  out[3] = __float_as_uint(cg::reduce(g, f, cg::plus<float>()));
  out[4] = __float_as_uint(cg::inclusive_scan(g, f)), out[5] = __float_as_uint(cg::exclusive_scan(g, f));
  out[6] = cg::reduce(g, v, cg::plus<unsigned>()), out[7] = cg::exclusive_scan(g, v);
}

template <int size>
__global__ void tiles(unsigned* out) {
  __shared__ cg::block_tile_memory<kThreads> memory;
  auto block = cg::this_thread_block(memory);
  collect(cg::tiled_partition<size>(block), out + kResults * threadIdx.x);
}
template <int kind>
__global__ void others(unsigned* out) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  out += kResults * threadIdx.x;
  const int lane = threadIdx.x % 32;
  if (kind == 0) collect(cg::coalesced_threads(), out);
  if (kind == 1 && lane % 3) collect(cg::coalesced_threads(), out);
  if (kind == 2 && lane > 8) collect(cg::coalesced_threads(), out);
  if (kind == 3) collect(cg::labeled_partition(warp, lane * 5 % 3), out);
  if (kind == 4) collect(cg::binary_partition(warp, lane * 5 % 7 < 3), out);
}

int main(int argc, char**) {
  unsigned *device, host[kResults * kThreads];
  cudaMalloc(&device, sizeof host);
  int wrong = 0;
  const auto look = [&](const char* name, unsigned recorded, auto kernel) {
    cudaMemset(device, 0, sizeof host);
    kernel<<<1, kThreads>>>(device);
    if (cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) ++wrong;
    unsigned digest = 0x811c9dc5;
    for (unsigned word : host) digest = (digest ^ word) * 0x01000193;
    if (argc > 1) printf("%s %08x\n", name, digest);
    else if (digest != recorded) printf("%s: %08x, recorded %08x\n", name, digest, recorded), ++wrong;
  };
  look("tile 4", 0xafe0c2f9, tiles<4>), look("tile 32", 0x16ada9fb, tiles<32>);
  look("tile 64", 0x67ea5743, tiles<64>), look("tile 128", 0xa0ecb818, tiles<128>), look("tile 256", 0xa90c4ce4, tiles<256>);
  look("whole warps", 0x16ada9fb, others<0>), look("two of three lanes", 0xe813174f, others<1>), look("lanes from nine", 0x8934a593, others<2>);
  look("labels", 0xdef0b77e, others<3>), look("condition", 0xfae59315, others<4>);
  printf("group_orders: %s\n", wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
