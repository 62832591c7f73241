// prmt with selectors that are known, that differ from lane to lane, and that repeat a byte's sign; its modes too.
#include <cstdio>
#include <vector>

__host__ __device__ unsigned permuted(unsigned a, unsigned b, unsigned selectors) {
  const unsigned long long bytes = (unsigned long long)b << 32 | a;
  unsigned d = 0;
  for (int n = 0; n < 4; ++n) {
    const unsigned selector = selectors >> 4 * n & 15;
    unsigned byte = (unsigned)(bytes >> 8 * (selector & 7)) & 0xff;
    if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
    d |= byte << 8 * n;
  }
  return d;
}

template <unsigned Selectors>
__device__ unsigned permute(unsigned a, unsigned b) {
  unsigned d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "n"(Selectors));
  return d;
}

__device__ unsigned permute(unsigned a, unsigned b, unsigned selectors) {
  unsigned d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selectors));
  return d;
}

constexpr int kKinds = 9;

__global__ void permute_all(const unsigned* in, unsigned* out, unsigned same, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned a = in[i], b = in[(i + 1) % n];
  unsigned* o = out + i * kKinds;
  o[0] = permute<0x0123>(a, b);
  o[1] = permute<0x5410>(a, b);
  o[2] = permute<0xfb73>(a, b);
  o[3] = permute(a, b, same);                      // one selector for all lanes
  o[4] = permute(a, b, a ^ i * 2654435761u);       // one for each, with bits above the four that count
  o[5] = permute(0x80ff7f01u, same, 0x3210u + i);  // known and uniform words
  unsigned chain = a;
  for (int k = 0; k < 9; ++k) chain = permute(chain, b + k, 0x6240u + k);
  o[6] = chain;
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(o[7]) : "r"(a), "r"(b), "r"(i));
  asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(o[8]) : "r"(a), "r"(b), "r"(i));
}

int main() {
  const int n = 1000;
  std::vector<unsigned> in(n), out(n * kKinds);
  for (int i = 0; i < n; ++i) in[i] = i * 2246822519u ^ i << 7;
  unsigned *d_in, *d_out;
  cudaMalloc(&d_in, n * sizeof(unsigned));
  cudaMalloc(&d_out, n * kKinds * sizeof(unsigned));
  cudaMemcpy(d_in, in.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  const unsigned same = 0x9c40;
  permute_all<<<(n + 127) / 128, 128>>>(d_in, d_out, same, n);
  cudaMemcpy(out.data(), d_out, out.size() * sizeof(unsigned), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const unsigned a = in[i], b = in[(i + 1) % n], forward[4] = {0x3210, 0x4321, 0x5432, 0x6543};
    unsigned chain = a;
    for (int k = 0; k < 9; ++k) chain = permuted(chain, b + k, 0x6240u + k);
    const unsigned right[kKinds] = {permuted(a, b, 0x0123),
                                    permuted(a, b, 0x5410),
                                    permuted(a, b, 0xfb73),
                                    permuted(a, b, same),
                                    permuted(a, b, a ^ i * 2654435761u),
                                    permuted(0x80ff7f01u, same, 0x3210u + i),
                                    chain,
                                    permuted(a, b, forward[i & 3]),
                                    permuted(a, b, i & 1 ? 0x3232 : 0x1010)};
    for (int k = 0; k < kKinds; ++k) {
      if (out[i * kKinds + k] == right[k]) continue;
      if (++wrong <= 5) printf("kind %d of %d is %08x, not %08x\n", k, i, out[i * kKinds + k], right[k]);
    }
  }
  printf("%s\n", wrong || cudaGetLastError() ? "FAILED" : "PASSED");
  return wrong != 0;
}
