// Streams of dependent kernels, depth first and breadth first, and copies overlapped with kernels: who overlaps depends on
// the generation, which the only argument names by what it has: none (no overlap), single (hardware queue and copy
// engine), one (hardware queue) or many.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

static int failed = 0;
#define EXPECT(what) ((what) ? void() : (void)(failed = 1, printf("FAILED line %d: %s\n", __LINE__, #what)))

constexpr int kStreams = 4, kSteps = 4, kRounds = 100000;

__global__ void busy(float* x) {
  float v = threadIdx.x;
  for (int k = 0; k < kRounds; ++k) v = v * 0.999f + 0.25f;
  if (v == -1) *x = v;
}

__global__ void add_one(float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = x[i];
    for (int k = 0; k < 20; ++k) v += 0.05f;
    x[i] = v;
  }
}

static cudaEvent_t begin_event, end_event;

template <class Work>
float timed(Work&& work) {
  float ms = 0;
  cudaEventRecord(begin_event);
  work();
  cudaEventRecord(end_event);
  cudaEventSynchronize(end_event);
  cudaEventElapsedTime(&ms, begin_event, end_event);
  return ms;
}

int main(int count, char** words) {
  const char* kind = count > 1 ? words[1] : "many";
  cudaEventCreate(&begin_event);
  cudaEventCreate(&end_event);
  cudaStream_t streams[kStreams];
  for (auto& s : streams) cudaStreamCreate(&s);
  float* x;
  cudaMalloc(&x, 4);
  busy<<<1, 64>>>(x);  // a kernel's first launch takes longer
  add_one<<<1, 1>>>(x, 1);
  cudaDeviceSynchronize();

  const float one = timed([&] { busy<<<1, 64, 0, streams[0]>>>(x); });
  const float chain = timed([&] { for (int k = 0; k < kSteps; ++k) busy<<<1, 64, 0, streams[0]>>>(x); });
  const float depth = timed([&] { for (auto s : streams) for (int k = 0; k < kSteps; ++k) busy<<<1, 64, 0, s>>>(x); });
  const float breadth = timed([&] { for (int k = 0; k < kSteps; ++k) for (auto s : streams) busy<<<1, 64, 0, s>>>(x); });
  const float same = timed([&] { for (int k = 0; k < kSteps * kStreams; ++k) busy<<<1, 64>>>(x); });
  printf("%s: one %.4f chain %.4f depth %.4f breadth %.4f default stream %.4f\n", kind, one, chain, depth, breadth, same);
  EXPECT(chain > 3.4 * one && chain < 5 * one);
  EXPECT(same > 14 * one);
  if (!strcmp(kind, "none")) {
    EXPECT(depth > 14 * one && breadth > 14 * one);
  } else if (!strcmp(kind, "one") || !strcmp(kind, "single")) {
    EXPECT(depth > 12 * one && depth < 14.5 * one);  // only where one stream's last kernel meets the next one's first
    EXPECT(breadth < 1.3 * chain);
  } else {
    EXPECT(depth < 1.3 * chain);
    EXPECT(breadth < 1.3 * chain);
  }

  // A kernel of the default stream between two others keeps them apart.
  const float apart = timed([&] {
    busy<<<1, 64, 0, streams[0]>>>(x);
    busy<<<1, 64>>>(x);
    busy<<<1, 64, 0, streams[1]>>>(x);
  });
  EXPECT(apart > 2.7 * one);

  // An event makes the second stream wait for the first.
  cudaEvent_t ready;
  cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
  const float after = timed([&] {
    busy<<<1, 64, 0, streams[0]>>>(x);
    cudaEventRecord(ready, streams[0]);
    cudaStreamWaitEvent(streams[1], ready, 0);
    busy<<<1, 64, 0, streams[1]>>>(x);
  });
  EXPECT(after > 1.8 * one);

  // Chunks: copy, kernel, copy.
  const int n = 1 << 20;
  float *host, *device;
  cudaMallocHost(&host, n * 4);
  cudaMalloc(&device, n * 4);
  const auto chunks = [&](int parts) {
    const int m = n / parts;
    return timed([&] {
      for (int c = 0; c < parts; ++c) {
        cudaStream_t s = streams[c % kStreams];
        cudaMemcpyAsync(device + c * m, host + c * m, m * 4, cudaMemcpyHostToDevice, s);
        add_one<<<64, 256, 0, s>>>(device + c * m, m);
        cudaMemcpyAsync(host + c * m, device + c * m, m * 4, cudaMemcpyDeviceToHost, s);
      }
    });
  };
  const float whole = chunks(1), parts = chunks(4);
  printf("whole %.4f in parts %.4f\n", whole, parts);
  // A single engine has the first part's copy back before the second part's copy there, and that waits for the kernel.
  if (!strcmp(kind, "none") || !strcmp(kind, "single")) EXPECT(parts > 0.95 * whole);
  else EXPECT(parts < 0.85 * whole);
  puts(failed ? "FAILED" : "ok");
  return failed;
}
