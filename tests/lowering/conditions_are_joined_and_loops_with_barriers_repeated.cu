// `while (a && b)` branches once a turn where b takes a few instructions, and loops with barriers take four turns as one; the swap is predicated, but
// jumped over where it has no lanes. Roots stay behind their condition. That a block has at most 1024 threads says nothing of a loop's length. So nvcc and
// the vendor's assembler have it.
// run: warpbeam assembly -arch=sm_90 %s
// expect: out in orbits has 2 of / BRA/
// expect: out in swaps has 5 of BAR.SYNC
// expect: out in swaps has 5 of BSSY
// expect: out in swaps has 10 of /@P[0-9] STS/
// expect: out in tile at least 5 of / LDG/
// expect: out in hits lacks SEL
__global__ void orbits(float* o, int limit) {
  float a = o[threadIdx.x], x = 0, y = 0;
  int n = 0;
  while (n < limit && x * x + y * y < 4) {
    float next = x * x - y * y + a;
    y = 2 * x * y + a;
    x = next;
    ++n;
  }
  o[threadIdx.x] = n;
}
__global__ void swaps(unsigned* p, int n) {
  __shared__ unsigned s[256];
  const int t = threadIdx.x;
  s[t] = p[t];
  for (int phase = 0; phase < n; ++phase) {
    __syncthreads();
    int i = 2 * t + phase % 2;
    if (i + 1 < n && s[i] > s[i + 1]) {
      unsigned v = s[i];
      s[i] = s[i + 1];
      s[i + 1] = v;
    }
  }
  p[t] = s[t];
}
__global__ void tile(const float* p, float* o) {
  __shared__ float s[1024];
  for (int i = threadIdx.x; i < 1024; i += 256) s[i % 32 * 32 + i / 32] = p[blockIdx.x * 1024 + i];
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x ^ 33];
}
__global__ void hits(float* o, float b) {
  float d = o[threadIdx.x];
  o[threadIdx.x] = d < 0 ? 1e30f : -b - sqrtf(d);
}
int main() {}
