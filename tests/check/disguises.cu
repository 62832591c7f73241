// Mistakes that hide behind something harmless, and what looks like them and is right. An argument picks the case.
#include <cuda_runtime.h>

#include "cases.h"

struct Ints {
  int* at;
  explicit Ints(int n) {
    cudaMalloc(&at, n * sizeof(int));
    cudaMemset(at, 0, n * sizeof(int));
  }
  ~Ints() {
    cudaDeviceSynchronize();
    cudaFree(at);
  }
  operator int*() { return at; }
};

// Each thread stores one element too many, which the next has stored already: in an earlier round of the same instruction.
__global__ void fill(int* out, int count) {
  for (int i = 0; i < count; ++i) out[4 * threadIdx.x + i] = i;  // expect one_too_many race_waw
}
CASE(one_too_many) { fill<<<1, 32>>>(Ints(160), 5); }
CASE(just_enough) { fill<<<1, 32>>>(Ints(160), 4); }

// Windows that overlap, but whoever stores an element stores the same value.
__global__ void overlapping(const int* in, int* out) {
  __shared__ int tile[34];
  for (int i = 0; i < 3; ++i) tile[threadIdx.x + i] = in[threadIdx.x + i];
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x] + tile[threadIdx.x + 2];
}
CASE(same_values) {
  int numbers[34];
  for (int k = 0; k < 34; ++k) numbers[k] = k;
  Ints in(34);
  cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  overlapping<<<1, 32>>>(in, Ints(32));
}

// Thread 0 is the first to count, after its own store.
template <bool kBarrier>
__global__ void count_all(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;  // expect counter_unsynced race_waw
  if (kBarrier) __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = count;
}
CASE(counter_unsynced) { count_all<false><<<1, 128>>>(Ints(1)); }
CASE(counter_synced) { count_all<true><<<1, 128>>>(Ints(1)); }

// The barrier puts the store before the atomics of its own block, and before nobody else's.
template <bool kOwn>
__global__ void count_in_blocks(int* counts) {
  int* const count = kOwn ? counts + blockIdx.x : counts;
  if (threadIdx.x == 0 && (kOwn || blockIdx.x == 0)) *count = 0;  // expect counter_of_first_block race_waw
  __syncthreads();
  atomicAdd(count, 1);
}
CASE(counter_of_first_block) { count_in_blocks<false><<<3, 64>>>(Ints(1)); }
CASE(counters_of_blocks) { count_in_blocks<true><<<3, 64>>>(Ints(3)); }

// The same behind a flag that is set after a fence.
__global__ void count_after_flag(int* count, volatile int* ready) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) *count = 0;
    __syncthreads();
    atomicAdd(count, 1);
    if (threadIdx.x == 0) __threadfence(), *ready = 1;
  } else {
    if (threadIdx.x == 0) while (!*ready) continue;
    __syncthreads();
    atomicAdd(count, 1);
  }
}
CASE(counter_after_flag) {
  Ints ready(1);
  count_after_flag<<<3, 64>>>(Ints(1), ready);
}

// Only the lanes of the first warp know that the bins are empty.
template <bool kBarrier>
__global__ void count_in_bins(int* out) {
  __shared__ int bins[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) bins[lane] = 0;  // expect bins_of_first_warp race_waw
  if (kBarrier) __syncthreads();
  else __syncwarp();
  atomicAdd(&bins[lane], 1);
  __syncthreads();
  out[threadIdx.x] = bins[lane];
}
CASE(bins_of_first_warp) { count_in_bins<false><<<1, 96>>>(Ints(96)); }
CASE(bins_of_all_warps) { count_in_bins<true><<<1, 96>>>(Ints(96)); }

// Between lanes it would be a warning or a matter of __syncwarp, between blocks it is neither.
__global__ void shift(int* p, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  const int v = p[i + 1];  // expect shift_across_blocks race_war
  if (i < n) p[i] = v;
}
CASE(shift_across_blocks) { shift<<<4, 32>>>(Ints(160), 128); }

