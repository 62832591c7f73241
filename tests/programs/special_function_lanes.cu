// The special function unit gives an operand's result whatever the other lanes of the warp ask it for.
#include <cstdio>
#include <vector>

__global__ void functions(unsigned first, unsigned step, unsigned odd_one_out, unsigned* out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, bits = first + i * step;
  float x = __uint_as_float(threadIdx.x % 32 == 17 ? odd_one_out : bits), r;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  out[i] = __float_as_uint(r);
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  out[n + i] = __float_as_uint(r);
  asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  out[2 * n + i] = __float_as_uint(r);
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  out[3 * n + i] = __float_as_uint(r);
  asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  out[4 * n + i] = __float_as_uint(r);
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  out[5 * n + i] = __float_as_uint(r);
}

int main() {
  const unsigned n = 1 << 14;
  unsigned* d_out;
  cudaMalloc(&d_out, 6 * n * 4);
  std::vector<unsigned> usual(6 * n), mixed(6 * n);
  const auto run = [&](unsigned first, unsigned step, unsigned odd, std::vector<unsigned>& out) {
    functions<<<n / 128, 128>>>(first, step, odd, d_out, n);
    cudaMemcpy(out.data(), d_out, out.size() * 4, cudaMemcpyDeviceToHost);
  };
  const unsigned ranges[][2] = {{0x3f800000, 1}, {0x3fc00000, 511}, {0x40000000, 1021}, {0x3c000000, 3001}, {0x42f00000, 97}, {0xc2f00000, 97}, {0x00800000, 65537}, {0xbf800000, 1023}};
  for (const auto& r : ranges) {
    run(r[0], r[1], 0x3f800000, usual);
    for (unsigned odd : {0u, 0x80000000u, 0x00000001u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00001u, 0x7f000001u, 0xbf800000u}) {
      run(r[0], r[1], odd, mixed);
      for (unsigned k = 0; k < 6 * n; ++k)
        if (k % 32 != 17 && usual[k] != mixed[k]) {
          std::printf("function %u of %#x: %#x alone, %#x beside %#x\n", k / n, r[0] + k % n * r[1], usual[k], mixed[k], odd);
          return 1;
        }
    }
  }
  // One over the root of an even power of two, and one over a power of two, are exact.
  run(0x3f800000, 0x1000000, 0x3f800000, usual);
  for (unsigned k = 0; k < 8; ++k)
    if (usual[k] != 0x3f800000 - k * 0x800000) return 1;
  return cudaGetLastError() != cudaSuccess;
}
