// The game of life: a byte a cell, tiles in shared memory, 32 cells in a word.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      return 1;                                                                              \
    }                                                                                        \
  } while (0)
#define THRICE for (int round = 0; round < 3; ++round)

__global__ void bytes(const unsigned char* in, unsigned char* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int left = (x + width - 1) % width, right = (x + 1) % width, up = (y + height - 1) % height, down = (y + 1) % height;
  int sum = in[up * width + left] + in[up * width + x] + in[up * width + right] + in[y * width + left] + in[y * width + right] +
            in[down * width + left] + in[down * width + x] + in[down * width + right];
  out[y * width + x] = sum == 3 || (sum == 2 && in[y * width + x]);
}

__global__ void tiles(const unsigned char* in, unsigned char* out, int width, int height) {
  __shared__ unsigned char cell[10][34];
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 340; i += 256) {
    int x = (blockIdx.x * 32 + i % 34 + width - 1) % width, y = (blockIdx.y * 8 + i / 34 + height - 1) % height;
    cell[i / 34][i % 34] = in[y * width + x];
  }
  __syncthreads();
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1, sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += cell[ty + dy][tx + dx];
  unsigned char own = cell[ty][tx];
  sum -= own;
  out[(blockIdx.y * 8 + threadIdx.y) * width + blockIdx.x * 32 + threadIdx.x] = sum == 3 || (sum == 2 && own);
}

__device__ void add(unsigned v, unsigned& one, unsigned& two, unsigned& four) {
  unsigned carry = one & v;
  one ^= v;
  four |= two & carry;
  two ^= carry;
}

__global__ void words(const unsigned* in, unsigned* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned one = 0, two = 0, four = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    const unsigned* row = in + (y + dy + height) % height * width;
    unsigned left = row[(x + width - 1) % width], here = row[x], right = row[(x + 1) % width];
    add(__funnelshift_l(left, here, 1), one, two, four);
    add(__funnelshift_r(here, right, 1), one, two, four);
    if (dy != 0) add(here, one, two, four);
  }
  out[y * width + x] = two & ~four & (one | in[y * width + x]);
}

int main() {
  const int width = 1024, height = 1024;
  std::vector<unsigned char> host(width * height);
  for (size_t i = 0; i < host.size(); ++i) host[i] = (i * 2654435761u >> 28) < 5;
  unsigned char *a, *b;
  CHECK(cudaMalloc(&a, width * height));
  CHECK(cudaMalloc(&b, width * height));
  CHECK(cudaMemcpy(a, host.data(), width * height, cudaMemcpyHostToDevice));
  THRICE {
    bytes<<<dim3(width / 32, height / 8), dim3(32, 8)>>>(a, b, width, height);
    std::swap(a, b);
  }
  THRICE {
    tiles<<<dim3(width / 32, height / 8), dim3(32, 8)>>>(a, b, width, height);
    std::swap(a, b);
  }
  THRICE {
    words<<<dim3(2, 256), dim3(16, 16)>>>((unsigned*)a, (unsigned*)b, 32, 4096);
    std::swap(a, b);
  }
  CHECK(cudaMemcpy(host.data(), a, 100, cudaMemcpyDeviceToHost));
  std::printf("%d\n", host[50]);
  return 0;
}
