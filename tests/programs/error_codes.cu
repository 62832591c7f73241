// Faults inside kernels, each in a child process: what is reported, when, and that it sticks to the context.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

__global__ void write_null(int* p) { *p = 1; }
__global__ void write_far(int* p) { p[1ull << 36] = 1; }
__global__ void misaligned(char* p) { *(int*)(p + 1) = 5; }
__global__ void trap() { asm volatile("trap;"); }
__global__ void fine(int* p) { *p = 3; }

// Runs in a child; 0 means as expected.
static int run(std::function<void(int*)> launch, cudaError_t wanted) {
  int *d, value = 0;
  if (cudaMalloc(&d, 64) != cudaSuccess) return 10;
  fine<<<1, 1>>>(d);
  if (cudaMemcpy(&value, d, 4, cudaMemcpyDeviceToHost) != cudaSuccess || value != 3) return 11;
  launch(d);
  if (cudaGetLastError() != cudaSuccess) return 12;  // the launch is accepted
  cudaError_t got = cudaDeviceSynchronize();
  if (got != wanted) {
    fprintf(stdout, "    got %s, wanted %s\n", cudaGetErrorName(got), cudaGetErrorName(wanted));
    fflush(stdout);
    return 13;
  }
  if (cudaGetLastError() != wanted) return 14;
  if (cudaMalloc(&d, 64) != wanted) return 15;  // everything fails from now on
  if (cudaMemcpy(&value, d, 4, cudaMemcpyDeviceToHost) == cudaSuccess) return 16;
  fine<<<1, 1>>>(d);
  if (cudaGetLastError() != wanted) return 17;
  return 0;
}

// Launches that cannot be: the runtime says "invalid configuration", some versions "invalid value".
static bool refused(cudaError_t e) { return e == cudaErrorInvalidConfiguration || e == cudaErrorInvalidValue; }

static int failures = 0;

static void child(const char* name, std::function<int()> body) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
  printf("%-28s %s", name, code == 0 ? "ok\n" : "");
  if (code != 0) printf("WRONG (%d)\n", code), failures++;
}

int main() {
  child("null pointer", [] { return run([](int*) { write_null<<<1, 1>>>(nullptr); }, cudaErrorIllegalAddress); });
  child("far out of bounds", [] { return run([](int* p) { write_far<<<1, 1>>>(p); }, cudaErrorIllegalAddress); });
  child("misaligned address",
        [] { return run([](int* p) { misaligned<<<1, 1>>>((char*)p); }, cudaErrorMisalignedAddress); });
  child("trap instruction", [] { return run([](int*) { trap<<<1, 1>>>(); }, cudaErrorLaunchFailure); });
  child("kernel error at a copy", [] {
    int *d, value;
    if (cudaMalloc(&d, 4) != cudaSuccess) return 1;
    write_null<<<1, 1>>>(nullptr);
    return cudaMemcpy(&value, d, 4, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress ? 0 : 2;
  });
  child("kernel error at an event", [] {
    cudaEvent_t e;
    if (cudaEventCreate(&e) != cudaSuccess) return 1;
    write_null<<<1, 1>>>(nullptr);
    cudaEventRecord(e);
    return cudaEventSynchronize(e) == cudaErrorIllegalAddress ? 0 : 2;
  });
  child("wrong configurations", [] {
    int *d, v = 0;
    if (cudaMalloc(&d, 4) != cudaSuccess) return 1;
    const dim3 bad_blocks[] = {dim3(0), dim3(1025), dim3(33, 32), dim3(1, 1025), dim3(1, 1, 65)};
    for (dim3 b : bad_blocks) {
      fine<<<1, b>>>(d);
      if (!refused(cudaGetLastError())) return 2;
    }
    const dim3 bad_grids[] = {dim3(0), dim3(1, 0), dim3(1, 65536), dim3(1, 1, 65536), dim3(0x80000000u)};
    for (dim3 g : bad_grids) {
      fine<<<g, 1>>>(d);
      if (!refused(cudaGetLastError())) return 3;
    }
    fine<<<dim3(1, 65535), 1>>>(d);
    fine<<<1, dim3(16, 1, 64)>>>(d);
    if (cudaGetLastError() != cudaSuccess) return 4;
    if (cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost) != cudaSuccess || v != 3) return 5;
    return 0;
  });
  child("bad arguments", [] {
    int *d, host[4];
    void* p = nullptr;
    if (cudaMalloc(nullptr, 4) != cudaErrorInvalidValue) return 1;
    if (cudaMalloc(&p, 0) != cudaSuccess || p != nullptr) return 2;
    if (cudaMalloc(&d, 16) != cudaSuccess) return 3;
    if (cudaMemcpy(d, host, 32, cudaMemcpyHostToDevice) == cudaSuccess) return 4;  // past the end of the allocation
    if (cudaMemcpy(nullptr, d, 4, cudaMemcpyDeviceToHost) == cudaSuccess) return 5;
    if (cudaMemset(nullptr, 0, 4) == cudaSuccess) return 6;
    if (cudaFree((char*)d + 4) != cudaErrorInvalidValue) return 7;
    if (cudaEventElapsedTime(nullptr, nullptr, nullptr) == cudaSuccess) return 8;
    if (cudaStreamDestroy((cudaStream_t) nullptr) == cudaSuccess) return 9;
    if (cudaGetDevice(nullptr) != cudaErrorInvalidValue) return 10;
    if (cudaFuncSetAttribute(fine, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 24) == cudaSuccess) return 11;
    if (cudaMemcpyToSymbol(host, host, 4) != cudaErrorInvalidSymbol) return 12;
    cudaGetLastError();
    fine<<<1, 1>>>(d);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 13;
  });
  printf("error_codes: %s\n", failures ? "FAILED" : "PASSED");
  return failures != 0;
}
