// Two devices of one process: what goes on at once, what waits for the other device, and copies between them.
#include <cuda_runtime.h>
#include <time.h>

#include <cstdio>

static int failed = 0;
#define EXPECT(what) ((what) ? void() : (void)(failed = 1, printf("FAILED line %d: %s\n", __LINE__, #what)))
#define MUST(call)                                                                                              \
  do                                                                                                            \
    if (const cudaError_t e = (call)) return printf("line %d: %s\n", __LINE__, cudaGetErrorString(e)), 1;       \
  while (0)

constexpr size_t kBytes = 64 << 20;

__global__ void busy(float* x) {
  float v = *x;
  for (int k = 0; k < 20000; ++k) v = v * 0.999f + 0.5f;
  *x = v;
}

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

struct On {
  cudaStream_t stream, other;
  float *data, *from;
};

int main() {
  int count = 0;
  MUST(cudaGetDeviceCount(&count));
  if (count != 2) return printf("%d devices\n", count), 1;
  On on[2];
  for (int d = 0; d < 2; ++d) {
    MUST(cudaSetDevice(d));
    MUST(cudaDeviceEnablePeerAccess(1 - d, 0));
    MUST(cudaStreamCreate(&on[d].stream));
    MUST(cudaStreamCreate(&on[d].other));
    MUST(cudaMalloc(&on[d].data, kBytes));
    MUST(cudaMalloc(&on[d].from, kBytes));
    MUST(cudaMemset(on[d].from, 0, kBytes));
    busy<<<1, 1, 0, on[d].stream>>>(on[d].data);
  }
  for (int d = 0; d < 2; ++d) MUST(cudaMemcpyPeer(on[d].data, d, on[1 - d].from, 1 - d, 4));
  const auto both_idle = [&] {
    for (int d = 0; d < 2; ++d) cudaSetDevice(d), cudaDeviceSynchronize();
  };
  const auto timed = [&](auto&& work) {
    both_idle();
    const double from = now();
    work();
    both_idle();
    return now() - from;
  };
  const auto run = [&](int d) {
    cudaSetDevice(d);
    busy<<<1, 1, 0, on[d].stream>>>(on[d].data);
  };
  const auto copy = [&](int to, cudaStream_t stream) { cudaMemcpyPeerAsync(on[to].data, to, on[1 - to].from, 1 - to, kBytes, stream); };

  // Kernels of two devices run side by side.
  const double one = timed([&] { run(0); });
  const double both = timed([&] { run(0), run(1); });
  EXPECT(both < 1.3 * one);

  // A copy between them: faster than by the host, one way beside the other, and beside kernels.
  const double there = timed([&] { copy(1, on[0].stream); });
  float *device = on[0].data, *pinned;
  MUST(cudaMallocHost(&pinned, kBytes));
  MUST(cudaSetDevice(0));
  const double host = timed([&] {
    cudaMemcpyAsync(pinned, device, kBytes, cudaMemcpyDeviceToHost, on[0].stream);
    cudaMemcpyAsync(device, pinned, kBytes, cudaMemcpyHostToDevice, on[0].stream);
  });
  EXPECT(there < host);
  const double ways = timed([&] { copy(1, on[0].stream), copy(0, on[1].stream); });
  EXPECT(ways < 1.3 * there);
  const double again = timed([&] { copy(1, on[0].stream), copy(1, on[0].other); });
  EXPECT(again > 1.8 * there);
  const double beside = timed([&] { run(0), copy(1, on[0].other); });
  EXPECT(beside < 1.3 * (one > there ? one : there));

  // What one device does waits for an event of the other one: kernel, copy, kernel.
  cudaEvent_t computed, arrived;
  MUST(cudaSetDevice(0));
  MUST(cudaEventCreateWithFlags(&computed, cudaEventDisableTiming));
  MUST(cudaSetDevice(1));
  MUST(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
  const double chain = timed([&] {
    run(0);
    EXPECT(cudaEventRecord(computed, on[0].stream) == cudaSuccess);
    cudaSetDevice(1);
    cudaStreamWaitEvent(on[1].stream, computed, 0);
    copy(1, on[1].stream);
    EXPECT(cudaEventRecord(arrived, on[1].stream) == cudaSuccess);
    cudaStreamWaitEvent(on[1].other, arrived, 0);
    busy<<<1, 1, 0, on[1].other>>>(on[1].from);
  });
  EXPECT(chain > 1.6 * one + 0.8 * there && chain < 1.3 * (2 * one + there));

  // Meanwhile the first device goes on with what it is asked for later.
  const double meanwhile = timed([&] {
    run(0);
    cudaEventRecord(computed, on[0].stream);
    cudaSetDevice(1);
    cudaStreamWaitEvent(on[1].stream, computed, 0);
    run(1);
    cudaSetDevice(0);
    for (int k = 0; k < 2; ++k) busy<<<1, 1, 0, on[0].other>>>(on[0].from);
  });
  EXPECT(meanwhile < 2.5 * one);

  // Copies of cudaMemcpyDefault by address are the same copies, and cudaMemcpyPeer waits.
  const double by_address = timed([&] { cudaSetDevice(0), cudaMemcpyAsync(on[1].data, on[0].from, kBytes, cudaMemcpyDefault, on[0].stream); });
  EXPECT(by_address > 0.9 * there && by_address < 1.1 * there);
  both_idle();
  const double from = now();
  cudaMemcpyPeer(on[1].data, 1, on[0].from, 0, kBytes);
  both_idle();
  EXPECT(now() - from > 0.95 * there);

  printf("kernel %.4f both %.4f; copy %.4f (%.1f GB/s) by the host %.4f both ways %.4f two %.4f beside %.4f; chain %.4f meanwhile %.4f ms\n", one, both, there, kBytes / there * 1e-6, host,
         ways, again, beside, chain, meanwhile);
  puts(failed ? "FAILED" : "ok");
  return failed;
}
