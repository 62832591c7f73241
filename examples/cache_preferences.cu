// cache_preferences: telling the runtime how a kernel wants on-chip memory to be divided, and using a lot of it.
// Look at cudaFuncSetAttribute: shared memory beyond 48 KiB is dynamic only and must be asked for first.
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

__global__ void reverse(int* data, int n) {
  extern __shared__ int whole[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) whole[i] = data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = whole[n - 1 - i];
}

static int run(int* d_data, int n) {
  std::vector<int> data(n);
  for (int i = 0; i < n; ++i) data[i] = i * i;
  CHECK(cudaMemcpy(d_data, data.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  reverse<<<1, 256, n * sizeof(int)>>>(d_data, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(data.data(), d_data, n * sizeof(int), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += data[i] != (n - 1 - i) * (n - 1 - i);
  return wrong;
}

int main() {
  int *d_data, failures = 0;
  CHECK(cudaMalloc(&d_data, 128 * 1024));
  const cudaFuncCache preferences[] = {cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1,
                                       cudaFuncCachePreferEqual};
  for (cudaFuncCache preference : preferences) {
    cudaFuncCache now;
    CHECK(cudaDeviceSetCacheConfig(preference));
    CHECK(cudaDeviceGetCacheConfig(&now));
    CHECK(cudaFuncSetCacheConfig(reverse, preference));
    failures += run(d_data, 1000);
  }
  std::printf("four preferences, one result: %d wrong\n", failures);

  // Deprecated since banks stopped being configurable, but still there.
  cudaSharedMemConfig banks;
  CHECK(cudaDeviceGetSharedMemConfig(&banks));
  CHECK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));  // accepted, even where banks are fixed
  failures += run(d_data, 1000);
  CHECK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeFourByte));
  failures += run(d_data, 1000);
  CHECK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeDefault));

  int optin = 0;
  CHECK(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  const int large = 16 * 1024;  // 64 KiB of integers
  if (optin >= large * (int)sizeof(int)) {
    reverse<<<1, 256, large * sizeof(int)>>>(d_data, large);
    cudaError_t refused = cudaGetLastError();
    CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, large * sizeof(int)));
    int wrong = run(d_data, large);
    std::printf("64 KiB: %s without asking, then %d wrong\n", refused != cudaSuccess ? "refused" : "ACCEPTED", wrong);
    failures += wrong + (refused == cudaSuccess);
  } else {
    std::printf("this device has no more than %d bytes for a block\n", optin);
  }
  CHECK(cudaFree(d_data));
  std::printf("cache_preferences: %s\n", failures ? "FAILED" : "hints change speed, not results");
  return failures != 0;
}
