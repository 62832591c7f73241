// Two processes, one piece of device memory. The parent allocates and fills it and hands out two handles, 64 bytes each,
// which the child turns into a pointer and an event of its own. What to see: the child's kernel changes what the parent
// reads, nothing is copied, and the event orders the two without either process waiting on the host.
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <vector>

extern char** environ;

__global__ void fill(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i;
}

__global__ void square(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= data[i];
}

constexpr int kCount = 10000;

struct Handles {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t filled;
};

int child(const char* path) {
  Handles handles;
  FILE* file = std::fopen(path, "rb");
  if (!file || std::fread(&handles, sizeof handles, 1, file) != 1) return 2;
  std::fclose(file);
  int* data;
  cudaEvent_t filled;
  if (cudaIpcOpenMemHandle((void**)&data, handles.memory, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) return 3;
  if (cudaIpcOpenEventHandle(&filled, handles.filled) != cudaSuccess) return 4;
  cudaStreamWaitEvent(0, filled, 0);
  square<<<(kCount + 255) / 256, 256>>>(data, kCount);
  if (cudaDeviceSynchronize() != cudaSuccess) return 5;
  cudaEventDestroy(filled);
  return cudaIpcCloseMemHandle(data) != cudaSuccess;
}

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "child") == 0) return child(argv[2]);
  int* data;
  cudaEvent_t filled;
  Handles handles;
  cudaMalloc(&data, kCount * sizeof(int));
  cudaEventCreateWithFlags(&filled, cudaEventDisableTiming | cudaEventInterprocess);
  fill<<<(kCount + 255) / 256, 256>>>(data, kCount);
  cudaEventRecord(filled);
  bool good = cudaIpcGetMemHandle(&handles.memory, data) == cudaSuccess && cudaIpcGetEventHandle(&handles.filled, filled) == cudaSuccess;

  char path[] = "/tmp/handles-XXXXXX";
  FILE* file = fdopen(mkstemp(path), "wb");
  std::fwrite(&handles, sizeof handles, 1, file);
  std::fclose(file);
  char word[] = "child";
  char* arguments[] = {argv[0], word, path, nullptr};
  pid_t pid;
  int status = -1;
  good = good && posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, arguments, environ) == 0 && waitpid(pid, &status, 0) == pid && status == 0;
  std::remove(path);

  std::vector<int> host(kCount);
  cudaMemcpy(host.data(), data, kCount * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < kCount; ++i) good = good && host[i] == i * i;
  std::printf("the child squared %d numbers of its parent: data[100] = %d\n%s\n", kCount, host[100], good ? "PASS" : "FAIL");
  cudaEventDestroy(filled);
  cudaFree(data);
  return !good;
}
