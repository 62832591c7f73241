// A counter and a small result in unified memory, which the host looks at after every kernel.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

static void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Work>
static double host_us(Work work) {
  const double begun = now_us();
  work();
  return now_us() - begun;
}

struct Work { int done, best; float values[254]; };
__global__ void step(Work* w, const float* big, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && big[i] > 2) atomicAdd(&w->best, 1);
  if (i == 0) ++w->done;
}

int main() {
  const int n = 1 << 16;
  Work* w;
  float* big;
  CHECK(cudaMallocManaged(&w, sizeof(Work)));
  CHECK(cudaMalloc(&big, n * sizeof(float)));
  CHECK(cudaMemset(big, 0, n * sizeof(float)));
  w->done = w->best = 0;
  step<<<n / 256, 256>>>(w, big, n);
  CHECK(cudaDeviceSynchronize());
  for (int rounds : {4, 40}) {
    int seen = 0;
    const double all = host_us([&] {
      for (int r = 0; r < rounds; ++r) {
        step<<<n / 256, 256>>>(w, big, n);
        CHECK(cudaDeviceSynchronize());
        seen += w->done;
      }
    });
    std::printf("rounds_of_%d_each: %.3f us\n", rounds, all / rounds);
    if (seen <= 0) return 1;
  }
}
