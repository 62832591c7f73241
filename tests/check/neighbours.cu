// What compiled code and its watcher decide by themselves beyond whole rows of words: readers of neighbouring places, parts of
// words, atomic operations.
#include <vector>

#include <cuda_runtime.h>

#include "cases.h"

constexpr int kThreads = 256, kBlocks = 8, kCount = kThreads * kBlocks;

template <class T>
T* zeros(int count) {
  T* p;
  cudaMalloc(&p, count * sizeof(T));
  cudaMemset(p, 0, count * sizeof(T));
  return p;
}

template <class T>
T* unset(int count) {
  T* p;
  cudaMalloc(&p, count * sizeof(T));
  return p;
}

// Launches twice: what the first launch left behind must not matter.
template <class Kernel, class... T>
void run(Kernel kernel, T*... memory) {
  for (int k = 0; k < 2; ++k) kernel<<<kBlocks, kThreads>>>(memory...);
  cudaDeviceSynchronize();
  (cudaFree(memory), ...);
}

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void stencil_of_three(const int* in, int* out) {
  const int i = place();
  if (i > 0 && i < kCount - 1) out[i] = in[i - 1] + in[i] + in[i + 1];
}
CASE(stencil) { run(stencil_of_three, zeros<int>(kCount), zeros<int>(kCount)); }

__global__ void stencil_one_array(int* a) {
  const int i = place();
  if (i > 0 && i < kCount - 1) {
    const int sum = a[i - 1] + a[i] + a[i + 1];
    a[i] = sum + 1;  // expect stencil_in_place race_war
  }
}
CASE(stencil_in_place) { run(stencil_one_array, zeros<int>(kCount)); }

__global__ void stencil_unset(const int* in, int* out) {
  const int i = place();
  if (i > 0 && i < kCount - 1) out[i] = in[i - 1] + in[i] + in[i + 1];  // expect stencil_of_nothing uninitialized_read
}
CASE(stencil_of_nothing) { run(stencil_unset, unset<int>(kCount), zeros<int>(kCount)); }

// Three lanes of a warp read a place, and one of them stores there.
__global__ void neighbours_of_warp(int* out) {
  __shared__ int t[kThreads + 2];
  const int l = threadIdx.x + 1;
  t[l] = threadIdx.x;
  if (threadIdx.x < 2) t[threadIdx.x * (kThreads + 1)] = 0;
  __syncthreads();
  const int sum = t[l - 1] + t[l] + t[l + 1];
  t[l] = sum + 1;  // expect no_barrier_behind race_war
  __syncthreads();
  out[place()] = t[l];
}
CASE(no_barrier_behind) { run(neighbours_of_warp, zeros<int>(kCount)); }

__global__ void bytes_of_words(const unsigned* in, unsigned* bins) {
  atomicAdd(&bins[in[place()] & 255], 1u);
}
CASE(low_bytes) { run(bytes_of_words, zeros<unsigned>(kCount), zeros<unsigned>(256)); }

// Threads of other warps have the other bytes of a word.
__global__ void own_bytes(unsigned char* a, int* out) {
  const int t = threadIdx.x, mine = blockIdx.x * kThreads + t % 64 * 4 + t / 64;
  out[place()] = a[mine];
  a[mine] = static_cast<unsigned char>(t);
}
CASE(bytes_apart) { run(own_bytes, zeros<unsigned char>(kCount), zeros<int>(kCount)); }

__global__ void others_byte(unsigned char* a, int* out) {
  const int t = threadIdx.x, mine = blockIdx.x * kThreads + t % 64 * 4 + t / 64;
  out[place()] = a[mine] + a[mine ^ 1];
  a[mine] = static_cast<unsigned char>(t + 1);  // expect bytes_shared race_war
}
CASE(bytes_shared) { run(others_byte, zeros<unsigned char>(kCount), zeros<int>(kCount)); }

__global__ void counts(int* counter, int* out) { out[atomicAdd(counter, 1) % kCount] = 1; }  // expect counter_of_nothing uninitialized_read
CASE(counter) { run(counts, zeros<int>(1), zeros<int>(kCount)); }
CASE(counter_of_nothing) {
  int* counter = unset<int>(1);
  int* out = zeros<int>(kCount);
  counts<<<kBlocks, kThreads>>>(counter, out);
  cudaDeviceSynchronize();
  cudaFree(counter);
  cudaFree(out);
}

