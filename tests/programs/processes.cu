// Memory and events shared between processes: a parent exports an allocation and an event, its child adds to the memory.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    cudaError_t status_ = (call);                                                                  \
    if (status_ != cudaSuccess) {                                                                  \
      printf("[%d] %s:%d: %s\n", getpid(), __FILE__, __LINE__, cudaGetErrorString(status_));       \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

constexpr int kN = 3000;
__global__ void fill(int* p, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kN) p[i] = value + i;
}
__global__ void add(int* p, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kN) p[i] += value;
}

struct Message {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event;
};

int child(int from, int to) {
  Message m;
  if (read(from, &m, sizeof m) != sizeof m) return 1;
  int* p;
  cudaEvent_t e;
  CHECK(cudaIpcOpenMemHandle((void**)&p, m.memory, cudaIpcMemLazyEnablePeerAccess));
  CHECK(cudaIpcOpenEventHandle(&e, m.event));
  CHECK(cudaStreamWaitEvent(0, e, 0));  // until the parent's fill is done
  add<<<(kN + 255) / 256, 256>>>(p, 1000);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(e));
  CHECK(cudaEventSynchronize(e));
  CHECK(cudaIpcCloseMemHandle(p));
  if (cudaIpcCloseMemHandle(p) != cudaErrorInvalidValue) return 1;
  cudaGetLastError();
  CHECK(cudaEventDestroy(e));
  char ready = 1;
  return write(to, &ready, 1) == 1 ? 0 : 1;
}

int main() {
  // The child starts before the runtime is used: what a device holds does not survive a fork.
  int down[2], up[2];
  if (pipe(down) || pipe(up)) return 1;
  pid_t pid = fork();
  if (pid == 0) return child(down[0], up[1]);

  Message m;
  int *p, *copy = (int*)malloc(kN * sizeof(int));
  cudaEvent_t e, plain;
  CHECK(cudaMalloc(&p, kN * sizeof(int)));
  CHECK(cudaMemset(p, 1, kN * sizeof(int)));
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming | cudaEventInterprocess));
  CHECK(cudaEventCreate(&plain));
  CHECK(cudaIpcGetMemHandle(&m.memory, p));
  CHECK(cudaIpcGetEventHandle(&m.event, e));
  if (cudaIpcGetEventHandle(&m.event, plain) == cudaSuccess) return 1;
  CHECK(cudaIpcGetEventHandle(&m.event, e));
  void* same;
  if (cudaIpcOpenMemHandle(&same, m.memory, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess) return 1;
  cudaGetLastError();
  CHECK(cudaMemcpy(copy, p, sizeof(int), cudaMemcpyDeviceToHost));
  if (copy[0] != 0x01010101) return 1;  // exporting keeps the contents
  fill<<<(kN + 255) / 256, 256>>>(p, 5);
  CHECK(cudaEventRecord(e));
  char ready = 0;
  if (write(down[1], &m, sizeof m) != sizeof m || read(up[0], &ready, 1) != 1) return 1;
  CHECK(cudaMemcpy(copy, p, kN * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kN; i++)
    if (copy[i] != 5 + i + 1000) {
      printf("at %d: %d\n", i, copy[i]);
      return 1;
    }
  CHECK(cudaMemset(p, 0, kN * sizeof(int)));
  CHECK(cudaMemcpy(copy, p, sizeof(int), cudaMemcpyDeviceToHost));
  if (copy[0] != 0) return 1;
  CHECK(cudaEventDestroy(e));
  CHECK(cudaFree(p));
  free(copy);
  int status = 1;
  waitpid(pid, &status, 0);
  printf("%s\n", status == 0 ? "PASSED" : "the child failed");
  return status != 0;
}
