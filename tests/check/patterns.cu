// How threads of several blocks and warps work together in programs that people write: all of it is correct.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <vector>

#include "cases.h"

namespace cg = cooperative_groups;

template <class T>
struct Buffer {
  T* p = nullptr;
  explicit Buffer(int n) {
    cudaMalloc(&p, n * sizeof(T));
    cudaMemset(p, 0, n * sizeof(T));
  }
  ~Buffer() {
    cudaDeviceSynchronize();
    cudaFree(p);
  }
  operator T*() const { return p; }
};

static void scatter_numbers(int* to, int n, int below) {
  std::vector<int> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = (i * 7919 + 13) % below;
  cudaMemcpy(to, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice);
}

// --- scans in one pass: flag and sum in one word
__global__ void scan_packed(const int* in, int* out, unsigned long long* status, unsigned* ticket) {
  __shared__ int s[128];
  __shared__ unsigned block;
  __shared__ int before;
  const int t = threadIdx.x;
  if (t == 0) block = atomicAdd(ticket, 1);
  __syncthreads();
  const unsigned b = block;
  s[t] = in[b * 128 + t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    const int left = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += left;
    __syncthreads();
  }
  if (t == 0) {
    const int total = s[127];
    atomicExch(&status[b], (b == 0 ? 2ull : 1ull) << 32 | static_cast<unsigned>(total));
    int sum = 0;
    for (int p = static_cast<int>(b) - 1; p >= 0;) {
      const unsigned long long word = atomicAdd(&status[p], 0ull);
      const unsigned state = word >> 32;
      if (state == 0) continue;
      sum += static_cast<int>(static_cast<unsigned>(word));
      if (state == 2) break;
      --p;
    }
    if (b) atomicExch(&status[b], 2ull << 32 | static_cast<unsigned>(sum + total));
    before = sum;
  }
  __syncthreads();
  out[b * 128 + t] = s[t] + before;
}
CASE(scan_packed) {
  Buffer<int> in(4096), out(4096);
  Buffer<unsigned long long> status(32);
  Buffer<unsigned> ticket(1);
  scatter_numbers(in, 4096, 10);
  scan_packed<<<32, 128>>>(in, out, status, ticket);
}

// A warp looks at 32 blocks before its own at once; flags, sums and prefixes stand apart.
__global__ void scan_window(const int* in, int* out, volatile int* flag, volatile int* sums, volatile int* prefixes) {
  const int lane = threadIdx.x, b = blockIdx.x;
  int scan = in[b * 32 + lane];
  for (int d = 1; d < 32; d *= 2) {
    const int left = __shfl_up_sync(~0u, scan, d);
    if (lane >= d) scan += left;
  }
  const int total = __shfl_sync(~0u, scan, 31);
  if (lane == 0) {
    (b == 0 ? prefixes : sums)[b] = total;
    __threadfence();
    flag[b] = b == 0 ? 2 : 1;
  }
  int prefix = 0;
  for (int last = b - 1; b > 0; last -= 32) {
    const int p = last - lane;
    int state = 2, value = 0;
    if (p >= 0) {
      while ((state = flag[p]) == 0) {}
      __threadfence();
      value = state == 2 ? prefixes[p] : sums[p];
    }
    const unsigned done = __ballot_sync(~0u, state == 2);
    value = lane <= (done ? __ffs(done) - 1 : 31) ? value : 0;
    for (int d = 16; d; d /= 2) value += __shfl_xor_sync(~0u, value, d);
    prefix += value;
    if (done) break;
  }
  if (lane == 0 && b > 0) {
    prefixes[b] = prefix + total;
    __threadfence();
    flag[b] = 2;
  }
  out[b * 32 + lane] = prefix + scan;
}
CASE(scan_window) {
  Buffer<int> in(4096), out(4096), flag(128), sums(128), prefixes(128);
  scatter_numbers(in, 4096, 10);
  scan_window<<<128, 32>>>(in, out, flag, sums, prefixes);
}