__global__ void set_late(int* counter) {
  if (threadIdx.x == 0) *counter = 0;  // expect counter_set_late race_waw
  atomicAdd(counter, 1);
}
CASE(counter_set_late) { run(set_late, zeros<int>(1)); }

__global__ void read_early(int* counter, int* out) {
  atomicAdd(counter, 1);
  out[place()] = *counter;  // expect counter_read_early race_raw
}
CASE(counter_read_early) { run(read_early, zeros<int>(1), zeros<int>(kCount)); }

__global__ void within_block(int* counter) {
  atomicAdd_block(counter, 1);  // expect scope_of_block race_waw
}
CASE(scope_of_block) { run(within_block, zeros<int>(1)); }

__global__ void counts_in_shared(const int* in, int* out, int clear) {
  __shared__ int bins[64];
  if (clear && threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[place()] + threadIdx.x % 64], 1);  // expect bins_unset uninitialized_read
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
void count_in_shared(int clear) {
  int *in = zeros<int>(kCount), *out = zeros<int>(64);
  for (int k = 0; k < 2; ++k) counts_in_shared<<<kBlocks, kThreads>>>(in, out, clear);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(bins) { count_in_shared(1); }
CASE(bins_unset) { count_in_shared(0); }

__global__ void no_barrier_in_front(const int* in, int* out) {
  __shared__ int bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  atomicAdd(&bins[in[place()] + threadIdx.x % 64], 1);  // expect bins_at_once race_waw
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
CASE(bins_at_once) { run(no_barrier_in_front, zeros<int>(kCount), zeros<int>(64)); }

// The last block adds up what all have left behind their fences; without them nobody knows that it is there.
template <bool kFence>
__global__ void last_adds_up(unsigned* tickets, int* parts, int* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x + 1;
    if (kFence) __threadfence();
    last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) atomicAdd(sum, parts[threadIdx.x]);  // expect last_without_fence race_raw
}
CASE(last_block) { run(last_adds_up<true>, zeros<unsigned>(1), zeros<int>(kBlocks), zeros<int>(1)); }
CASE(last_without_fence) { run(last_adds_up<false>, zeros<unsigned>(1), zeros<int>(kBlocks), zeros<int>(1)); }

// A row for each thread, 100 bytes from the next one's.
__global__ void sums_of_rows(const int* in, int* out) {
  const int i = place();
  int sum = 0;
  for (int k = 0; k < 25; ++k) sum += in[25 * i + k];
  out[i] = sum;
}
CASE(rows) { run(sums_of_rows, zeros<int>(25 * kCount), zeros<int>(kCount)); }

// Lanes on lines of their own, on lines that some share, and on lines whose numbers have the same last 16 bits.
template <class T>
__global__ void lines_apart(const T* in, T* out, const int* places) {
  for (int k = 0; k < 12; ++k)
    if (k % 4 != 3 || threadIdx.x % 3) out[k * kBlocks * 32 + place()] = in[places[threadIdx.x * 12 + k]];
}
template <class T>
void look_apart(T* in, T* out, const int* places, int line) {
  std::vector<int> here(32 * 12);
  for (int k = 0; k < 12; ++k)
    for (int l = 0; l < 32; ++l) {
      const int turned = (l * 7 + k) % 32, apart = turned * (3 + k), shared = turned / 2 * (3 + k), far = l == 9 ? 65536 + 5 * 3 : l * 3;
      here[l * 12 + k] = (k % 3 == 0 ? apart : k % 3 == 1 ? shared : far) * line + l % 4;
    }
  cudaMemcpy(const_cast<int*>(places), here.data(), here.size() * sizeof(int), cudaMemcpyHostToDevice);
  for (int n = 0; n < 2; ++n) lines_apart<<<kBlocks, 32>>>(in, out, places);
  cudaDeviceSynchronize();
}
CASE(lines) {
  constexpr int kBytes = 9 << 20;
  char *in = zeros<char>(kBytes), *out = zeros<char>(kBytes);
  int* places = zeros<int>(32 * 12);
  look_apart(in, out, places, 128);
  look_apart(reinterpret_cast<short*>(in), reinterpret_cast<short*>(out), places, 64);
  look_apart(reinterpret_cast<int*>(in), reinterpret_cast<int*>(out), places, 32);
  look_apart(reinterpret_cast<double*>(in), reinterpret_cast<double*>(out), places, 16);
  look_apart(reinterpret_cast<float4*>(in), reinterpret_cast<float4*>(out), places, 8);
  cudaFree(in);
  cudaFree(out);
  cudaFree(places);
}

// Members of structures, of which each lane reads one after the other: at equal distances, on lines of their own, anywhere.
template <int kWords>
struct Members {
  int word[kWords];
};
template <int kWords>
__global__ void members_read(const Members<kWords>* in, int* out, int n) {
  const unsigned i = place();
  int sum = 0;
  for (unsigned k = 0; k < 60; ++k) {
    const unsigned apart = (i * 7 + k) % 32 * 32, anywhere = (i * i * (2 * k + 1) * 2654435761u ^ i * 40503u) >> 9;
    const Members<kWords>& m = in[(k < 20 ? i * (1 + k / 10) + k : k < 40 ? apart + k / 3 : anywhere) % n];
    if (k % 9 != 8 || threadIdx.x % 3) sum += m.word[0] ^ m.word[3] + 2 * m.word[1] ^ m.word[2];
  }
  out[i] = sum;
}
template <int kWords>
void read_members() {
  constexpr int kMembers = 4 * kCount;
  auto* in = reinterpret_cast<Members<kWords>*>(zeros<int>(kWords * kMembers));
  int* out = zeros<int>(kCount);
  for (int n = 0; n < 2; ++n) members_read<<<kBlocks, kThreads>>>(in, out, kMembers);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(members) {
  read_members<4>();
  read_members<5>();
}

// Some lanes store side by side, as in a compaction, others with gaps or backwards.
__global__ void chosen_stored(int* out) {
  const unsigned lane = threadIdx.x % 32, warp = place() / 32;
  for (unsigned k = 0; k < 33; ++k) {
    const unsigned chosen = (warp * 2654435761u ^ k * 40503u * k) >> (k % 5) | (k == 32 ? ~0u : 0), rank = __popc(chosen & ((1u << lane) - 1));
    if (chosen >> lane & 1) out[(warp * 33 + k) * 64 + (k % 4 == 1 ? 2 * lane : k % 4 == 2 ? 63 - rank : rank + k % 3)] = k;
  }
}
CASE(chosen) {
  int* out = zeros<int>(kCount * 2 * 33);
  for (int n = 0; n < 2; ++n) chosen_stored<<<kBlocks, kThreads>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// Counters in shared memory: of a byte, of places far apart, of some lanes, and two at once that meet in a bank.
__global__ void counted_apart(const int* in, int* out) {
  __shared__ int bins[3000];
  for (int k = threadIdx.x; k < 3000; k += kThreads) bins[k] = 0;
  __syncthreads();
  for (int i = place(); i < 16 * kCount; i += kCount) atomicAdd(&bins[in[i] & 255], 1);
  for (int i = place(); i < 16 * kCount; i += kCount) atomicAdd(&bins[in[i] % 3000u], 1);
  __syncthreads();
  const int i = place(), key = in[i];
  atomicAdd(&bins[key * 7 % 3000u], 1);
  if (key & 4) atomicAdd(&bins[key % 1000u], 1);
  atomicAdd(&bins[(key & 63) * 32], 1);
  atomicAdd(&bins[key >> 3 & 3], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < 3000; k += kThreads) atomicAdd(&out[k], bins[k]);
}
CASE(counted) {
  std::vector<int> numbers(16 * kCount);
  unsigned state = 1;
  for (int& n : numbers) n = (state = state * 1664525u + 1013904223u) >> 9;
  int *in = unset<int>(16 * kCount), *out = zeros<int>(3000);
  cudaMemcpy(in, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice);
  for (int n = 0; n < 2; ++n) counted_apart<<<kBlocks, kThreads>>>(in, out);
  cudaFree(in);
  cudaFree(out);
}

// Lanes that are equally far apart for a while, then otherwise, then anywhere; some of them now and then.
__global__ void distances(const int* in, const int* strides, int* out) {
  const int i = place();
  int sum = 0;
  for (int k = 0; k < 96; ++k) {
    const int at = (i * strides[k / 24] + k) % kCount;
    if (k % 7 != 3 || threadIdx.x % 5) sum += in[at];
    if (k % 24 > 20) sum += in[(sum + i * i) % kCount];
  }
  out[i] = sum;
}
CASE(strides) {
  int *in = zeros<int>(kCount), *out = zeros<int>(kCount), *strides = zeros<int>(4), numbers[4] = {33, 17, 1, 64};
  cudaMemcpy(strides, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  for (int k = 0; k < 2; ++k) distances<<<kBlocks, kThreads>>>(in, strides, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  cudaFree(strides);
}
