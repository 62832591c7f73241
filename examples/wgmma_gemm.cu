// build: -arch=sm_90a
// C = A B by warp groups (sm_90): four warps multiply 64 x 16 by 16 x 64 at a time straight from shared memory. Tiles
// lie there as 8 x 8 core matrices; a descriptor says where they begin and how far apart they are. What to see: small whole
// numbers come out exact.
#include <cuda_bf16.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kM = 128, kN = 128, kK = 96, kTileN = 64, kStep = 16;

// Core matrices of 8 rows of 16 bytes; along k the next one follows 128 bytes later, eight rows further on 256 bytes
// later.
__device__ uint64_t descriptor(const void* tile) {
  const uint64_t address = (uint64_t)__cvta_generic_to_shared(tile);
  return (address & 0x3ffff) >> 4 | uint64_t(128 >> 4) << 16 | uint64_t(256 >> 4) << 32;
}
__device__ int core_place(int line, int k) { return line / 8 * 128 + k / 8 * 64 + line % 8 * 8 + k % 8; }

__global__ void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  __shared__ alignas(128) __nv_bfloat16 ta[64 * kStep], tb[kTileN * kStep];
  const int row = blockIdx.y * 64, column = blockIdx.x * kTileN, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float d[32] = {};
  for (int k = 0; k < kK; k += kStep) {
    for (int i = threadIdx.x; i < 64 * kStep; i += blockDim.x) {
      ta[core_place(i / kStep, i % kStep)] = a[(row + i / kStep) * kK + k + i % kStep];
      tb[core_place(i / kStep, i % kStep)] = b[(column + i / kStep) * kK + k + i % kStep];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
        "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1, 0, 0; }\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
          "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
          "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(descriptor(ta)), "l"(descriptor(tb)), "r"(k));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  for (int i = 0; i < 32; i++) {
    const int r = row + warp * 16 + lane / 4 + i / 2 % 2 * 8, n = column + i / 4 * 8 + lane % 4 * 2 + i % 2;
    c[r * kN + n] = d[i];
  }
}

int main() {
  std::vector<__nv_bfloat16> a(kM * kK), b(kN * kK);
  std::vector<float> c(kM * kN);
  for (size_t i = 0; i < a.size(); i++) a[i] = __float2bfloat16((float)(int)(i * 7 % 13) - 6);
  for (size_t i = 0; i < b.size(); i++) b[i] = __float2bfloat16((float)(int)(i * 5 % 11) - 5);
  __nv_bfloat16 *da, *db;
  float* dc;
  cudaMalloc(&da, a.size() * sizeof(__nv_bfloat16));
  cudaMalloc(&db, b.size() * sizeof(__nv_bfloat16));
  cudaMalloc(&dc, c.size() * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(__nv_bfloat16), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(__nv_bfloat16), cudaMemcpyHostToDevice);
  multiply<<<dim3(kN / kTileN, kM / 64), 128>>>(da, db, dc);
  cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = cudaGetLastError() != cudaSuccess;
  for (int i = 0; i < kM; i++)
    for (int j = 0; j < kN; j++) {
      float sum = 0;
      for (int k = 0; k < kK; k++) sum += __bfloat162float(a[i * kK + k]) * __bfloat162float(b[j * kK + k]);
      wrong += c[i * kN + j] != sum;
    }
  std::printf("%d x %d x %d: %d wrong\n%s\n", kM, kN, kK, wrong, wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
