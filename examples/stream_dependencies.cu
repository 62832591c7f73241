// stream_dependencies: a diamond across four streams drawn with events, and streams of different priority.
// Look at cudaStreamWaitEvent: the host never waits, yet the last stream starts only after all the others are done.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

constexpr int kStreams = 4, kCount = 4096;

__global__ void fill(int* data, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) data[i] = value + i;
}
__global__ void branch(const int* source, int* out, int factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) out[i] = source[i] * factor;
}
__global__ void join(const int* parts, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kCount) return;
  int sum = 0;
  for (int s = 0; s < kStreams; ++s) sum += parts[s * kCount + i];
  out[i] = sum;
}

int main() {
  int least = 0, greatest = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  std::printf("stream priorities from %d (least) to %d (greatest)\n", least, greatest);
  int wrong = greatest > least;

  // Non-blocking streams: nothing but the events orders them.
  cudaStream_t streams[kStreams];
  for (int s = 0; s < kStreams; ++s) {
    int wanted = s % 2 == 0 ? greatest : least, got = 0;
    CHECK(cudaStreamCreateWithPriority(&streams[s], cudaStreamNonBlocking, wanted));
    CHECK(cudaStreamGetPriority(streams[s], &got));
    wrong += got != wanted;
  }
  cudaEvent_t ready, done[kStreams];
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  for (auto& event : done) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));

  int *d_source, *d_parts, *d_out;
  CHECK(cudaMalloc(&d_source, kCount * sizeof(int)));
  CHECK(cudaMalloc(&d_parts, kStreams * kCount * sizeof(int)));
  CHECK(cudaMalloc(&d_out, kCount * sizeof(int)));
  std::vector<int> out(kCount);

  for (int round = 0; round < 5; ++round) {
    CHECK(cudaMemset(d_parts, 0, kStreams * kCount * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    fill<<<kCount / 256, 256, 0, streams[0]>>>(d_source, round);
    CHECK(cudaEventRecord(ready, streams[0]));
    for (int s = 0; s < kStreams; ++s) {
      CHECK(cudaStreamWaitEvent(streams[s], ready, 0));
      branch<<<kCount / 256, 256, 0, streams[s]>>>(d_source, d_parts + s * kCount, s + 1);
      CHECK(cudaEventRecord(done[s], streams[s]));
      CHECK(cudaStreamWaitEvent(streams[kStreams - 1], done[s], 0));
    }
    join<<<kCount / 256, 256, 0, streams[kStreams - 1]>>>(d_parts, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(out.data(), d_out, kCount * sizeof(int), cudaMemcpyDeviceToHost, streams[kStreams - 1]));
    CHECK(cudaStreamSynchronize(streams[kStreams - 1]));
    for (int i = 0; i < kCount; ++i) wrong += out[i] != (round + i) * (1 + 2 + 3 + 4);
  }
  std::printf("five diamonds, %d results wrong\n", wrong);

  // An event made without timing cannot be asked for times.
  float ms = 0.0f;
  wrong += cudaEventElapsedTime(&ms, ready, done[0]) == cudaSuccess;
  cudaGetLastError();
  CHECK(cudaEventDestroy(ready));
  for (auto& event : done) CHECK(cudaEventDestroy(event));
  for (auto& stream : streams) CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(d_source));
  CHECK(cudaFree(d_parts));
  CHECK(cudaFree(d_out));
  std::printf("stream_dependencies: %s\n", wrong ? "FAILED" : "the join always came last");
  return wrong != 0;
}
