// Stream and event behaviour a scheduler must honour: queries, callbacks between kernels, many streams, legacy default
// stream rules, per-thread state, events across streams, elapsed times that are ordered, asynchronous frees.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__global__ void append(int* log, int* count, int value) { log[atomicAdd(count, 1)] = value; }
__global__ void busy(int* sink, int rounds) {
  unsigned x = threadIdx.x;
  for (int i = 0; i < rounds; i++) x = x * 1103515245u + 12345u;
  if (x == 42) *sink = x;
}
__global__ void fill(int* p, int v, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = v;
}

static std::atomic<int> g_order{0};
struct Note {
  int at = -1;
};
static void CUDART_CB note(void* p) { static_cast<Note*>(p)->at = g_order++; }

int main() {
  int bad = 0, *log, *count, h_log[64], zero = 0;
  CHECK(cudaMalloc(&log, sizeof h_log));
  CHECK(cudaMalloc(&count, sizeof(int)));
  CHECK(cudaMemcpy(count, &zero, sizeof zero, cudaMemcpyHostToDevice));
  cudaStream_t s[8];
  for (auto& x : s) CHECK(cudaStreamCreate(&x));

  // A chain through eight streams by events: the log must be in order.
  cudaEvent_t e[9];
  for (auto& x : e) CHECK(cudaEventCreate(&x));
  CHECK(cudaEventRecord(e[8], s[7]));
  for (int round = 0; round < 4; round++)
    for (int i = 0; i < 8; i++) {
      CHECK(cudaStreamWaitEvent(s[i], i ? e[i - 1] : round ? e[7] : e[8], 0));
      append<<<1, 1, 0, s[i]>>>(log, count, round * 8 + i);
      CHECK(cudaEventRecord(e[i], s[i]));
    }
  CHECK(cudaEventSynchronize(e[7]));
  CHECK(cudaMemcpy(h_log, log, sizeof h_log, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; i++) bad += h_log[i] != i;
  float ms = -1;
  for (int i = 1; i < 8; i++) {
    CHECK(cudaEventElapsedTime(&ms, e[i - 1], e[i]));
    bad += ms < 0;
  }
  printf("chain: %d wrong\n", bad);

  // Host functions run in stream order, and what follows waits for them.
  Note notes[6];
  for (int i = 0; i < 6; i++) {
    busy<<<1, 32, 0, s[0]>>>(log, 200);
    CHECK(cudaLaunchHostFunc(s[0], note, &notes[i]));
  }
  CHECK(cudaStreamSynchronize(s[0]));
  for (int i = 0; i < 6; i++) bad += notes[i].at != i;
  bad += cudaStreamQuery(s[0]) != cudaSuccess;

  // Work in the default stream sits between work of ordinary streams.
  int *a, *b, h_a[256], h_b[256];
  CHECK(cudaMalloc(&a, sizeof h_a));
  CHECK(cudaMalloc(&b, sizeof h_b));
  fill<<<1, 64, 0, s[1]>>>(a, 1, 256);
  CHECK(cudaMemcpyAsync(b, a, sizeof h_a, cudaMemcpyDeviceToDevice));
  fill<<<1, 64, 0, s[2]>>>(a, 2, 256);
  CHECK(cudaMemcpy(h_a, a, sizeof h_a, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(h_b, b, sizeof h_b, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; i++) bad += h_a[i] != 2 || h_b[i] != 1;

  // Recording an event again moves it; waiting sees the last record before the wait.
  CHECK(cudaEventRecord(e[0], s[3]));
  fill<<<1, 64, 0, s[3]>>>(a, 5, 256);
  CHECK(cudaEventRecord(e[0], s[3]));
  CHECK(cudaStreamWaitEvent(s[4], e[0], 0));
  CHECK(cudaMemcpyAsync(b, a, sizeof h_a, cudaMemcpyDeviceToDevice, s[4]));
  CHECK(cudaMemcpyAsync(h_b, b, sizeof h_b, cudaMemcpyDeviceToHost, s[4]));
  CHECK(cudaStreamSynchronize(s[4]));
  for (int i = 0; i < 256; i++) bad += h_b[i] != 5;
  printf("after events: %d wrong\n", bad);

  // Host threads: the last error and the chosen device belong to a thread, memory does not.
  bad += cudaSetDevice(99) == cudaSuccess;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      if (cudaPeekAtLastError() != cudaSuccess) wrong++;
      int *p, host[100];
      cudaStream_t mine;
      if (cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking) != cudaSuccess ||
          cudaMalloc(&p, sizeof host) != cudaSuccess)
        wrong++;
      for (int k = 0; k < 20; k++) {
        fill<<<2, 32, 0, mine>>>(p, t * 100 + k, 100);
        cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, mine);
        cudaStreamSynchronize(mine);
        for (int v : host) wrong += v != t * 100 + k;
      }
      cudaStreamDestroy(mine);
      cudaFree(p);
    });
  for (auto& t : threads) t.join();
  bad += wrong + (cudaGetLastError() != cudaErrorInvalidDevice);

  // A destroyed stream still finishes its work.
  fill<<<1, 64, 0, s[5]>>>(a, 9, 256);
  CHECK(cudaStreamDestroy(s[5]));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(h_a, a, sizeof h_a, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; i++) bad += h_a[i] != 9;
  for (auto& x : e) CHECK(cudaEventDestroy(x));
  CHECK(cudaDeviceReset());
  printf("callbacks_and_queries: %d wrong, %s\n", bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
