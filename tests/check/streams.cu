// Order between streams, events, graphs and the host. An argument picks the case.
#include "cases.h"
#include <chrono>
#include <thread>

__global__ void add(int* p, int v) { p[blockIdx.x * blockDim.x + threadIdx.x] += v; }  // expect event_before_work race_raw; expect event_never_recorded race_raw; expect own_streams race_raw
__global__ void copy(const int* p, int* q) { q[blockIdx.x * blockDim.x + threadIdx.x] = p[blockIdx.x * blockDim.x + threadIdx.x]; }  // expect event_recorded_again race_raw
__global__ void total(const int* p, int* sum) { atomicAdd(sum, p[threadIdx.x]); }
__global__ void overwrite(int* p) { p[threadIdx.x] = threadIdx.x; }  // expect writer_after_reader race_war
__global__ void think_and_add(int* p, int steps) {
  int x = threadIdx.x;
  for (int k = 0; k < steps; ++k) x = x * 1664525 + (x >> 16);
  p[threadIdx.x] += x;
}
const int kN = 256;
struct Data {
  int *p, *q, *sum, *pinned, *managed;
  cudaStream_t s, t, u;
  cudaEvent_t e, f;
  Data() {
    cudaMalloc(&p, kN * 4);
    cudaMalloc(&q, kN * 4);
    cudaMalloc(&sum, 4);
    cudaMallocHost(&pinned, kN * 4);
    cudaMallocManaged(&managed, kN * 4);
    for (int k = 0; k < kN; ++k) pinned[k] = managed[k] = k;
    cudaMemset(p, 0, kN * 4);
    cudaMemset(q, 0, kN * 4);
    cudaMemset(sum, 0, 4);
    cudaDeviceSynchronize();
    cudaStreamCreate(&s);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaStreamCreate(&u);
    cudaEventCreate(&e);
    cudaEventCreateWithFlags(&f, cudaEventDisableTiming);
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    cudaStreamDestroy(u);
    cudaEventDestroy(e);
    cudaEventDestroy(f);
    cudaFree(p);
    cudaFree(q);
    cudaFree(sum);
    cudaFreeHost(pinned);
    cudaFree(managed);
  }
};
CASE(event_before_work) {
  Data d;
  cudaEventRecord(d.e, d.s);
  add<<<1, kN, 0, d.s>>>(d.p, 1);
  cudaStreamWaitEvent(d.u, d.e, 0);
  add<<<1, kN, 0, d.u>>>(d.p, 2);
}
CASE(event_never_recorded) {
  Data d;
  add<<<1, kN, 0, d.s>>>(d.p, 1);
  cudaStreamWaitEvent(d.u, d.e, 0);
  add<<<1, kN, 0, d.u>>>(d.p, 2);
}
CASE(event_recorded_again) {
  Data d;
  add<<<1, kN, 0, d.s>>>(d.p, 1);
  cudaEventRecord(d.e, d.s);
  cudaEventRecord(d.e, d.t);
  cudaStreamWaitEvent(d.u, d.e, 0);
  copy<<<1, kN, 0, d.u>>>(d.p, d.q);
}
CASE(three_streams_in_a_row) {
  Data d;
  add<<<1, kN, 0, d.s>>>(d.p, 1);
  cudaEventRecord(d.e, d.s);
  cudaStreamWaitEvent(d.t, d.e, 0);
  copy<<<1, kN, 0, d.t>>>(d.p, d.q);
  cudaEventRecord(d.f, d.t);
  cudaStreamWaitEvent(d.u, d.f, 0);
  add<<<1, kN, 0, d.u>>>(d.p, 2);
}
CASE(writer_after_reader) {
  Data d;
  copy<<<1, kN, 0, d.s>>>(d.p, d.q);
  overwrite<<<1, kN, 0, d.u>>>(d.p);
}
CASE(two_readers) {
  Data d;
  copy<<<1, kN, 0, d.s>>>(d.p, d.q);
  total<<<1, kN, 0, d.u>>>(d.p, d.sum);
}
CASE(atomics_of_two_streams) {
  Data d;
  total<<<1, kN, 0, d.s>>>(d.p, d.sum);
  total<<<1, kN, 0, d.u>>>(d.q, d.sum);
}
CASE(host_polls_stream) {
  Data d;
  add<<<1, kN, 0, d.s>>>(d.p, 1);
  while (cudaStreamQuery(d.s) != cudaSuccess) {}
  add<<<1, kN, 0, d.u>>>(d.p, 2);
}
CASE(host_polls_event) {
  Data d;
  add<<<1, kN, 0, d.s>>>(d.managed, 1);
  cudaEventRecord(d.e, d.s);
  while (cudaEventQuery(d.e) == cudaErrorNotReady) {}
  printf("%d\n", d.managed[1]);
}
CASE(wrong_stream_waited) {
  Data d;
  add<<<1, kN, 0, d.s>>>(d.managed, 1);
  cudaStreamSynchronize(d.u);
  printf("%d\n", d.managed[1]);  // expect wrong_stream_waited host_race
}
CASE(event_of_earlier_work_waited) {
  Data d;
  cudaEventRecord(d.e, d.s);
  add<<<1, kN, 0, d.s>>>(d.managed, 1);
  cudaEventSynchronize(d.e);
  printf("%d\n", d.managed[1]);  // expect event_of_earlier_work_waited host_race
}
CASE(copied_to_pageable) {
  Data d;
  static int h[kN];
  add<<<1, kN, 0, d.s>>>(d.p, 1);
  cudaMemcpyAsync(h, d.p, kN * 4, cudaMemcpyDeviceToHost, d.s);
  cudaStreamSynchronize(d.s);
  printf("%d\n", h[1]);
}
CASE(blocking_copy_waits) {
  Data d;
  add<<<1, kN>>>(d.p, 1);
  cudaMemcpy(d.pinned, d.p, kN * 4, cudaMemcpyDeviceToHost);
  printf("%d\n", d.pinned[1]);
}
CASE(blocking_copy_and_other_stream) {
  Data d;
  add<<<1, kN, 0, d.t>>>(d.p, 1);
  cudaMemcpy(d.pinned, d.p, kN * 4, cudaMemcpyDeviceToHost);  // expect blocking_copy_and_other_stream race_streams
}
CASE(host_function_orders) {
  Data d;
  add<<<1, kN, 0, d.s>>>(d.managed, 1);
  cudaLaunchHostFunc(d.s, [](void* p) { ((int*)p)[3] = 5; }, d.managed);
  add<<<1, kN, 0, d.s>>>(d.managed, 1);
  cudaStreamSynchronize(d.s);
  printf("%d\n", d.managed[3]);
}
CASE(forked_and_joined) {
  Data d;
  cudaGraph_t g;
  cudaGraphExec_t x;
  cudaStreamBeginCapture(d.s, cudaStreamCaptureModeGlobal);
  add<<<1, kN, 0, d.s>>>(d.p, 1);
  cudaEventRecord(d.e, d.s);
  cudaStreamWaitEvent(d.u, d.e, 0);
  add<<<1, kN, 0, d.u>>>(d.q, 1);
  cudaEventRecord(d.f, d.u);
  add<<<1, kN, 0, d.s>>>(d.p, 1);
  cudaStreamWaitEvent(d.s, d.f, 0);
  copy<<<1, kN, 0, d.s>>>(d.q, d.p);
  cudaStreamEndCapture(d.s, &g);
  cudaGraphInstantiate(&x, g, 0);
  for (int k = 0; k < 3; ++k) cudaGraphLaunch(x, d.s);
  cudaStreamSynchronize(d.s);
  cudaGraphExecDestroy(x);
  cudaGraphDestroy(g);
}
CASE(clear_and_other_stream) {  // cudaMemset waits for nobody, and nobody of a non-blocking stream for it
  Data d;
  int* p;
  cudaMalloc(&p, kN * 4);
  cudaMemset(p, 0, kN * 4);  // expect clear_and_other_stream race_streams
  add<<<1, kN, 0, d.t>>>(p, 1);
  cudaFree(p);
}
CASE(pool_freed_in_other_stream) {
  Data d;
  int* p;
  cudaMallocAsync(&p, kN * 4, d.s);
  cudaMemsetAsync(p, 0, kN * 4, d.s);
  add<<<1, kN, 0, d.s>>>(p, 1);
  cudaFreeAsync(p, d.u);  // expect pool_freed_in_other_stream race_streams
}
CASE(pool_used_in_other_stream) {
  Data d;
  int* p;
  cudaMallocAsync(&p, kN * 4, d.s);
  cudaMemsetAsync(p, 0, kN * 4, d.u);  // expect pool_used_in_other_stream race_streams
  cudaStreamSynchronize(d.u);
  cudaFreeAsync(p, d.u);
}
CASE(pool_freed_after_event) {
  Data d;
  int* p;
  cudaMallocAsync(&p, kN * 4, d.s);
  cudaMemsetAsync(p, 0, kN * 4, d.s);
  cudaEventRecord(d.e, d.s);
  cudaStreamWaitEvent(d.u, d.e, 0);
  add<<<1, kN, 0, d.u>>>(p, 1);
  cudaFreeAsync(p, d.u);
}
CASE(managed_while_other_kernel_runs) {
  Data d;
  add<<<1, kN, 0, d.s>>>(d.p, 1);
  d.managed[3] = 7;
  cudaDeviceSynchronize();
}
CASE(managed_struct_field) {
  Data d;
  add<<<1, kN / 2>>>(d.managed, 1);
  d.managed[kN / 2 - 1] += 1;  // expect managed_struct_field host_race
  cudaDeviceSynchronize();
}
CASE(mapped_flag) {  // zero-copy memory, read after the wait
  int *h, *p;
  cudaHostAlloc(&h, 1024, cudaHostAllocMapped);
  for (int k = 0; k < 256; ++k) h[k] = k;
  cudaHostGetDevicePointer(&p, h, 0);
  add<<<1, 256>>>(p, 1);
  cudaDeviceSynchronize();
  printf("%d\n", h[5]);
  cudaFreeHost(h);
}
CASE(mapped_read_early) {
  int *h, *p;
  cudaHostAlloc(&h, 4096, cudaHostAllocMapped);
  for (int k = 0; k < 256; ++k) h[k] = k;
  cudaHostGetDevicePointer(&p, h, 0);
  add<<<1, 256>>>(p, 1);
  printf("%d\n", h[5]);  // expect mapped_read_early host_race
  cudaDeviceSynchronize();
  cudaFreeHost(h);
}
CASE(copy_issued_while_the_kernel_runs) {
  Data d;
  think_and_add<<<1, 32, 0, d.t>>>(d.p, 300000);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  cudaMemcpyAsync(d.pinned, d.p, kN * 4, cudaMemcpyDeviceToHost, d.t);
  cudaStreamSynchronize(d.t);
  printf("%d\n", d.pinned[5]);
}
CASE(own_streams) {
  Data d;
  std::thread a([&] { add<<<1, kN, 0, d.s>>>(d.p, 1); });
  a.join();
  std::thread b([&] { add<<<1, kN, 0, d.u>>>(d.p, 1); });
  b.join();
}
CASE(freed_while_running) {  // cudaFree waits
  Data d;
  int* p;
  cudaMalloc(&p, kN * 4);
  cudaMemset(p, 0, kN * 4);
  cudaDeviceSynchronize();
  add<<<1, kN, 0, d.t>>>(p, 1);
  cudaFree(p);
}

