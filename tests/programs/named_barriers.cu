// Named barriers through PTX: a producer warp and consumer warps on barriers of their own, arrive without waiting,
// and reductions across a barrier.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__device__ void sync(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
__device__ void arrive(int id, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

// Warp 0 produces into one of two buffers, warps 1..3 consume the other.
__global__ void pipeline(int rounds, int* out) {
  __shared__ int buffer[2][32];
  const int full[2] = {1, 2}, empty[2] = {3, 4}, all = 128;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
  if (warp == 0) {
    for (int r = 0; r < rounds; r++) {
      int b = r & 1;
      if (r >= 2) sync(empty[b], all);
      buffer[b][lane] = r * 100 + lane;
      arrive(full[b], all);
    }
  } else {
    for (int r = 0; r < rounds; r++) {
      int b = r & 1;
      sync(full[b], all);
      sum += buffer[b][(lane + warp) % 32];
      if (r + 2 < rounds) arrive(empty[b], all);
    }
    out[blockIdx.x * 96 + threadIdx.x - 32] = sum;
  }
}

// Two halves of a block each with a barrier: neither waits for the other.
__global__ void halves(int* out) {
  __shared__ int data[128];
  int half = threadIdx.x / 64, t = threadIdx.x % 64;
  for (int i = 0; i <= half * 3; i++) {
    data[threadIdx.x] = t + i;
    sync(5 + half, 64);
    int other = data[half * 64 + 63 - t];
    sync(5 + half, 64);
    data[threadIdx.x] = other;
  }
  out[threadIdx.x] = data[threadIdx.x];
}

__global__ void reductions(int* out) {
  int t = threadIdx.x, count, all, any;
  asm volatile(
      "{\n\t.reg .pred p, q, r;\n\tsetp.lt.s32 p, %3, 40;\n\t"
      "bar.red.popc.u32 %0, 7, p;\n\tbar.red.and.pred q, 7, p;\n\tbar.red.or.pred r, 7, p;\n\t"
      "selp.s32 %1, 1, 0, q;\n\tselp.s32 %2, 1, 0, r;\n\t}"
      : "=r"(count), "=r"(all), "=r"(any)
      : "r"(t)
      : "memory");
  out[t] = count * 100 + all * 10 + any;
}

int main() {
  const int rounds = 20, blocks = 3;
  int out[blocks * 96], *d_out, bad = 0;
  CHECK(cudaMalloc(&d_out, sizeof out));
  pipeline<<<blocks, 128>>>(rounds, d_out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < blocks * 96; i++) {
    int t = i % 96 + 32, source = (t % 32 + t / 32) % 32;
    bad += out[i] != 100 * rounds * (rounds - 1) / 2 + rounds * source;
  }
  halves<<<1, 128>>>(d_out);
  CHECK(cudaMemcpy(out, d_out, 128 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int t = 0; t < 128; t++) bad += out[t] != 63 - t % 64 + t / 64 * 3;
  reductions<<<1, 96>>>(d_out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, d_out, 96 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int t = 0; t < 96; t++) bad += out[t] != 4001;
  printf("named_barriers: %d wrong, %s\n", bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
