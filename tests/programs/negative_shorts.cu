// A negative number of 8 or 16 bits that all threads share, widened and added to their indices, wraps where it must.
#include <cstdio>

__global__ void widen(short s, signed char c, unsigned long long* out) {
  int i = threadIdx.x;
  unsigned a = static_cast<unsigned>(static_cast<int>(s)) + i, b = static_cast<unsigned>(static_cast<int>(c)) + 2 * i;
  out[3 * i] = a;
  out[3 * i + 1] = static_cast<unsigned long long>(b) * 3;
  out[3 * i + 2] = static_cast<unsigned long long>(static_cast<long long>(s)) | static_cast<unsigned>(i << 20);
}

int main() {
  const int n = 96;
  unsigned long long *out, host[3 * n];
  cudaMalloc(&out, sizeof host);
  int wrong = 0;
  for (int s : {-40, -32768, 40}) {
    const short narrow = static_cast<short>(s);
    const signed char byte = static_cast<signed char>(s);
    widen<<<1, n>>>(narrow, byte, out);
    if (cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    for (int i = 0; i < n; ++i) {
      const unsigned a = static_cast<unsigned>(narrow) + i, b = static_cast<unsigned>(byte) + 2 * i;
      wrong += host[3 * i] != a;
      wrong += host[3 * i + 1] != static_cast<unsigned long long>(b) * 3;
      wrong += host[3 * i + 2] != (static_cast<unsigned long long>(static_cast<long long>(narrow)) | static_cast<unsigned>(i << 20));
    }
  }
  printf("%d wrong\n%s\n", wrong, wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
