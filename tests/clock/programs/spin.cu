// Kernels that wait by their own clock take as long as they say; %globaltimer goes with it.
#include <cuda_runtime.h>

#include <cstdio>

static int failed = 0;
#define EXPECT(what) ((what) ? void() : (void)(failed = 1, printf("FAILED line %d: %s\n", __LINE__, #what)))

__global__ void spin(long long ticks, unsigned long long* timer) {
  unsigned long long before, after;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
  const long long start = clock64();
  while (clock64() - start < ticks) {}
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
  if (threadIdx.x == 0) timer[0] = after - before;
}

int main() {
  int khz = 0;
  cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
  unsigned long long *timer, seen[4];
  cudaMalloc(&timer, sizeof seen);
  cudaStream_t streams[4];
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (auto& s : streams) cudaStreamCreate(&s);
  const long long ticks = khz / 2;  // half a millisecond
  float ms = 0;
  spin<<<1, 32>>>(1, timer);  // a kernel's first launch takes longer
  cudaDeviceSynchronize();
  cudaEventRecord(begin);
  for (int k = 0; k < 4; ++k) spin<<<1, 32, 0, streams[k]>>>(ticks, timer + k);
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  cudaEventElapsedTime(&ms, begin, end);
  cudaMemcpy(seen, timer, sizeof seen, cudaMemcpyDeviceToHost);
  printf("%.4f ms, %llu ns\n", ms, seen[0]);
  EXPECT(ms > 0.49f && ms < 0.8f);  // side by side
  for (unsigned long long ns : seen) EXPECT(ns > 490000 && ns < 600000);
  puts(failed ? "FAILED" : "ok");
  return failed;
}
