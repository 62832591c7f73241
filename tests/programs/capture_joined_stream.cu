// A stream that has been joined to the one whose work is captured may be destroyed before the capture ends.
#include <cstdio>
#define CHECK(call) if (cudaError_t e = call; e != cudaSuccess) return printf("line %d: %s\n", __LINE__, cudaGetErrorName(e)), 1

__global__ void set(int* p, int v) { *p = v; }
__global__ void add(int* p, const int* q) { *p += *q; }

// A program may call its own function as a compiler's builtin is called that CUDA's headers lack.
__device__ unsigned long long __globaltimer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}
__global__ void when(unsigned long long* t) { *t = __globaltimer(); }

int main() {
  int* d;
  CHECK(cudaMalloc(&d, 16));
  cudaStream_t first, second;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&join));
  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  set<<<1, 1, 0, first>>>(d, 3);
  CHECK(cudaEventRecord(fork, first));
  CHECK(cudaStreamWaitEvent(second, fork, 0));
  set<<<1, 1, 0, second>>>(d + 1, 4);
  CHECK(cudaEventRecord(join, second));
  CHECK(cudaStreamWaitEvent(first, join, 0));
  CHECK(cudaStreamDestroy(second));
  add<<<1, 1, 0, first>>>(d, d + 1);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(first, &graph));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  cudaGraphExec_t ready;
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  CHECK(cudaGraphLaunch(ready, first));
  CHECK(cudaStreamSynchronize(first));
  int sum = 0;
  unsigned long long time = 0;
  CHECK(cudaMemcpy(&sum, d, sizeof sum, cudaMemcpyDeviceToHost));
  when<<<1, 1>>>((unsigned long long*)(d + 2));
  CHECK(cudaMemcpy(&time, d + 2, sizeof time, cudaMemcpyDeviceToHost));
  printf("%zu nodes, %d\n", nodes, sum);
  return nodes != 3 || sum != 7 || time == 0;
}
