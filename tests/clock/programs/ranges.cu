// Ranges of NVTX within each other, around calls that ask the device for something.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

__global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

int main() {
  const int n = 1 << 16;
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  nvtxRangePushA("step");
  nvtxRangePushA("fill");
  cudaMemset(x, 0, n * sizeof(float));
  nvtxRangePop();
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  event.message.unicode = L"compute \u00b5";
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("inner");
  nvtxDomainRangePushEx(domain, &event);
  for (int k = 0; k < 3; ++k) twice<<<n / 256, 256>>>(x, n);
  nvtxDomainRangePop(domain);
  cudaDeviceSynchronize();
  nvtxRangePop();
  cudaFree(x);
  return 0;
}
