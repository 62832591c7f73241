// Many streams, events and threads: a right answer or an error, however many there are.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    cudaError_t status_ = (call);                                                         \
    if (status_ != cudaSuccess) {                                                         \
      printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));             \
      exit(1);                                                                            \
    }                                                                                     \
  } while (0)

__global__ void add(int* p, int by) { atomicAdd(p, by); }

int streams(int count) {
  int *p, host = 0;
  CHECK(cudaMalloc(&p, sizeof(int)));
  CHECK(cudaMemset(p, 0, sizeof(int)));
  CHECK(cudaDeviceSynchronize());
  std::vector<cudaStream_t> all(count);
  for (auto& s : all) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (auto& s : all) add<<<1, 1, 0, s>>>(p, 1);
  for (auto& s : all) CHECK(cudaStreamSynchronize(s));
  for (auto& s : all) CHECK(cudaStreamDestroy(s));
  CHECK(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDefault));
  CHECK(cudaFree(p));
  return host != count;
}

int events(int count) {
  std::vector<cudaEvent_t> all(count);
  for (auto& e : all) CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  for (auto& e : all) CHECK(cudaEventRecord(e));
  for (auto& e : all) CHECK(cudaStreamWaitEvent(0, e));
  CHECK(cudaEventSynchronize(all.back()));
  for (auto& e : all) CHECK(cudaEventDestroy(e));
  return 0;
}

int threads(int count, int rounds) {
  std::vector<std::thread> all;
  std::vector<int> wrong(count);
  for (int t = 0; t < count; ++t)
    all.emplace_back([=, &wrong] {
      unsigned seed = t + 1;
      cudaStream_t stream;
      CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      for (int r = 0; r < rounds; ++r) {
        int* p = nullptr;
        int host = -1, n = 1 + rand_r(&seed) % 5;
        const bool in_stream = rand_r(&seed) % 2;
        if (in_stream) CHECK(cudaMallocAsync(&p, 256 + rand_r(&seed) % 100000, stream));
        else CHECK(cudaMalloc(&p, 256 + rand_r(&seed) % 100000));
        CHECK(cudaMemsetAsync(p, 0, sizeof(int), stream));
        if (rand_r(&seed) % 3 == 0) {
          cudaGraph_t graph;
          cudaGraphExec_t exec;
          CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
          for (int k = 0; k < n; ++k) add<<<1, 32, 0, stream>>>(p, 1);
          CHECK(cudaStreamEndCapture(stream, &graph));
          CHECK(cudaGraphInstantiate(&exec, graph, 0));
          CHECK(cudaGraphLaunch(exec, stream));
          CHECK(cudaGraphDestroy(graph));
          CHECK(cudaStreamSynchronize(stream));
          CHECK(cudaGraphExecDestroy(exec));
        } else {
          for (int k = 0; k < n; ++k) add<<<1, 32, 0, stream>>>(p, 1);
        }
        CHECK(cudaMemcpyAsync(&host, p, sizeof host, cudaMemcpyDeviceToHost, stream));
        cudaEvent_t e;
        CHECK(cudaEventCreate(&e));
        CHECK(cudaEventRecord(e, stream));
        if (rand_r(&seed) % 2) CHECK(cudaEventSynchronize(e));
        CHECK(cudaEventDestroy(e));
        CHECK(cudaStreamSynchronize(stream));
        wrong[t] += host != 32 * n;
        if (in_stream) CHECK(cudaFreeAsync(p, stream));
        else CHECK(cudaFree(p));
        if (rand_r(&seed) % 8 == 0) {
          CHECK(cudaStreamDestroy(stream));
          CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        }
      }
      CHECK(cudaStreamDestroy(stream));
    });
  int sum = 0;
  for (int t = 0; t < count; ++t) all[t].join(), sum += wrong[t];
  return sum != 0;
}

int main(int n, char** v) {
  const char* what = n > 1 ? v[1] : "";
  const int count = n > 2 ? atoi(v[2]) : 0;
  int status = 0;
  if (!*what || !strcmp(what, "streams")) status |= streams(count ? count : 2000);
  if (!*what || !strcmp(what, "events")) status |= events(count ? count : 20000);
  if (!*what || !strcmp(what, "threads")) status |= threads(count ? count : 64, n > 3 ? atoi(v[3]) : 4);
  printf("%s\n", status ? "FAILED" : "PASSED");
  return status;
}
