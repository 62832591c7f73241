// What the host does: streams, events, managed and pinned memory, errors that nobody looks at. An argument picks the case.
#include "cases.h"

__global__ void set(int* p, int v) { p[blockIdx.x * blockDim.x + threadIdx.x] = v; }  // expect two_streams race_waw
__global__ void add(const int* p, int* q) { q[threadIdx.x] = p[threadIdx.x] + 1; }  // expect stream_reads_other race_raw
__global__ void wait_for(volatile int* flag) {
  while (!*flag) {
  }
}

const int kN = 256;
struct Data {
  int *p, *q, *pinned, *managed;
  cudaStream_t s, t;
  Data() {
    cudaMalloc(&p, kN * 4);
    cudaMalloc(&q, kN * 4);
    cudaMallocHost(&pinned, kN * 4);
    cudaMallocManaged(&managed, kN * 4);
    for (int k = 0; k < kN; ++k) pinned[k] = managed[k] = k;
    cudaMemset(p, 0, kN * 4);
    cudaMemset(q, 0, kN * 4);
    cudaDeviceSynchronize();
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    cudaFree(p);
    cudaFree(q);
    cudaFreeHost(pinned);
    cudaFree(managed);
  }
};

CASE(too_many_threads) {
  Data d;
  set<<<1, 2048>>>(d.p, 1);  // expect too_many_threads unchecked_error
}
CASE(too_many_threads_seen) {
  Data d;
  set<<<1, 2048>>>(d.p, 1);
  if (cudaGetLastError() == cudaSuccess) puts("accepted");
}
CASE(failed_copy_unseen) {
  Data d;
  cudaMemcpy(d.p, d.pinned, kN * 8, cudaMemcpyHostToDevice);  // expect failed_copy_unseen unchecked_error
}
CASE(failed_copy_seen) {
  Data d;
  cudaError_t status = cudaMemcpy(d.p, d.pinned, kN * 8, cudaMemcpyHostToDevice);
  if (status != cudaSuccess) puts("too long");
}
CASE(two_streams) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); set<<<1, kN, 0, d.t>>>(d.p, 2); }
CASE(one_stream) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); set<<<1, kN, 0, d.s>>>(d.p, 2); }
CASE(streams_apart) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); set<<<1, kN, 0, d.t>>>(d.q, 2); }
CASE(stream_reads_other) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); add<<<1, kN, 0, d.t>>>(d.p, d.q); }
CASE(stream_waits) {
  Data d;
  cudaEvent_t e;
  cudaEventCreate(&e);
  set<<<1, kN, 0, d.s>>>(d.p, 1);
  cudaEventRecord(e, d.s);
  cudaStreamWaitEvent(d.t, e, 0);
  add<<<1, kN, 0, d.t>>>(d.p, d.q);
  cudaDeviceSynchronize();
  cudaEventDestroy(e);
}
CASE(host_waits_between) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); cudaStreamSynchronize(d.s); add<<<1, kN, 0, d.t>>>(d.p, d.q); }
CASE(default_stream_orders) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); set<<<1, kN>>>(d.p, 3); add<<<1, kN, 0, d.t>>>(d.p, d.q); }
CASE(copy_overlaps_kernel) {
  Data d;
  set<<<1, kN, 0, d.s>>>(d.p, 1);
  cudaMemcpyAsync(d.pinned, d.p, kN * 4, cudaMemcpyDeviceToHost, d.t);  // expect copy_overlaps_kernel race_streams
}
CASE(copy_in_same_stream) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); cudaMemcpyAsync(d.pinned, d.p, kN * 4, cudaMemcpyDeviceToHost, d.s); }
CASE(kernel_overlaps_copy) {
  Data d;
  cudaMemcpyAsync(d.p, d.pinned, kN * 4, cudaMemcpyHostToDevice, d.s);  // expect kernel_overlaps_copy race_streams
  add<<<1, kN, 0, d.t>>>(d.p, d.q);
}
CASE(pipeline) {
  Data d;
  for (int k = 0; k < 2; ++k) {
    cudaStream_t s = k ? d.t : d.s;
    int half = kN / 2 * k;
    cudaMemcpyAsync(d.p + half, d.pinned + half, kN * 2, cudaMemcpyHostToDevice, s);
    add<<<1, kN / 2, 0, s>>>(d.p + half, d.q + half);
    cudaMemcpyAsync(d.pinned + half, d.q + half, kN * 2, cudaMemcpyDeviceToHost, s);
  }
}
CASE(non_blocking_stream) {
  Data d;
  cudaStream_t n;
  cudaStreamCreateWithFlags(&n, cudaStreamNonBlocking);
  cudaMemsetAsync(d.p, 1, kN * 4);  // expect non_blocking_stream race_streams
  add<<<1, kN, 0, n>>>(d.p, d.q);
  cudaDeviceSynchronize();
  cudaStreamDestroy(n);
}
CASE(managed_read_early) {
  Data d;
  set<<<1, kN>>>(d.managed, 5);
  printf("%d\n", d.managed[3]);  // expect managed_read_early host_race
}
CASE(managed_written_early) {
  Data d;
  add<<<1, kN>>>(d.managed, d.q);
  d.managed[7] = 1;  // expect managed_written_early host_race
}
CASE(managed_after_wait) { Data d; set<<<1, kN>>>(d.managed, 5); cudaDeviceSynchronize(); printf("%d\n", d.managed[3]); }
CASE(managed_elsewhere) { Data d; set<<<1, kN / 2>>>(d.managed, 5); d.managed[kN - 1] = 9; }
CASE(pinned_read_early) {
  Data d;
  cudaMemcpyAsync(d.pinned, d.p, kN * 4, cudaMemcpyDeviceToHost, d.s);
  printf("%d\n", d.pinned[3]);  // expect pinned_read_early host_race
}
CASE(pinned_reused_early) {
  Data d;
  cudaMemcpyAsync(d.p, d.pinned, kN * 4, cudaMemcpyHostToDevice, d.s);
  d.pinned[3] = 0;  // expect pinned_reused_early host_race
}
CASE(pinned_after_wait) { Data d; cudaMemcpyAsync(d.pinned, d.p, kN * 4, cudaMemcpyDeviceToHost, d.s); cudaStreamSynchronize(d.s); printf("%d\n", d.pinned[3]); }
CASE(pinned_after_event) {
  Data d;
  cudaEvent_t e;
  cudaEventCreate(&e);
  cudaMemcpyAsync(d.pinned, d.p, kN * 4, cudaMemcpyDeviceToHost, d.s);
  cudaEventRecord(e, d.s);
  cudaEventSynchronize(e);
  printf("%d\n", d.pinned[3]);
  cudaEventDestroy(e);
}
// A running kernel and the host meet at a volatile flag.
CASE(flag_for_running_kernel) {
  Data d;
  wait_for<<<1, 1, 0, d.s>>>(d.pinned);
  *(volatile int*)d.pinned = 1;
}
CASE(device_memory_on_host) {
  Data d;
  printf("%d\n", d.p[3]);  // expect device_memory_on_host device_pointer
}