// --- queues
struct Slot {
  unsigned turn;
  int item;
};
__device__ bool put(Slot* slots, unsigned* tail, unsigned mask, int item) {
  for (unsigned at = *(volatile unsigned*)tail;;) {
    Slot* slot = &slots[at & mask];
    const int ahead = static_cast<int>(*(volatile unsigned*)&slot->turn - at);
    if (ahead < 0) return false;
    if (ahead == 0) {
      const unsigned old = atomicCAS(tail, at, at + 1);
      if (old == at) {
        slot->item = item;
        __threadfence();
        *(volatile unsigned*)&slot->turn = at + 1;
        return true;
      }
      at = old;
    } else {
      at = *(volatile unsigned*)tail;
    }
  }
}
__device__ bool get(Slot* slots, unsigned* head, unsigned mask, int* item) {
  for (unsigned at = *(volatile unsigned*)head;;) {
    Slot* slot = &slots[at & mask];
    const int ahead = static_cast<int>(*(volatile unsigned*)&slot->turn - (at + 1));
    if (ahead < 0) return false;
    if (ahead == 0) {
      const unsigned old = atomicCAS(head, at, at + 1);
      if (old == at) {
        __threadfence();
        *item = slot->item;
        __threadfence();
        *(volatile unsigned*)&slot->turn = at + mask + 1;
        return true;
      }
      at = old;
    } else {
      at = *(volatile unsigned*)head;
    }
  }
}
__global__ void number_slots(Slot* slots) { slots[threadIdx.x].turn = threadIdx.x; }
__global__ void through_queue(Slot* slots, unsigned* head, unsigned* tail, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i & 1) {
    while (!put(slots, tail, 31, i)) {}
  } else {
    int item;
    while (!get(slots, head, 31, &item)) {}
    out[i] = item;
  }
}
CASE(queue_of_many) {
  Buffer<Slot> slots(32);
  Buffer<unsigned> head(1), tail(1);
  Buffer<int> out(128);
  number_slots<<<1, 32>>>(slots);
  through_queue<<<4, 32>>>(slots, head, tail, out);
}

// Work that makes more work; whoever takes a piece waits until it is there.
__global__ void first_task(int* queue, int* ready, int* tail, int* pending) { queue[0] = 0, ready[0] = *tail = *pending = 1; }
__global__ void tasks(int* queue, int* ready, int* head, int* tail, int* pending, int* visited, int n) {
  while (atomicAdd(pending, 0) > 0) {
    const int at = atomicAdd(head, 0);
    if (at >= atomicAdd(tail, 0) || atomicCAS(head, at, at + 1) != at) continue;
    while (atomicAdd(&ready[at], 0) == 0) {}
    __threadfence();
    const int task = queue[at];
    visited[task] = 1;
    for (int child = 2 * task + 1; child <= 2 * task + 2 && child < n; ++child) {
      atomicAdd(pending, 1);
      const int place = atomicAdd(tail, 1);
      queue[place] = child;
      __threadfence();
      atomicExch(&ready[place], 1);
    }
    atomicSub(pending, 1);
  }
}
CASE(tasks_make_tasks) {
  Buffer<int> queue(256), ready(256), head(1), tail(1), pending(1), visited(256);
  first_task<<<1, 1>>>(queue, ready, tail, pending);
  tasks<<<4, 1>>>(queue, ready, head, tail, pending, visited, 200);
}

// One block fills a ring, another empties it.
__global__ void ring(int* slots, volatile int* written, volatile int* read, int* out, int n) {
  for (int i = 0; i < n; ++i) {
    if (blockIdx.x == 0) {
      while (i - *read >= 4) {}
      __threadfence();
      slots[i & 3] = i * i;
      __threadfence();
      *written = i + 1;
    } else {
      while (*written <= i) {}
      __threadfence();
      out[i] = slots[i & 3];
      __threadfence();
      *read = i + 1;
    }
  }
}
CASE(ring_between_blocks) {
  Buffer<int> slots(4), written(1), read(1), out(40);
  ring<<<2, 1>>>(slots, written, read, out, 40);
}

