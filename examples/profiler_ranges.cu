// Names for the parts of a program: NVTX ranges nest around phases, and cudaProfilerStart and Stop say which part a
// profiler should look at. What to see: without a profiler nothing happens and nothing is slower; nvtxRangePush returns the
// depth it has reached.
#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>

struct Range {  // pops when its scope ends
  int depth;
  explicit Range(const char* name) : depth(nvtxRangePushA(name)) {}
  ~Range() { nvtxRangePop(); }
};

__global__ void step(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 0.5f * x[i] + 1;
}

int main() {
  const int n = 4096;
  float* x;
  float last = -1;
  {
    Range all("setup");
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    step<<<n / 256, 256>>>(x, n);  // warms up; not for the profiler
    cudaDeviceSynchronize();
  }
  bool good = cudaProfilerStart() == cudaSuccess;
  {
    Range all("iterations");
    for (int k = 1; k < 10; ++k) {
      nvtxEventAttributes_t attributes = {};
      attributes.version = NVTX_VERSION;
      attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
      attributes.colorType = NVTX_COLOR_ARGB;
      attributes.color = 0xff00a0ff;
      attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
      attributes.message.ascii = "step";
      nvtxRangePushEx(&attributes);
      step<<<n / 256, 256>>>(x, n);
      nvtxRangePop();
    }
    nvtxMarkA("launched");
    cudaDeviceSynchronize();
  }
  good = cudaProfilerStop() == cudaSuccess && good;
  cudaMemcpy(&last, x + n - 1, sizeof last, cudaMemcpyDeviceToHost);
  const float expected = 2 - 1.f / 512;  // 1, 1.5, 1.75, … ten times
  good = good && last == expected;
  std::printf("x = %g after ten steps\n%s\n", last, good ? "PASS" : "FAIL");
  cudaFree(x);
  return !good;
}
