// 64 host threads allocate, launch, capture, copy, wait and destroy at random, each with its own streams and data; every result is compared.
//   thread_storm [seconds [seed]]     1 second if not told otherwise; the sanitizer of threads runs it for ten minutes
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

constexpr int kThreads = 64, kElements = 1024;
std::atomic<int> wrong{0};
std::atomic<long> done{0};

#define CHECK(call)                                                                      \
  do {                                                                                   \
    if (const cudaError_t e = (call); e != cudaSuccess) {                                \
      if (wrong++ < 10) std::printf("line %d: %s\n", __LINE__, cudaGetErrorName(e)); \
      return;                                                                            \
    }                                                                                    \
  } while (false)

__global__ void add(int* data, int by) { data[blockIdx.x * blockDim.x + threadIdx.x] += by; }
__global__ void add_shared(int* data, int by) {
  __shared__ int tile[128];
  tile[threadIdx.x] = data[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  data[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x ^ 0] + by;
}

void one(std::mt19937& random, std::vector<int>& host) {
  const auto below = [&](unsigned n) { return random() % n; };
  cudaStream_t stream;
  CHECK(below(2) ? cudaStreamCreate(&stream) : cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const bool ordered = below(2);
  int* data;
  CHECK(ordered ? cudaMallocAsync(&data, kElements * sizeof(int), stream) : cudaMalloc(&data, kElements * sizeof(int)));
  CHECK(cudaMemsetAsync(data, 0, kElements * sizeof(int), stream));
  int expected = 0;
  const int steps = 1 + static_cast<int>(below(6));
  for (int k = 0; k < steps; ++k) {
    const int by = static_cast<int>(below(100));
    switch (below(5)) {
      case 0:
        add<<<kElements / 128, 128, 0, stream>>>(data, by);
        expected += by;
        break;
      case 1:
        add_shared<<<kElements / 128, 128, 0, stream>>>(data, by);
        expected += by;
        break;
      case 2: {
        cudaGraph_t graph;
        cudaGraphExec_t ready;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
        add<<<kElements / 128, 128, 0, stream>>>(data, by);
        add_shared<<<kElements / 128, 128, 0, stream>>>(data, 1);
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&ready, graph, 0));
        CHECK(cudaGraphDestroy(graph));
        const int times = static_cast<int>(below(3));
        for (int n = 0; n < times; ++n) CHECK(cudaGraphLaunch(ready, stream));
        CHECK(cudaGraphExecDestroy(ready));  // while it may run
        expected += times * (by + 1);
        break;
      }
      case 3: {
        cudaEvent_t event;
        cudaStream_t other;
        CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        CHECK(cudaStreamCreate(&other));
        CHECK(cudaEventRecord(event, stream));
        CHECK(cudaStreamWaitEvent(other, event, 0));
        add<<<kElements / 128, 128, 0, other>>>(data, by);
        CHECK(cudaEventRecord(event, other));
        CHECK(cudaStreamWaitEvent(stream, event, 0));
        CHECK(cudaEventDestroy(event));
        CHECK(cudaStreamDestroy(other));  // with work in it
        expected += by;
        break;
      }
      default: {
        static std::atomic<int> called{0};
        CHECK(cudaLaunchHostFunc(stream, [](void*) { ++called; }, nullptr));
        size_t free, total;
        CHECK(cudaMemGetInfo(&free, &total));
      }
    }
  }
  CHECK(cudaMemcpyAsync(host.data(), data, kElements * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(ordered ? cudaFreeAsync(data, stream) : cudaSuccess);
  CHECK(cudaStreamSynchronize(stream));
  if (!ordered) CHECK(cudaFree(data));
  CHECK(cudaStreamDestroy(stream));
  for (const int v : host)
    if (v != expected && wrong++ < 10) std::printf("%d instead of %d\n", v, expected);
  ++done;
}

int main(int count, char** words) {
  const double seconds = count > 1 ? std::atof(words[1]) : 1;
  const unsigned seed = count > 2 ? static_cast<unsigned>(std::atoi(words[2])) : std::random_device{}();
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([=] {
      std::mt19937 random(seed + t);
      std::vector<int> host(kElements);
      do one(random, host);
      while (!wrong && std::chrono::steady_clock::now() < end);
    });
  for (auto& t : threads) t.join();
  if (cudaDeviceSynchronize() != cudaSuccess) ++wrong;
  std::printf("%ld rounds of %d threads, %d wrong (seed %u)\n", done.load(), kThreads, wrong.load(), seed);
  return wrong ? 1 : 0;
}
