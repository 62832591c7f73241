// build: -arch=sm_90a
// A kernel makes a tensor map of its own: 128 zeros, then the fields that are to be something else; a copy by it brings a box of bfloat16.
#include <cstdint>
#include <cstdio>

constexpr int kColumns = 32, kRows = 16, kWide = 8, kHigh = 4;

#define REPLACE(field, type, ...) asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0]" __VA_ARGS__)

template <bool flat>  // one dimension, which is what zeros have
__global__ void box(const uint16_t* from, unsigned char* map, uint16_t* to) {
  __shared__ alignas(128) uint32_t fresh[32];
  __shared__ alignas(128) uint16_t tile[kWide * kHigh];
  __shared__ alignas(8) uint64_t barrier;
  fresh[threadIdx.x] = 0;
  __syncwarp();
  const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(fresh)), place = static_cast<uint32_t>(__cvta_generic_to_shared(tile)),
                 ready = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    REPLACE("global_address", "b64", ", %1;" ::"r"(at), "l"(from));
    REPLACE("box_dim", "b32", ", 0, %1;" ::"r"(at), "r"(flat ? kWide * kHigh : kWide));
    REPLACE("global_dim", "b32", ", 0, %1;" ::"r"(at), "r"(flat ? kColumns * kRows : kColumns));
    REPLACE("element_stride", "b32", ", 0, %1;" ::"r"(at), "r"(1));
    REPLACE("elemtype", "b32", ", 0xa;" ::"r"(at));  // bf16
    if (!flat) {
      REPLACE("rank", "b32", ", %1;" ::"r"(at), "n"(1));
      REPLACE("box_dim", "b32", ", 1, %1;" ::"r"(at), "r"(kHigh));
      REPLACE("global_dim", "b32", ", 1, %1;" ::"r"(at), "r"(kRows));
      REPLACE("global_stride", "b64", ", 0, %1;" ::"r"(at), "l"(static_cast<uint64_t>(2 * kColumns)));
      REPLACE("element_stride", "b32", ", 1, %1;" ::"r"(at), "r"(1));
      REPLACE("interleave_layout", "b32", ", 0;" ::"r"(at));
      REPLACE("swizzle_mode", "b32", ", 0;" ::"r"(at));
      REPLACE("fill_mode", "b32", ", 0;" ::"r"(at));
    }
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(ready));
  }
  __syncwarp();
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(map), "r"(at) : "memory");
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(ready), "r"(2 * kWide * kHigh));
    if (flat)
      asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"(place), "l"(map), "r"(ready),
                   "r"(480)
                   : "memory");
    else
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(place), "l"(map),
                 "r"(ready), "r"(16), "r"(14)
                 : "memory");
  }
  __syncwarp();
  asm volatile("{ .reg .pred done;\nagain: mbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n@!done bra again; }" ::"r"(ready) : "memory");
  to[threadIdx.x] = tile[threadIdx.x];
}

int main() {
  uint16_t *from, *to;
  unsigned char* map;
  cudaMallocManaged(&from, kColumns * kRows * 2);
  cudaMallocManaged(&to, kWide * kHigh * 2);
  cudaMalloc(&map, 128);
  for (int k = 0; k < kColumns * kRows; ++k) from[k] = static_cast<uint16_t>(k + 1);
  box<true><<<1, 32>>>(from, map, to);
  if (cudaDeviceSynchronize() != cudaSuccess) return printf("FAILED: %s\n", cudaGetErrorString(cudaGetLastError())), 1;
  for (int k = 0; k < kWide * kHigh; ++k)
    if (to[k] != 481 + k) return printf("FAILED: element %d of a row is %d\n", k, to[k]), 1;
  box<false><<<1, 32>>>(from, map, to);
  if (cudaDeviceSynchronize() != cudaSuccess) return printf("FAILED: %s\n", cudaGetErrorString(cudaGetLastError())), 1;
  for (int k = 0; k < kWide * kHigh; ++k) {
    const int row = 14 + k / kWide, column = 16 + k % kWide;
    const int wanted = row < kRows ? row * kColumns + column + 1 : 0;  // beyond the tensor there are zeros
    if (to[k] != wanted) return printf("FAILED: element %d is %d and not %d\n", k, to[k], wanted), 1;
  }
  puts("PASSED");
}
