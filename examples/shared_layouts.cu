// shared_layouts: write a shared tile one way, read it another; square and rectangular, static and dynamic, padded.
// Look at the pairs of subscripts: [y][x] is free of bank conflicts, [x][y] is a conflict as wide as the tile, and a
// padded row makes both free. The output shows which element each thread read, so a wrong index cannot hide.
// What `./warpbeam profile` counts:
//   shared_store_transactions_per_request of void row_row<32, 32>: 1
//   shared_store_transactions_per_request of void column_column<32, 32>: 32
//   shared_load_transactions_per_request of void row_column<32, 16>: 16
//   shared_load_transactions_per_request of void row_column_padded<32, 32>: 1
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

constexpr int kPad = 1;

__device__ int flat() { return threadIdx.y * blockDim.x + threadIdx.x; }

template <int kX, int kY>
__global__ void row_row(int* out) {
  __shared__ int tile[kY][kX];
  tile[threadIdx.y][threadIdx.x] = flat();
  __syncthreads();
  out[flat()] = tile[threadIdx.y][threadIdx.x];
}

template <int kX, int kY>
__global__ void column_column(int* out) {
  __shared__ int tile[kX][kY];
  tile[threadIdx.x][threadIdx.y] = flat();
  __syncthreads();
  out[flat()] = tile[threadIdx.x][threadIdx.y];
}

// From here on a thread reads the transposed tile: for a rectangle, its flat index is renumbered into kY columns.
template <int kX, int kY>
__global__ void row_column(int* out) {
  __shared__ int tile[kY][kX];
  int row = flat() / kY, column = flat() % kY;
  tile[threadIdx.y][threadIdx.x] = flat();
  __syncthreads();
  out[flat()] = tile[column][row];
}

template <int kX, int kY>
__global__ void column_row(int* out) {
  __shared__ int tile[kX][kY];
  int row = flat() / kY, column = flat() % kY;
  tile[threadIdx.x][threadIdx.y] = flat();
  __syncthreads();
  out[flat()] = tile[row][column];
}

template <int kX, int kY>
__global__ void row_column_padded(int* out) {
  __shared__ int tile[kY][kX + kPad];
  int row = flat() / kY, column = flat() % kY;
  tile[threadIdx.y][threadIdx.x] = flat();
  __syncthreads();
  out[flat()] = tile[column][row];
}

__global__ void row_column_dynamic(int* out) {
  extern __shared__ int tile[];
  int row = flat() / blockDim.y, column = flat() % blockDim.y;
  tile[flat()] = flat();
  __syncthreads();
  out[flat()] = tile[column * blockDim.x + row];
}

__global__ void row_column_dynamic_padded(int* out) {
  extern __shared__ int tile[];
  int row = flat() / blockDim.y, column = flat() % blockDim.y;
  tile[threadIdx.y * (blockDim.x + kPad) + threadIdx.x] = flat();
  __syncthreads();
  out[flat()] = tile[column * (blockDim.x + kPad) + row];
}

// How many passes a warp's worst access takes when bank = word % 32 and equal words are read once.
static int passes(int width, int height, int pitch, bool transposed) {
  int worst = 0;
  for (int warp = 0; warp < width * height / 32; ++warp) {
    std::vector<std::vector<int>> words(32);
    for (int lane = 0; lane < 32; ++lane) {
      int id = warp * 32 + lane;
      int word = transposed ? (id % height) * pitch + id / height : (id / width) * pitch + id % width;
      bool seen = false;
      for (int w : words[word % 32]) seen |= w == word;
      if (!seen) words[word % 32].push_back(word);
    }
    for (const auto& bank : words) worst = bank.size() > (size_t)worst ? (int)bank.size() : worst;
  }
  return worst;
}

template <int kX, int kY>
static int study(int* d_out) {
  const int n = kX * kY;
  const dim3 block(kX, kY);
  int wrong = 0;
  auto run = [&](const char* name, bool transposed, int pitch, std::function<void()> launch) {
    std::vector<int> out(n);
    CHECK(cudaMemset(d_out, 0xff, n * sizeof(int)));
    launch();
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < n; ++i) bad += out[i] != (transposed ? (i % kY) * kX + i / kY : i);
    std::printf("%2dx%-2d %-44s reads in %2d pass(es), %d wrong\n", kX, kY, name, passes(kX, kY, pitch, transposed),
                bad);
    wrong += bad;
  };
  run("write rows, read rows", false, kX, [&] { row_row<kX, kY><<<1, block>>>(d_out); });
  run("write columns, read columns", false, kX, [&] { column_column<kX, kY><<<1, block>>>(d_out); });
  run("write rows, read columns", true, kX, [&] { row_column<kX, kY><<<1, block>>>(d_out); });
  run("write columns, read rows", true, kX, [&] { column_row<kX, kY><<<1, block>>>(d_out); });
  run("write rows, read columns, padded", true, kX + kPad, [&] { row_column_padded<kX, kY><<<1, block>>>(d_out); });
  run("write rows, read columns, dynamic", true, kX, [&] { row_column_dynamic<<<1, block, n * sizeof(int)>>>(d_out); });
  run("write rows, read columns, dynamic and padded", true, kX + kPad,
      [&] { row_column_dynamic_padded<<<1, block, (kX + kPad) * kY * sizeof(int)>>>(d_out); });
  return wrong;
}

int main() {
  int* d_out;
  CHECK(cudaMalloc(&d_out, 32 * 32 * sizeof(int)));
  int wrong = study<32, 32>(d_out) + study<32, 16>(d_out) + study<16, 32>(d_out);
  CHECK(cudaFree(d_out));
  std::printf("shared_layouts: %s\n", wrong ? "FAILED" : "every thread read the element it should");
  return wrong != 0;
}
