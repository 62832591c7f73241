// mma, ldmatrix, stmatrix and movmatrix as hand-written kernels use them: inline PTX on fragments loaded from shared
// memory.
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>

// C (16 x 8) = A (16 x 16, by rows) B (16 x 8, by rows, loaded transposed).
__global__ void product(const __half* a, const __half* b, float* c, __half* copy, uint32_t* moved) {
  __shared__ __align__(16) __half sa[16 * 16], sb[16 * 8], sc[16 * 16];
  const int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) sa[i] = a[i];
  for (int i = lane; i < 128; i += 32) sb[i] = b[i];
  __syncwarp();
  uint32_t ra[4], rb[2];
  const uint32_t from_a = (uint32_t)__cvta_generic_to_shared(sa + (lane % 16) * 16 + lane / 16 * 8);
  const uint32_t from_b = (uint32_t)__cvta_generic_to_shared(sb + (lane % 16) * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
               : "r"(from_a));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(rb[0]), "=r"(rb[1])
               : "r"(from_b));
  float d[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  const int row = lane / 4, column = lane % 4 * 2;
  c[row * 8 + column] = d[0];
  c[row * 8 + column + 1] = d[1];
  c[(row + 8) * 8 + column] = d[2];
  c[(row + 8) * 8 + column + 1] = d[3];
  const uint32_t to = (uint32_t)__cvta_generic_to_shared(sc + (lane % 16) * 16 + lane / 16 * 8);
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(ra[0]), "r"(ra[1]),
               "r"(ra[2]), "r"(ra[3])
               : "memory");
  __syncwarp();
  for (int i = lane; i < 256; i += 32) copy[i] = sc[i];
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved[lane]) : "r"(ra[0]));
}

// One lane's bad address names the instruction and the thread.
__global__ void misaligned(uint32_t* out) {
  __shared__ __align__(16) unsigned char tile[256];
  uint32_t r;
  const uint32_t at = (uint32_t)__cvta_generic_to_shared(tile) + threadIdx.x % 8 * 16 + (threadIdx.x == 5 ? 4 : 0);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at));
  out[threadIdx.x] = r;
}

int main() {
  __half a[256], b[128], copy[256];
  float c[128];
  uint32_t moved[32];
  for (int i = 0; i < 256; i++) a[i] = __float2half((float)(i * 7 % 11 - 5));
  for (int i = 0; i < 128; i++) b[i] = __float2half((float)(i * 5 % 13 - 6));
  __half *da, *db, *dcopy;
  float* dc;
  uint32_t* dmoved;
  cudaMalloc(&da, sizeof a);
  cudaMalloc(&db, sizeof b);
  cudaMalloc(&dc, sizeof c);
  cudaMalloc(&dcopy, sizeof copy);
  cudaMalloc(&dmoved, sizeof moved);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
  product<<<1, 32>>>(da, db, dc, dcopy, dmoved);
  cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost);
  cudaMemcpy(copy, dcopy, sizeof copy, cudaMemcpyDeviceToHost);
  cudaMemcpy(moved, dmoved, sizeof moved, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 8; j++) {
      float sum = 0;
      for (int k = 0; k < 16; k++) sum += __half2float(a[i * 16 + k]) * __half2float(b[k * 8 + j]);
      wrong += c[i * 8 + j] != sum;
    }
  // Every 8 x 8 matrix went back transposed to the place it came from.
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++)
      wrong += __half2float(copy[i * 16 + j]) != __half2float(a[(i / 8 * 8 + j % 8) * 16 + j / 8 * 8 + i % 8]);
  for (int lane = 0; lane < 32; lane++)
    for (int h = 0; h < 2; h++) {
      const unsigned short bits = (unsigned short)(moved[lane] >> 16 * h);
      wrong += bits != __half_as_ushort(a[(lane % 4 * 2 + h) * 16 + lane / 4]);
    }
  misaligned<<<1, 32>>>(dmoved);
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("%d wrong, then %s\n", wrong, cudaGetErrorName(status));
  const bool good = !wrong && status == cudaErrorMisalignedAddress;
  std::printf("%s\n", good ? "PASS" : "FAIL");
  return !good;
}
