// stream_compaction: keep the elements that pass a test, in order, by scan and scatter and then by warp votes.
// Look at what the exclusive scan of the 0/1 flags means: it is the place of each kept element in the output.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

constexpr int kThreads = 256;

__host__ __device__ bool keep(int value) { return value % 3 == 0 || value > 900; }

__global__ void flag(const int* in, int* flags, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) flags[i] = keep(in[i]) ? 1 : 0;
}

// One block scans the whole array piece by piece, carrying the running total.
__global__ void exclusive_scan(const int* in, int* out, int n) {
  __shared__ int temp[2][kThreads];
  __shared__ int carry;
  int t = threadIdx.x;
  if (t == 0) carry = 0;
  for (int base = 0; base < n; base += kThreads) {
    int value = base + t < n ? in[base + t] : 0, current = 0;
    temp[current][t] = value;
    __syncthreads();
    for (int offset = 1; offset < kThreads; offset *= 2) {
      temp[1 - current][t] = temp[current][t] + (t >= offset ? temp[current][t - offset] : 0);
      current = 1 - current;
      __syncthreads();
    }
    if (base + t < n) out[base + t] = carry + temp[current][t] - value;
    __syncthreads();
    if (t == kThreads - 1) carry += temp[current][t];
    __syncthreads();
  }
}

__global__ void scatter(const int* in, const int* flags, const int* places, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && flags[i]) out[places[i]] = in[i];
}

// The short way when order between warps does not matter: a vote, a population count, one atomic per warp.
__global__ void compact_by_vote(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  bool mine = i < n && keep(in[i]);
  unsigned ballot = __ballot_sync(0xffffffffu, mine);
  int place = 0;
  if (lane == 0) place = atomicAdd(count, __popc(ballot));
  place = __shfl_sync(0xffffffffu, place, 0) + __popc(ballot & ((1u << lane) - 1));
  if (mine) out[place] = in[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 60001, grid = (n + kThreads - 1) / kThreads;
  std::vector<int> in(n), out(n), expected;
  for (int i = 0; i < n; ++i) {
    in[i] = (i * 7577) % 1009;
    if (keep(in[i])) expected.push_back(in[i]);
  }
  const int kept = (int)expected.size();
  int *d_in, *d_flags, *d_places, *d_out, *d_count, last[2], count = 0;
  CHECK(cudaMalloc(&d_in, n * sizeof(int)));
  CHECK(cudaMalloc(&d_flags, n * sizeof(int)));
  CHECK(cudaMalloc(&d_places, n * sizeof(int)));
  CHECK(cudaMalloc(&d_out, n * sizeof(int)));
  CHECK(cudaMalloc(&d_count, sizeof(int)));
  CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  flag<<<grid, kThreads>>>(d_in, d_flags, n);
  exclusive_scan<<<1, kThreads>>>(d_flags, d_places, n);
  scatter<<<grid, kThreads>>>(d_in, d_flags, d_places, d_out, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&last[0], d_places + n - 1, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&last[1], d_flags + n - 1, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
  int wrong = last[0] + last[1] != kept;
  for (int i = 0; i < kept; ++i) wrong += out[i] != expected[i];
  std::printf("scan and scatter: %d of %d kept, %d wrong\n", last[0] + last[1], n, wrong);

  CHECK(cudaMemset(d_count, 0, sizeof(int)));
  compact_by_vote<<<grid, kThreads>>>(d_in, d_out, d_count, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
  // Warps arrive in any order, so compare as multisets: count every value up and down.
  std::vector<int> balance(1009, 0);
  for (int i = 0; i < kept && count == kept; ++i) {
    ++balance[expected[i]];
    --balance[out[i]];
  }
  int unbalanced = count != kept;
  for (int b : balance) unbalanced += b != 0;
  std::printf("warp votes: %d of %d kept, %d values out of balance\n", count, n, unbalanced);
  for (int* p : {d_in, d_flags, d_places, d_out, d_count}) CHECK(cudaFree(p));
  std::printf("stream_compaction: %s\n", wrong + unbalanced ? "FAILED" : "both kept the right elements");
  return wrong + unbalanced != 0;
}
