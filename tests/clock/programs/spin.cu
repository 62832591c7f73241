// Kernels that wait by their own clock take as long as they say; %globaltimer goes with it.
#include <cuda_runtime.h>

#include <cstdio>
#include <utility>

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

__global__ void __launch_bounds__(512) wait_only(long long ticks) {
  const long long start = clock64();
  while (clock64() - start < ticks) {}
}

__global__ void nap(unsigned ns, int times) {
#if __CUDA_ARCH__ >= 700
  for (int k = 0; k < times; ++k) __nanosleep(ns);
#endif
}

template <class Work>
static float milliseconds(Work&& work) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin);
  work();
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);
  return ms;
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

  // It takes as long with all warps that the device holds, and as long again for each further wave of blocks.
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  int per = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, wait_only, 512, 0);
  const int full = per * device.multiProcessorCount;
  wait_only<<<1, 512>>>(1);
  cudaDeviceSynchronize();
  const double one = 1.0 / 20;  // ms
  for (const auto& grid : {std::pair{1, 1}, {full, 1}, {full + 1, 2}, {2 * full, 2}}) {
    const int blocks = grid.first, waves = grid.second;
    ms = milliseconds([&] { wait_only<<<blocks, 512>>>(khz / 20); });
    printf("%d waves %.4f ms\n", waves, ms);
    EXPECT(ms > waves * one && ms < waves * one * 1.1 + 0.03);
  }
  if (device.major >= 7) {
    nap<<<1, 32>>>(10, 1);
    cudaDeviceSynchronize();
    ms = milliseconds([&] { nap<<<1, 32>>>(100000, 10); });
    printf("naps %.4f ms\n", ms);
    EXPECT(ms > 0.9f && ms < 2.2f);
  }
  puts(failed ? "FAILED" : "ok");
  return failed;
}
