// Launches with attributes: what <<<>>> cannot say is a list for cudaLaunchKernelEx. What to see: the dependent kernel of
// a programmatic launch may begin before its predecessor has ended and waits for its results where it needs them; a
// stream's priority is an attribute, too, and streams can copy theirs.
#include <cstdio>
#include <cstring>

__global__ void produce(int* data, int n) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();  // whoever depends on this kernel may be started
#endif
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = 3 * i;
}

__global__ void consume(const int* data, int n, long long* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;  // all that does not need the data comes first
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  if (i < n) atomicAdd((unsigned long long*)sum, (unsigned long long)data[i]);
}

int main() {
  int n = 20000, least = 0, greatest = 0;
  int* data;
  long long *sum, host = 0;
  cudaMalloc(&data, n * sizeof(int));
  cudaMalloc(&sum, sizeof(long long));
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  cudaStream_t stream, other;
  cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);

  cudaMemsetAsync(sum, 0, sizeof(long long), stream);  // cudaMemset would not wait for a non-blocking stream, nor it for cudaMemset
  produce<<<(n + 127) / 128, 128, 0, stream>>>(data, n);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((n + 127) / 128);
  config.blockDim = dim3(128);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  bool good = cudaLaunchKernelEx(&config, consume, (const int*)data, n, sum) == cudaSuccess;
  // The same call as C knows it.
  const int* in = data;
  void* arguments[] = {&in, &n, &sum};
  good = cudaLaunchKernelExC(&config, (const void*)consume, arguments) == cudaSuccess && good;
  good = cudaStreamSynchronize(stream) == cudaSuccess && good;
  cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost);
  const long long expected = 3LL * n * (n - 1);  // twice the sum of 3 i
  good = good && host == expected;

  cudaStreamAttrValue value;
  std::memset(&value, 0, sizeof value);
  good = cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, &value) == cudaSuccess && value.priority == greatest && good;
  value.syncPolicy = cudaSyncPolicyBlockingSync;
  good = cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value) == cudaSuccess && good;
  good = cudaStreamCopyAttributes(other, stream) == cudaSuccess && good;
  std::memset(&value, 0, sizeof value);
  good = cudaStreamGetAttribute(other, cudaLaunchAttributeSynchronizationPolicy, &value) == cudaSuccess && value.syncPolicy == cudaSyncPolicyBlockingSync && good;
  cudaFree(data);
  cudaFree(sum);
  std::printf("sum %lld of %lld; priorities from %d to %d\n%s\n", host, expected, least, greatest, good ? "PASS" : "FAIL");
  return !good;
}
