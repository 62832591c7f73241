// The first calls of each kind, in the order of a program that begins with cudaMalloc.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

#include <cooperative_groups.h>
__global__ void a(float* x) { x[threadIdx.x] = 1; }
__global__ void b(float* x) { x[threadIdx.x] = 2; }
__global__ void c(float* x) { x[threadIdx.x] = 3; }
__global__ void big(float* x, int n) {
  float v[16];
  for (int i = 0; i < 16; ++i) v[i] = x[i * blockDim.x + threadIdx.x];
#pragma unroll
  for (int r = 0; r < 64; ++r)
    for (int i = 0; i < 16; ++i) v[i] = v[i] * v[(i + r) % 16] + sinf(v[(i + 3 + r) % 16]);
  for (int i = 0; i < n && i < 16; ++i) x[i * blockDim.x + threadIdx.x] = v[i];
}
__global__ void together(float* x) {
  cooperative_groups::this_grid().sync();
  x[threadIdx.x] = 4;
}
__device__ float variable[256];
__constant__ float constant[256];

int main() {
  float *x, *y, *pinned, *managed;
  std::vector<float> host(1 << 20, 1.f);
  double t = now_us();
  const auto lap = [&](const char* name) {
    std::printf("%s: %.3f us\n", name, now_us() - t);
    t = now_us();
  };
  CHECK(cudaMalloc(&x, 4 << 20));
  lap("malloc_with_context");
  CHECK(cudaMalloc(&y, 4 << 20));
  lap("second_malloc");
  CHECK(cudaMemcpy(x, host.data(), 4096, cudaMemcpyHostToDevice));
  lap("first_copy_4k");
  CHECK(cudaMemcpy(x, host.data(), 4096, cudaMemcpyHostToDevice));
  lap("second_copy_4k");
  CHECK(cudaMemcpy(x, host.data(), 4 << 20, cudaMemcpyHostToDevice));
  lap("first_copy_4m");
  CHECK(cudaMemcpy(x, host.data(), 4 << 20, cudaMemcpyHostToDevice));
  lap("second_copy_4m");
  cudaEvent_t e, f;
  CHECK(cudaEventCreate(&e));
  lap("first_event");
  CHECK(cudaEventCreate(&f));
  lap("second_event");
  CHECK(cudaEventRecord(e));
  lap("first_record");
  CHECK(cudaEventRecord(f));
  lap("second_record");
  a<<<1, 256>>>(x);
  lap("first_launch_call");
  CHECK(cudaDeviceSynchronize());
  lap("wait_for_first_launch");
  a<<<1, 256>>>(x);
  CHECK(cudaDeviceSynchronize());
  lap("second_launch");
  b<<<1, 256>>>(x);
  CHECK(cudaDeviceSynchronize());
  lap("launch_of_b");
  c<<<1, 256>>>(x);
  lap("launch_call_of_c");
  CHECK(cudaDeviceSynchronize());
  lap("wait_for_c");
  big<<<1, 256>>>(x, 16);
  CHECK(cudaDeviceSynchronize());
  lap("launch_of_big");
  big<<<1, 256>>>(x, 16);
  CHECK(cudaDeviceSynchronize());
  lap("second_launch_of_big");
  CHECK(cudaMemcpy(host.data(), x, 4096, cudaMemcpyDeviceToHost));
  lap("first_copy_back_4k");
  CHECK(cudaMemcpy(host.data(), x, 4096, cudaMemcpyDeviceToHost));
  lap("second_copy_back_4k");
  CHECK(cudaMemcpy(host.data(), x, 4 << 20, cudaMemcpyDeviceToHost));
  lap("first_copy_back_4m");
  CHECK(cudaMemcpy(host.data(), x, 4 << 20, cudaMemcpyDeviceToHost));
  lap("second_copy_back_4m");
  CHECK(cudaMemcpy(y, x, 4 << 20, cudaMemcpyDeviceToDevice));
  lap("first_copy_on_device_call");
  CHECK(cudaDeviceSynchronize());
  lap("wait_for_it");
  CHECK(cudaMemset(x, 0, 4 << 20));
  lap("first_fill_call");
  CHECK(cudaDeviceSynchronize());
  lap("wait_for_fill");
  CHECK(cudaMemcpyToSymbol(variable, host.data(), 1024));
  lap("first_symbol");
  CHECK(cudaMemcpyToSymbol(constant, host.data(), 1024));
  lap("first_constant");
  CHECK(cudaMemcpyToSymbol(constant, host.data(), 1024));
  lap("second_constant");
  CHECK(cudaMallocHost(&pinned, 4 << 20));
  lap("first_pinned_4m");
  CHECK(cudaMemcpyAsync(x, pinned, 4 << 20, cudaMemcpyHostToDevice, 0));
  CHECK(cudaDeviceSynchronize());
  lap("first_pinned_copy_4m");
  CHECK(cudaMemcpyAsync(x, pinned, 4 << 20, cudaMemcpyHostToDevice, 0));
  CHECK(cudaDeviceSynchronize());
  lap("second_pinned_copy_4m");
  CHECK(cudaMallocManaged(&managed, 4 << 20));
  lap("first_managed");
  cudaStream_t s, q;
  CHECK(cudaStreamCreate(&s));
  lap("first_stream");
  CHECK(cudaStreamCreateWithFlags(&q, cudaStreamNonBlocking));
  lap("second_stream");
  a<<<1, 256, 0, s>>>(x);
  CHECK(cudaStreamSynchronize(s));
  lap("first_launch_in_stream");
  a<<<1, 256, 0, q>>>(x);
  CHECK(cudaStreamSynchronize(q));
  lap("first_launch_in_second_stream");
  float* p;
  CHECK(cudaMallocAsync(&p, 1 << 20, s));
  lap("first_pool_malloc");
  CHECK(cudaFreeAsync(p, s));
  lap("first_pool_free");
  CHECK(cudaStreamSynchronize(s));
  lap("wait_for_pool");
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  lap("first_capture");
  for (int i = 0; i < 4; ++i) a<<<1, 256, 0, s>>>(x);
  lap("captured_4");
  cudaGraph_t g;
  CHECK(cudaStreamEndCapture(s, &g));
  lap("end_of_capture");
  cudaGraphExec_t ge;
  CHECK(cudaGraphInstantiate(&ge, g, 0));
  lap("first_instantiate");
  CHECK(cudaGraphLaunch(ge, s));
  lap("first_graph_launch_call");
  CHECK(cudaStreamSynchronize(s));
  lap("wait_for_graph");
  CHECK(cudaGraphLaunch(ge, s));
  CHECK(cudaStreamSynchronize(s));
  lap("second_graph_launch");
  void* arguments[] = {&x};
  CHECK(cudaLaunchCooperativeKernel((void*)together, dim3(2), dim3(256), arguments, 0, s));
  CHECK(cudaStreamSynchronize(s));
  lap("first_cooperative");
  CHECK(cudaLaunchHostFunc(s, [](void*) {}, nullptr));
  CHECK(cudaStreamSynchronize(s));
  lap("first_host_function");
  CHECK(cudaLaunchHostFunc(s, [](void*) {}, nullptr));
  CHECK(cudaStreamSynchronize(s));
  lap("second_host_function");
  size_t size, total;
  CHECK(cudaMemGetInfo(&size, &total));
  lap("first_mem_get_info");
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  lap("first_properties");
  CHECK(cudaFree(y));
  lap("first_free");
  CHECK(cudaFree(x));
  lap("second_free");
  CHECK(cudaFreeHost(pinned));
  lap("first_free_of_pinned_4m");
  CHECK(cudaFree(managed));
  lap("first_free_of_managed");
  CHECK(cudaStreamDestroy(s));
  lap("first_stream_end");
  CHECK(cudaEventDestroy(e));
  lap("first_event_end");
  CHECK(cudaDeviceReset());
  lap("device_reset");
  return 0;
}