// --- barriers between blocks
__device__ void all_blocks(int* count, volatile int* sense) {
  __syncthreads();
  if (threadIdx.x == 0) {
    const int now = *sense;
    __threadfence();
    if (atomicAdd(count, 1) == gridDim.x - 1) {
      *count = 0;
      __threadfence();
      *sense = !now;
    } else {
      while (*sense == now) {}
    }
    __threadfence();
  }
  __syncthreads();
}
__global__ void phases(int* p, int* q, int* count, int* sense) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int k = 0; k < 4; ++k) {
    q[i] = p[(i + 1) % n] + p[(i + n - 1) % n];
    all_blocks(count, sense);
    p[i] = q[i] & 1023;
    all_blocks(count, sense);
  }
}
CASE(barrier_with_sense) {
  Buffer<int> p(256), q(256), count(1), sense(1);
  phases<<<4, 64>>>(p, q, count, sense);
}

// --- once, and under a lock
__global__ void once(int* state, int* value, int* out) {
  __shared__ int mine;
  if (threadIdx.x == 0) {
    if (atomicCAS(state, 0, 1) == 0) {
      *value = 42;
      __threadfence();
      atomicExch(state, 2);
    } else {
      while (atomicAdd(state, 0) != 2) {}
    }
    mine = *value;
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}
CASE(made_once) {
  Buffer<int> state(1), value(1), out(256);
  once<<<4, 64>>>(state, value, out);
}
struct Entry {
  unsigned key;
  int value;
  Entry* next;
};
__global__ void add_to_lists(const int* keys, Entry** lists, Entry* entries, int* locks, int count) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  const unsigned list = static_cast<unsigned>(keys[i]) % count;
  for (int lane = 0; lane < 32; ++lane) {
    if (i % 32 != lane) continue;
    entries[i].key = keys[i];
    entries[i].value = i;
    while (atomicCAS(&locks[list], 0, 1) != 0) {}
    __threadfence();
    entries[i].next = lists[list];
    lists[list] = &entries[i];
    __threadfence();
    atomicExch(&locks[list], 0);
  }
}
CASE(lists_under_locks) {
  Buffer<int> keys(256), locks(16);
  Buffer<Entry*> lists(16);
  Buffer<Entry> entries(256);
  scatter_numbers(keys, 256, 1000);
  add_to_lists<<<4, 64>>>(keys, lists, entries, locks, 16);
}

// --- within a block
// One warp fills two buffers in turn, the other empties them.
__global__ void warps_apart(const float* in, float* out, int rounds) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ float buffers[2][64];
  __shared__ Barrier empty[2], full[2];
  if (threadIdx.x < 2) {
    init(&empty[threadIdx.x], blockDim.x);
    init(&full[threadIdx.x], blockDim.x);
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (Barrier& b : empty) (void)b.arrive();
    for (int i = 0; i < rounds; ++i) {
      full[i % 2].arrive_and_wait();
      for (int k = lane; k < 64; k += 32) out[i * 64 + k] = buffers[i % 2][63 - k];
      (void)empty[i % 2].arrive();
    }
  } else {
    for (int i = 0; i < rounds; ++i) {
      empty[i % 2].arrive_and_wait();
      for (int k = lane; k < 64; k += 32) buffers[i % 2][k] = in[i * 64 + k];
      (void)full[i % 2].arrive();
    }
  }
}
CASE(warps_apart) {
  Buffer<float> in(512), out(512);
  warps_apart<<<1, 64>>>(in, out, 8);
}
__global__ void pipeline_of_block(const int* in, int* out, int rounds) {
  __shared__ int s[2][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int k = 0; k <= rounds; ++k) {
    if (k < rounds) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[k & 1], in + k * 128, sizeof(int) * 128, pipe);
      pipe.producer_commit();
    }
    if (k == 0) continue;
    pipe.consumer_wait();
    out[(k - 1) * 128 + threadIdx.x] = s[(k - 1) & 1][127 - threadIdx.x];
    pipe.consumer_release();
  }
}
CASE(pipeline_of_block) {
  Buffer<int> in(1024), out(1024);
  pipeline_of_block<<<1, 128>>>(in, out, 8);
}
