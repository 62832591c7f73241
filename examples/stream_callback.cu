// stream_callback: host functions queued into streams behind the kernels whose results they look at.
// Look at when each callback runs: after everything queued before it in its stream, before everything queued after it.
#include <cuda_runtime.h>

#include <atomic>
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

constexpr int kStreams = 4, kCount = 1024;

__global__ void add_one(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

struct Visit {
  int stream_number;
  int* mapped;  // host memory that the kernels write directly
  int seen = -1;
  bool status_ok = false;
};
static std::atomic<int> calls{0};

static void CUDART_CB look(cudaStream_t, cudaError_t status, void* data) {
  Visit* visit = static_cast<Visit*>(data);
  visit->status_ok = status == cudaSuccess;
  int sum = 0;
  for (int i = 0; i < kCount; ++i) sum += visit->mapped[i];
  visit->seen = sum;
  calls.fetch_add(1);
}

static void CUDART_CB look_simply(void* data) { look(nullptr, cudaSuccess, data); }

int main() {
  cudaStream_t streams[kStreams];
  Visit early[kStreams], late[kStreams];
  for (int s = 0; s < kStreams; ++s) {
    CHECK(cudaStreamCreate(&streams[s]));
    int* mapped;
    CHECK(cudaHostAlloc(&mapped, kCount * sizeof(int), cudaHostAllocMapped));
    for (int i = 0; i < kCount; ++i) mapped[i] = s;
    early[s].stream_number = late[s].stream_number = s;
    early[s].mapped = late[s].mapped = mapped;
  }
  for (int s = 0; s < kStreams; ++s) {
    int* device;
    CHECK(cudaHostGetDevicePointer(&device, early[s].mapped, 0));
    for (int k = 0; k < 4; ++k) add_one<<<kCount / 128, 128, 0, streams[s]>>>(device);
    CHECK(cudaStreamAddCallback(streams[s], look, &early[s], 0));
    for (int k = 0; k < 2; ++k) add_one<<<kCount / 128, 128, 0, streams[s]>>>(device);
    CHECK(cudaLaunchHostFunc(streams[s], look_simply, &late[s]));
  }
  for (auto& stream : streams) CHECK(cudaStreamSynchronize(stream));

  int failures = calls.load() != 2 * kStreams;
  for (int s = 0; s < kStreams; ++s) {
    bool right = early[s].status_ok && early[s].seen == kCount * (s + 4) && late[s].seen == kCount * (s + 6);
    std::printf("callbacks of stream %d saw %d and %d%s\n", s, early[s].seen, late[s].seen, right ? "" : "  WRONG");
    failures += !right;
    CHECK(cudaFreeHost(early[s].mapped));
    CHECK(cudaStreamDestroy(streams[s]));
  }
  std::printf("stream_callback: %d calls, %s\n", calls.load(), failures ? "FAILED" : "each at its place");
  return failures != 0;
}
