// events: marks in a stream that the host can wait for, ask about and measure between; and work the host does
// meanwhile. Look at the loop around cudaEventQuery: it counts while the device copies and computes.
#include <cuda_runtime.h>
#include <sys/time.h>

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

__global__ void increment(int* data, int value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += value;
}

static double seconds() {
  timeval now;
  gettimeofday(&now, nullptr);
  return now.tv_sec + now.tv_usec * 1e-6;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 20, value = 26;
  const size_t bytes = n * sizeof(int);
  int *h_data, *d_data, failures = 0;
  CHECK(cudaMallocHost(&h_data, bytes));
  CHECK(cudaMalloc(&d_data, bytes));
  for (int i = 0; i < n; ++i) h_data[i] = i;

  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  failures += cudaEventQuery(stop) != cudaSuccess;  // never recorded counts as done

  double host_start = seconds();
  CHECK(cudaEventRecord(start));
  CHECK(cudaMemcpyAsync(d_data, h_data, bytes, cudaMemcpyHostToDevice));
  increment<<<(n + 511) / 512, 512>>>(d_data, value, n);
  CHECK(cudaMemcpyAsync(h_data, d_data, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaEventRecord(stop));

  unsigned long counter = 0;
  cudaError_t state;
  while ((state = cudaEventQuery(stop)) == cudaErrorNotReady) ++counter;
  CHECK(state);
  double host_time = seconds() - host_start;

  float device_ms = -1.0f;
  CHECK(cudaEventElapsedTime(&device_ms, start, stop));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += h_data[i] != i + value;
  failures += wrong != 0 || device_ms < 0.0f || host_time < 0.0;
  std::printf("the host counted %s the device worked, %d results wrong\n", counter ? "while" : "nothing before", wrong);

  // A thread that waits for a blocking-sync event sleeps instead of spinning.
  cudaEvent_t blocking, untimed, plain, shared;
  CHECK(cudaEventCreateWithFlags(&blocking, cudaEventBlockingSync));
  CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&plain, cudaEventDefault));
  CHECK(cudaEventCreateWithFlags(&shared, cudaEventInterprocess | cudaEventDisableTiming));  // may cross processes
  increment<<<(n + 511) / 512, 512>>>(d_data, -value, n);
  CHECK(cudaEventRecord(blocking, 0));
  CHECK(cudaEventRecord(untimed, 0));
  CHECK(cudaEventRecord(plain, 0));
  CHECK(cudaEventRecord(shared, 0));
  CHECK(cudaEventSynchronize(blocking));
  CHECK(cudaEventSynchronize(untimed));
  CHECK(cudaEventSynchronize(plain));
  CHECK(cudaEventSynchronize(shared));
  failures += cudaEventQuery(blocking) != cudaSuccess;
  CHECK(cudaMemcpy(h_data, d_data, bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) failures += h_data[i] != i;

  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaEventDestroy(blocking));
  CHECK(cudaEventDestroy(untimed));
  CHECK(cudaEventDestroy(plain));
  CHECK(cudaEventDestroy(shared));
  CHECK(cudaFreeHost(h_data));
  CHECK(cudaFree(d_data));
  std::printf("events: %s\n", failures ? "FAILED" : "marks were reached in order");
  return failures != 0;
}
