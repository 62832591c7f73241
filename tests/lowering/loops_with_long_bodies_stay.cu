// A long body stays once, where no array becomes registers by copies of it, and a short one is copied as the program says.
// run: nvcc -ptx %s
// expect: err is empty
// expect: ptx in short_body has 9 of bar.sync
// expect: ptx in long_body has 1 of bar.sync
// expect: ptx lacks __local_depot
#define ONCE p[threadIdx.x] += p[(p[threadIdx.x + s] ^ s) & 1023] / 3;
#define FIVE ONCE ONCE ONCE ONCE ONCE
#define TWENTY FIVE FIVE FIVE FIVE
__global__ void short_body(int* p) {
#pragma unroll
  for (int s = 1; s < 400; s *= 2) {
    ONCE ONCE ONCE ONCE
    __syncthreads();
  }
}
__global__ void long_body(int* p) {
#pragma unroll
  for (int s = 1; s < 400; s *= 2) {
    TWENTY TWENTY TWENTY TWENTY TWENTY
    __syncthreads();
  }
}
// Registers that three rounds use by turns.
__global__ void turns(const float* p, float* q) {
  float own[3][12], sums[144] = {};
#pragma unroll
  for (int k = 0; k < 24; ++k) {
#pragma unroll
    for (int i = 0; i < 12; ++i) own[k % 3][i] = p[64 * k + i];
#pragma unroll
    for (int i = 0; i < 144; ++i) sums[i] += own[k % 3][i / 12] * own[(k + 2) % 3][i % 12];
  }
  for (int i = 0; i < 144; ++i) q[i] = sums[i];
}
