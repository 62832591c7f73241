// build: -arch=sm_80
// nvcuda::experimental of CUDA 11.0: pipelines of copies, and barriers that split arriving from waiting.
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>

#include <cstdio>

using namespace nvcuda::experimental;

constexpr int kThreads = 64, kTiles = 6;

__global__ void double_buffered(const float4* in, float4* out) {
  __shared__ float4 tile[2][kThreads];
  pipeline pipe;
  const uint32_t t = threadIdx.x;  // the header names it
  memcpy_async(tile[0][t], in[t], pipe);
  size_t before = pipe.commit();
  for (int i = 0; i < kTiles; ++i) {
    size_t next = before;
    if (i + 1 < kTiles) {
      memcpy_async(tile[(i + 1) % 2][t], in[(i + 1) * kThreads + t], pipe);
      next = pipe.commit();
    }
    pipe.wait(before);
    __syncthreads();
    const float4 v = tile[i % 2][(t + 1) % kThreads];
    out[i * kThreads + t] = make_float4(v.w, v.z, v.y, v.x);
    __syncthreads();
    before = next;
  }
}

struct Odd {
  char c[3];
};

__global__ void pieces(const int (*rows)[3], int (*out)[4], const Odd* odd, int* sum) {
  __shared__ int row[kThreads][4];
  __shared__ Odd o[kThreads];
  pipeline pipe;
  const int t = threadIdx.x;
  memcpy_async(&row[t], &rows[t], pipe);
  memcpy_async(o[t], odd[t], pipe);
  pipe.commit_and_wait();
  pipe.wait_prior<0>();
  for (int i = 0; i < 4; ++i) out[t][i] = row[t][i];
  atomicAdd(sum, o[t].c[0] + o[t].c[2]);
}

// Half of the threads make what the others take.
__global__ void handed_over(const int* in, int* out, int rounds) {
  __shared__ awbarrier full, empty;
  __shared__ int box[kThreads / 2];
  if (threadIdx.x == 0) {
    init(&full, kThreads);
    init(&empty, kThreads);
  }
  __syncthreads();
  const int t = threadIdx.x % (kThreads / 2);
  for (int r = 0; r < rounds; ++r) {
    if (threadIdx.x < kThreads / 2) {
      if (r > 0) empty.arrive_and_wait();
      box[t] = in[r * (kThreads / 2) + t];
      full.arrive();
    } else {
      const awbarrier::arrival_token token = full.arrive();
      if (token.pending_count() < 1) out[0] = -1;
      full.wait(token);
      out[r * (kThreads / 2) + t] = box[kThreads / 2 - 1 - t] * 2;
      if (r + 1 < rounds) empty.arrive();
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    inval(&full);
    inval(&empty);
  }
}

__global__ void arrive_on(const int* in, int* out) {
  __shared__ int copy[kThreads];
  __shared__ awbarrier done;
  if (threadIdx.x == 0) init(&done, kThreads);
  __syncthreads();
  pipeline pipe;
  memcpy_async(copy[threadIdx.x], in[threadIdx.x], pipe);
  pipe.arrive_on(done);
  const awbarrier::arrival_token token = done.arrive();
  while (!done.timed_wait(token, 1000)) {
  }
  out[threadIdx.x] = copy[kThreads - 1 - threadIdx.x];
}

template <class T>
static T* managed(size_t count) {
  T* p;
  cudaMallocManaged(&p, count * sizeof(T));
  return p;
}

int main() {
  int failures = 0;
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) printf("FAIL %s\n", what), ++failures;
  };
  auto *in = managed<float4>(kTiles * kThreads), *out = managed<float4>(kTiles * kThreads);
  for (int i = 0; i < kTiles * kThreads; ++i) in[i] = make_float4(i, i + 0.25f, i + 0.5f, i + 0.75f);
  double_buffered<<<1, kThreads>>>(in, out);
  auto rows = managed<int[3]>(kThreads);
  auto padded = managed<int[4]>(kThreads);
  auto* odd = managed<Odd>(kThreads);
  auto* sum = managed<int>(1);
  *sum = 0;
  for (int i = 0; i < kThreads; ++i) {
    for (int j = 0; j < 3; ++j) rows[i][j] = 10 * i + j;
    odd[i] = {{1, 2, 3}};
  }
  pieces<<<1, kThreads>>>(rows, padded, odd, sum);
  constexpr int kRounds = 5, kHalf = kThreads / 2;
  auto *given = managed<int>(kRounds * kHalf), *taken = managed<int>(kRounds * kHalf), *reversed = managed<int>(kThreads);
  for (int i = 0; i < kRounds * kHalf; ++i) given[i] = i * 3;
  handed_over<<<1, kThreads>>>(given, taken, kRounds);
  arrive_on<<<1, kThreads>>>(given, reversed);
  expect(cudaDeviceSynchronize() == cudaSuccess, "launches");
  for (int i = 0; i < kTiles * kThreads; ++i) {
    const float4 v = in[i / kThreads * kThreads + (i + 1) % kThreads];
    expect(out[i].x == v.w && out[i].w == v.x, "a copied tile");
  }
  for (int i = 0; i < kThreads; ++i) {
    expect(padded[i][2] == 10 * i + 2 && padded[i][3] == 0, "a padded row");
    expect(reversed[i] == given[kThreads - 1 - i], "a copy that a barrier waits for");
  }
  expect(*sum == 4 * kThreads, "pieces of three bytes");
  for (int i = 0; i < kRounds * kHalf; ++i)
    expect(taken[i] == given[i / kHalf * kHalf + kHalf - 1 - i % kHalf] * 2, "a box that is handed over");
  printf(failures ? "%d FAILED\n" : "PASSED\n", failures);
  return failures != 0;
}
