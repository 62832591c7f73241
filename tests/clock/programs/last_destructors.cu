// What a program's last destructors ask for: variables of the main thread are gone by then.
#include <cuda_runtime.h>

#include <cstdio>

struct Last {
  int* x = nullptr;
  cudaEvent_t event{};
  cudaStream_t stream{};
  bool right = true;
  void asks(cudaError_t status) { right = right && status == cudaSuccess; }
  ~Last() {
    int one = 1, same = 0;
    asks(cudaMemcpyAsync(x, &one, sizeof one, cudaMemcpyHostToDevice, stream));
    asks(cudaEventRecord(event, stream));
    asks(cudaStreamSynchronize(stream));
    asks(cudaMemcpy(&same, x, sizeof same, cudaMemcpyDeviceToHost));
    asks(cudaEventDestroy(event));
    asks(cudaStreamDestroy(stream));
    asks(cudaFree(x));
    std::puts(right && same == one ? "all that was asked for" : "FAILED");
  }
} last;

int main() {
  last.asks(cudaMalloc(&last.x, sizeof(int)));
  last.asks(cudaEventCreate(&last.event));
  last.asks(cudaStreamCreate(&last.stream));
}