// --- graphs
__global__ void fill(int* p, int v) { p[threadIdx.x] = v; }  // expect graph_nodes_apart race_waw
template <bool kEdge>
static void two_nodes() {
  Data d;
  int one = 1, two = 2;
  void* first[] = {&d.p, &one};
  void* second[] = {&d.p, &two};
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t a, b;
  cudaKernelNodeParams params = {};
  params.func = (void*)fill;
  params.gridDim = dim3(1);
  params.blockDim = dim3(kN);
  params.kernelParams = first;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddKernelNode(&a, graph, nullptr, 0, &params);
  params.kernelParams = second;
  cudaGraphAddKernelNode(&b, graph, &a, kEdge ? 1 : 0, &params);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int k = 0; k < 2; ++k) cudaGraphLaunch(exec, d.s);
  cudaStreamSynchronize(d.s);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}
CASE(graph_nodes_in_order) { two_nodes<true>(); }
CASE(graph_nodes_apart) { two_nodes<false>(); }

// A fork and a join; the branches share memory or not.
static void fork_and_join(bool same) {
  Data d;
  cudaEvent_t forked, joined;
  cudaEventCreate(&forked);
  cudaEventCreate(&joined);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(d.s, cudaStreamCaptureModeGlobal);
  fill<<<1, kN, 0, d.s>>>(d.p, 1);
  cudaEventRecord(forked, d.s);
  cudaStreamWaitEvent(d.t, forked, 0);
  fill<<<1, kN / 2, 0, d.s>>>(d.p, 2);
  cudaMemsetAsync(d.p + (same ? 0 : kN / 2), 0, kN * 2, d.t);
  cudaEventRecord(joined, d.t);
  cudaStreamWaitEvent(d.s, joined, 0);
  copy<<<1, kN, 0, d.s>>>(d.p, d.q);
  cudaStreamEndCapture(d.s, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int k = 0; k < 3; ++k) cudaGraphLaunch(exec, d.s);  // expect graph_branches_meet race_streams
  fill<<<1, kN, 0, d.s>>>(d.q, 3);
  cudaStreamSynchronize(d.s);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaEventDestroy(forked);
  cudaEventDestroy(joined);
}
CASE(graph_branches_apart) { fork_and_join(false); }
CASE(graph_branches_meet) { fork_and_join(true); }

