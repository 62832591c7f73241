// stream_order: four kernels in each of several streams, queued depth first, breadth first and with a default-stream
// kernel in between. Look at what each order promises: inside a stream always, between streams never, unless the
// default stream steps in (and even then not for streams made with cudaStreamNonBlocking).
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

constexpr int kStreams = 4, kSpin = 200;

__device__ unsigned ticket;  // handed out in the order in which kernels really run

// A little double-precision work, then a note of when it was done.
__device__ void work(int* when) {
  double sum = 0.0;
  for (int i = 0; i < kSpin; ++i) sum += tan(0.1) * tan(0.1);
  if (sum > 0.0) *when = (int)atomicAdd(&ticket, 1u);
}
__global__ void kernel_1(int* when) { work(when); }
__global__ void kernel_2(int* when) { work(when); }
__global__ void kernel_3(int* when) { work(when); }
__global__ void kernel_4(int* when) { work(when); }

int main() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);  // read once, before the first call
  cudaStream_t streams[kStreams];
  for (auto& stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamDefault));
  int* d_when;
  int when[kStreams][4];
  CHECK(cudaMalloc(&d_when, sizeof when));
  auto slot = [&](int stream, int kernel) { return d_when + stream * 4 + kernel; };

  int wrong = 0;
  auto check = [&](const char* name, bool default_stream_third) {
    CHECK(cudaGetLastError());
    for (auto& stream : streams) CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(when, d_when, sizeof when, cudaMemcpyDeviceToHost));
    int bad = 0;
    std::vector<bool> seen(kStreams * 4, false);
    for (int s = 0; s < kStreams; ++s) {
      for (int k = 0; k < 4; ++k) {
        if (when[s][k] < 0 || when[s][k] >= kStreams * 4 || seen[when[s][k]])
          ++bad;
        else
          seen[when[s][k]] = true;
        if (k > 0) bad += when[s][k] <= when[s][k - 1];
      }
      // A default-stream kernel waits for all that was queued before it and holds back all that comes after.
      if (default_stream_third && s > 0) bad += when[s][2] <= when[s - 1][3] || when[s][0] <= when[s - 1][2];
    }
    std::printf("%-24s %d order(s) broken\n", name, bad);
    wrong += bad;
    unsigned zero = 0;
    CHECK(cudaMemcpyToSymbol(ticket, &zero, sizeof zero));
    CHECK(cudaMemset(d_when, 0xff, sizeof when));
  };
  CHECK(cudaMemset(d_when, 0xff, sizeof when));

  for (int s = 0; s < kStreams; ++s) {
    kernel_1<<<1, 1, 0, streams[s]>>>(slot(s, 0));
    kernel_2<<<1, 1, 0, streams[s]>>>(slot(s, 1));
    kernel_3<<<1, 1, 0, streams[s]>>>(slot(s, 2));
    kernel_4<<<1, 1, 0, streams[s]>>>(slot(s, 3));
  }
  check("depth first", false);

  for (int s = 0; s < kStreams; ++s) kernel_1<<<1, 1, 0, streams[s]>>>(slot(s, 0));
  for (int s = 0; s < kStreams; ++s) kernel_2<<<1, 1, 0, streams[s]>>>(slot(s, 1));
  for (int s = 0; s < kStreams; ++s) kernel_3<<<1, 1, 0, streams[s]>>>(slot(s, 2));
  for (int s = 0; s < kStreams; ++s) kernel_4<<<1, 1, 0, streams[s]>>>(slot(s, 3));
  check("breadth first", false);

  for (int s = 0; s < kStreams; ++s) {
    kernel_1<<<1, 1, 0, streams[s]>>>(slot(s, 0));
    kernel_2<<<1, 1, 0, streams[s]>>>(slot(s, 1));
    kernel_3<<<1, 1>>>(slot(s, 2));
    kernel_4<<<1, 1, 0, streams[s]>>>(slot(s, 3));
  }
  check("default stream between", true);
  for (auto& stream : streams) CHECK(cudaStreamDestroy(stream));

  // Non-blocking streams ignore the default stream; their own order still holds.
  for (auto& stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  unsigned flags = 0;
  CHECK(cudaStreamGetFlags(streams[0], &flags));
  wrong += flags != cudaStreamNonBlocking;
  CHECK(cudaDeviceSynchronize());
  for (int s = 0; s < kStreams; ++s) {
    kernel_1<<<1, 1, 0, streams[s]>>>(slot(s, 0));
    kernel_2<<<1, 1, 0, streams[s]>>>(slot(s, 1));
    kernel_3<<<1, 1, 0, streams[s]>>>(slot(s, 2));
    kernel_4<<<1, 1, 0, streams[s]>>>(slot(s, 3));
  }
  check("non-blocking streams", false);
  cudaError_t state = cudaStreamQuery(streams[0]);
  wrong += state != cudaSuccess;  // everything above has been waited for
  for (auto& stream : streams) CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(d_when));
  std::printf("stream_order: %s\n", wrong ? "FAILED" : "all promised orders were kept");
  return wrong != 0;
}
