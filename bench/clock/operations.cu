// Many operations of one kind, for what the device's clock costs our host: operations WHAT COUNT.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void nothing() {}
__global__ void add_one(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += 1;
}

int main(int words, char** word) {
  if (words < 3) return 2;
  const char* what = word[1];
  const int count = std::atoi(word[2]);
  const auto is = [&](const char* name) { return !std::strcmp(what, name); };
  int *pinned = nullptr, *device;
  if (is("copy") || is("launch_beside_pinned")) cudaMallocHost(&pinned, 1024);
  cudaMalloc(&device, 64 * 1024);
  cudaStream_t streams[4];
  for (cudaStream_t& s : streams) cudaStreamCreate(&s);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  for (int k = 0; k < count; ++k) {
    if (is("launch") || is("launch_beside_pinned")) nothing<<<1, 1, 0, streams[0]>>>();
    else if (is("launch_four_streams")) nothing<<<1, 1, 0, streams[k % 4]>>>();
    else if (is("launch_that_writes")) add_one<<<1, 64, 0, streams[0]>>>(device, 64);
    else if (is("launch_of_blocks")) add_one<<<8, 64, 0, streams[0]>>>(device, 512);
    else if (is("launch_and_wait")) nothing<<<1, 1, 0, streams[0]>>>(), cudaStreamSynchronize(streams[0]);
    else if (is("copy")) cudaMemcpyAsync(device, pinned, 64, cudaMemcpyHostToDevice, streams[0]);
    else if (is("fill")) cudaMemsetAsync(device, 0, 64, streams[0]);
    else if (is("record")) cudaEventRecord(event, streams[0]);
    else if (is("record_and_wait")) cudaEventRecord(event, streams[0]), cudaStreamWaitEvent(streams[1], event, 0);
    else return 2;
    if (k % 1000 == 999) cudaDeviceSynchronize();
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