// Launches of one instance come one after the other in whatever streams, those of two instances of one graph do not.
__global__ void count(int* p) { p[threadIdx.x]++; }  // expect graph_instances_apart race_raw
static void in_two_streams(bool same) {
  Data d;
  cudaGraph_t graph;
  cudaGraphExec_t exec, other;
  cudaStreamBeginCapture(d.s, cudaStreamCaptureModeGlobal);
  count<<<1, kN, 0, d.s>>>(d.p);
  cudaStreamEndCapture(d.s, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphInstantiate(&other, graph, 0);
  cudaGraphLaunch(exec, d.s);
  cudaGraphLaunch(same ? exec : other, d.t);
  cudaGraphLaunch(same ? exec : other, d.t);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(exec);
  cudaGraphExecDestroy(other);
  cudaGraphDestroy(graph);
}
CASE(graph_instance_in_turn) { in_two_streams(true); }
CASE(graph_instances_apart) { in_two_streams(false); }

// --- variables: their copies in other streams than the kernels
__constant__ int weights[16];
__device__ int table[kN];
__global__ void weigh(int* p) { p[threadIdx.x] += weights[threadIdx.x % 16] + weights[1]; }  // expect constants_apart race_streams; expect constants_too_early race_streams
__global__ void look_up(int* p) { p[threadIdx.x] = table[threadIdx.x]; }                      // expect table_apart race_streams
__global__ void swap_table(int* p) { table[threadIdx.x] = p[threadIdx.x]; }
CASE(constants_apart) {
  Data d;
  cudaMemcpyToSymbolAsync(weights, d.pinned, 64, 0, cudaMemcpyHostToDevice, d.s);
  weigh<<<1, kN, 0, d.u>>>(d.p);
}
CASE(constants_too_early) {
  Data d;
  weigh<<<1, kN, 0, d.u>>>(d.p);
  cudaMemcpyToSymbolAsync(weights, d.pinned, 64, 0, cudaMemcpyHostToDevice, d.s);
}
CASE(constants_in_turn) {
  Data d;
  for (int k = 0; k < 3; ++k) {
    cudaMemcpyToSymbolAsync(weights, d.pinned, 64, 0, cudaMemcpyHostToDevice, d.s);
    cudaEventRecord(d.e, d.s);
    cudaStreamWaitEvent(d.u, d.e, 0);
    weigh<<<1, kN, 0, d.u>>>(d.p);
    cudaEventRecord(d.f, d.u);
    cudaStreamWaitEvent(d.s, d.f, 0);
  }
}
CASE(other_constants) {
  Data d;
  cudaMemcpyToSymbol(weights, d.pinned, 64);
  weigh<<<1, kN, 0, d.u>>>(d.p);
  cudaMemcpyToSymbolAsync(table, d.pinned, 64, 0, cudaMemcpyHostToDevice, d.s);
}
CASE(table_apart) {
  Data d;
  cudaMemcpyToSymbolAsync(table, d.pinned, kN * 4, 0, cudaMemcpyHostToDevice, d.s);
  look_up<<<1, kN, 0, d.u>>>(d.p);
}
CASE(table_in_turn) {
  Data d;
  cudaMemcpyToSymbolAsync(table, d.pinned, kN * 4, 0, cudaMemcpyHostToDevice, d.s);
  look_up<<<1, kN, 0, d.s>>>(d.p);
  swap_table<<<1, kN, 0, d.s>>>(d.q);
}