__global__ void volatile_neighbours(int* out) {
  __shared__ volatile int s[257];
  const int t = threadIdx.x;
  s[t + 1] = t;  // expect volatile_is_no_barrier race_raw
  if (t == 0) s[0] = 0;
  out[t] = s[t + 1] - s[t];
}
CASE(volatile_is_no_barrier) { volatile_neighbours<<<1, 256>>>(Ints(256)); }

// The minimum has nothing to do with the counter that is read plainly.
__global__ void ticket(int* count, int* least, int* seen) {
  const int before = *count;  // expect plain_ticket race_war
  atomicAdd(count, 1);
  seen[threadIdx.x] = before;
  atomicMin(least, seen[threadIdx.x]);
}
CASE(plain_ticket) { ticket<<<1, 64>>>(Ints(1), Ints(1), Ints(64)); }

// Thread 0 looks before it counts; what it sees depends on who counts before.
__global__ void peek(int* count, int* seen) {
  if (threadIdx.x == 0) *seen = *count;  // expect peeked race_war
  atomicAdd(count, 1);
}
CASE(peeked) { peek<<<1, 64>>>(Ints(1), Ints(1)); }

// The last to count begins anew.
__global__ void last_resets(int* count) {
  if (atomicAdd(count, 1) == 127) *count = 0;
}
CASE(last_one_resets) { last_resets<<<4, 32>>>(Ints(1)); }

// Worth an atomic only if it is less: the plain read may be out of date.
__global__ void least_of(const int* in, int* least) {
  if (in[threadIdx.x] <= *least) atomicMin(least, in[threadIdx.x]);  // warn looked_at_before race_war
}
CASE(looked_at_before) { least_of<<<1, 64>>>(Ints(64), Ints(1)); }

// Odd threads have one round more, and nothing stands behind the loop.
__global__ void uneven(int* out, int n, int more) {
  for (int i = 0; i < n + more * (int(threadIdx.x) % 2); ++i) {
    out[threadIdx.x] = i;
    __syncthreads();  // warn uneven_rounds barrier_divergence
  }
}
CASE(uneven_rounds) { uneven<<<1, 64>>>(Ints(64), 2, 1); }
CASE(even_rounds) { uneven<<<1, 64>>>(Ints(64), 2, 0); }

// Threads without work leave at once.
__global__ void leaves_early(int* out, int n) {
  if (threadIdx.x >= n) return;
  for (int i = 0; i < 3; ++i) {
    out[threadIdx.x] = i;
    __syncthreads();
  }
}
CASE(left_before) { leaves_early<<<1, 64>>>(Ints(64), 40); }

__device__ int table[10];
__global__ void past_the_table(int* out, int n) {
  out[0] = table[n];  // expect variable_overrun out_of_bounds
}
CASE(variable_overrun) { past_the_table<<<1, 1>>>(Ints(1), 10); }

// Misaligned and out of bounds: what a GPU looks at first.
__device__ int lonely;
__global__ void crooked() {
  *(int*)((char*)&lonely + 1) = 42;  // expect crooked_end misaligned
}
CASE(crooked_end) { crooked<<<1, 1>>>(); }

// A body of a graph runs after what came before its condition, and once more after itself.
__global__ void count_down(int* left, cudaGraphConditionalHandle more) {
  if (--*left == 0) cudaGraphSetConditional(more, 0);
}
CASE(rounds_of_a_graph) {
  Ints left(1);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle more;
  cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault);
  cudaGraphNodeParams loop = {};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.handle = more;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node, inner, after;
  cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop);
  int* counter = left;
  void* arguments[] = {&counter, &more};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)count_down;
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  cudaGraphAddKernelNode(&inner, loop.conditional.phGraph_out[0], nullptr, 0, &kernel);
  cudaMemsetParams clear = {};
  clear.dst = counter;
  clear.value = 0;
  clear.elementSize = 4;
  clear.width = clear.height = 1;
  cudaGraphAddMemsetNode(&after, graph, &node, 1, &clear);
  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  cudaMemset(left, 3, 1);
  cudaGraphLaunch(ready, 0);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}
