// concurrent_kernels: many small kernels in many streams, one of which has to wait for all the others.
// Look at the last stream: events from every other stream gate its kernel, which adds up what they left.
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

__global__ void one_part(double* out, int part, int terms) {  // a slice of the series for pi / 4
  double sum = 0.0;
  for (int k = 0; k < terms; ++k) {
    int n = part * terms + k;
    sum += (n % 2 == 0 ? 1.0 : -1.0) / (2.0 * n + 1.0);
  }
  out[part] = sum;
}

__global__ void add_parts(const double* parts, int count, double* out) {
  double sum = 0.0;
  for (int i = 0; i < count; ++i) sum += parts[i];
  *out = 4.0 * sum;
}

int main(int argc, char** argv) {
  const int kernels = argc > 1 ? std::atoi(argv[1]) : 16, terms = 500, streams_count = kernels + 1;
  std::vector<cudaStream_t> streams(streams_count);
  std::vector<cudaEvent_t> events(streams_count);
  for (auto& stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (auto& event : events) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  double *d_parts, *d_pi, pi = 0.0;
  CHECK(cudaMalloc(&d_parts, kernels * sizeof(double)));
  CHECK(cudaMalloc(&d_pi, sizeof(double)));

  for (int i = 0; i < kernels; ++i) {
    one_part<<<1, 1, 0, streams[i]>>>(d_parts, i, terms);
    CHECK(cudaEventRecord(events[i], streams[i]));
    CHECK(cudaStreamWaitEvent(streams[streams_count - 1], events[i], 0));
  }
  add_parts<<<1, 1, 0, streams[streams_count - 1]>>>(d_parts, kernels, d_pi);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyAsync(&pi, d_pi, sizeof pi, cudaMemcpyDeviceToHost, streams[streams_count - 1]));
  CHECK(cudaStreamSynchronize(streams[streams_count - 1]));

  double expected = 0.0;
  for (int i = 0; i < kernels; ++i) {
    double sum = 0.0;
    for (int k = 0; k < terms; ++k) {
      int n = i * terms + k;
      sum += (n % 2 == 0 ? 1.0 : -1.0) / (2.0 * n + 1.0);
    }
    expected += sum;
  }
  expected *= 4.0;
  for (auto& event : events) CHECK(cudaEventDestroy(event));
  for (auto& stream : streams) CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(d_parts));
  CHECK(cudaFree(d_pi));
  bool ok = pi - expected < 1e-12 && expected - pi < 1e-12;
  std::printf("concurrent_kernels: %d kernels found pi to be %.9f, %s\n", kernels, pi,
              ok ? "as the host did" : "FAILED");
  return ok ? 0 : 1;
}
