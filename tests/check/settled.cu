// Shared memory that nobody writes between two barriers: who reads it there matters to nobody, but what it holds does. An
// argument picks the case; `tests/watch` compares both engines.
#include "cases.h"

constexpr int kTile = 16, kRounds = 4;

// The sum of a tile's row, in rows of `kWidth` of which the first 16 are filled.
template <int kWidth, int kRead>
__global__ void rows(const float* in, float* out) {
  __shared__ float tile[kTile][kWidth];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int t = 0; t < kRounds; ++t) {
    tile[y][x] = in[(t * kTile + y) * kTile + x];
    __syncthreads();
    for (int k = 0; k < kRead; ++k) sum += tile[y][k];  // expect into_padding uninitialized_read
    for (int k = 0; k < kTile; ++k) sum += tile[k][x];
    __syncthreads();
  }
  out[(blockIdx.x * kTile + y) * kTile + x] = sum;
}
// The second block forgets a row that the first one has filled.
__global__ void forgets(const float* in, float* out) {
  __shared__ float tile[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  if (blockIdx.x == 0 || y != 5) tile[y][x] = in[y * kTile + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < kTile; ++k) sum += tile[k][x];  // expect forgotten_row uninitialized_read
  out[(blockIdx.x * kTile + y) * kTile + x] = sum;
}
// Without the second barrier the next round writes what others still read.
__global__ void unsettled(const float* in, float* out) {
  __shared__ float tile[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int t = 0; t < kRounds; ++t) {
    tile[y][x] = in[(t * kTile + y) * kTile + x];       // expect no_second_barrier race_war
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile[k][x];  // expect no_second_barrier race_war
  }
  out[(blockIdx.x * kTile + y) * kTile + x] = sum;
}
// Some rounds write in the stretch where others only read.
__global__ void now_and_then(const float* in, float* out, int which) {
  __shared__ float tile[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[y * kTile + x];
  float sum = 0;
  for (int t = 0; t < kRounds; ++t) {
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile[k][x];  // expect written_in_one_round race_war
    if (t == which) tile[y][x] = sum;                   // expect written_in_one_round race_war
  }
  out[(blockIdx.x * kTile + y) * kTile + x] = sum;
}
// Of words of which only some bytes have been stored.
__global__ void bytes(const char* in, int* out, int n) {
  __shared__ char text[256];
  const int t = threadIdx.x;
  if (t < n) text[t] = in[t];
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += text[(t & ~7) + k];  // expect some_bytes uninitialized_read
  out[t] = sum;
}
// Numbers from memory say what is read.
__global__ void looked_up(const int* in, int* out, int n) {
  __shared__ int table[64];
  const int t = threadIdx.x;
  if (t < n) table[t] = in[t];
  __syncthreads();
  int at = t;
  for (int k = 0; k < 8; ++k) at = table[at & 63];  // expect looked_up_empty uninitialized_read
  out[t] = at;
}

float *in, *out;
const dim3 kThreads(kTile, kTile);
void begin() {
  cudaMalloc(&in, kRounds * 1024);
  cudaMalloc(&out, 2 * 1024);
  cudaMemset(in, 0, kRounds * 1024);
}
void end() {
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(unpadded) { begin(); rows<16, 16><<<2, kThreads>>>(in, out); end(); }
CASE(padded) { begin(); rows<17, 16><<<2, kThreads>>>(in, out); end(); }
CASE(into_padding) { begin(); rows<17, 17><<<2, kThreads>>>(in, out); end(); }
CASE(forgotten_row) { begin(); forgets<<<2, kThreads>>>(in, out); end(); }
CASE(no_second_barrier) { begin(); unsettled<<<2, kThreads>>>(in, out); end(); }
CASE(written_in_one_round) { begin(); now_and_then<<<2, kThreads>>>(in, out, 2); end(); }
CASE(all_bytes) { begin(); bytes<<<2, 256>>>(reinterpret_cast<char*>(in), reinterpret_cast<int*>(out), 256); end(); }
CASE(some_bytes) { begin(); bytes<<<2, 256>>>(reinterpret_cast<char*>(in), reinterpret_cast<int*>(out), 254); end(); }
CASE(looked_up_full) { begin(); looked_up<<<2, 64>>>(reinterpret_cast<int*>(in), reinterpret_cast<int*>(out), 64); end(); }
CASE(looked_up_empty) { begin(); looked_up<<<2, 64>>>(reinterpret_cast<int*>(in), reinterpret_cast<int*>(out), 0); end(); }
