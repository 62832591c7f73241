// Addresses that follow from threadIdx: neighbours at the ends of an allocation, rows of small square blocks, indices that
// wrap around between one row of a block and the next.
#include <cstdio>
#include <vector>

#define CHECK(x) if (!(x)) { std::printf("line %d: %s\n", __LINE__, #x); return 1; }

__global__ void neighbours(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i >= n - 1) return;
  out[i] = 5 * in[i] + 3 * in[i - 1] - in[i + 1];
}

template <int kSide>
__global__ void tiles(const int* in, int* out, int* turned, int width) {
  __shared__ int tile[kSide][kSide];
  __shared__ int skewed[kSide][kSide + 1];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * kSide + tx, y = blockIdx.y * kSide + ty;
  tile[ty][tx] = in[y * width + x];
  skewed[tx][ty] = in[y * width + x];
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < kSide; ++k) sum += tile[ty][k] * tile[k][tx] - tile[kSide - 1 - ty][k];
  out[y * width + x] = sum;
  turned[(blockIdx.x * kSide + ty) * width + blockIdx.y * kSide + tx] = skewed[ty][tx];
}

// The index wraps around in the middle of a warp: the rows of threads are 2^28 elements of 16 bytes apart, modulo 2^32.
__global__ void wrapping(const int* in, int* out, unsigned first) {
  unsigned x = threadIdx.x, y = threadIdx.y;
  unsigned i = first + y * 0x80000000u + x;
  out[y * 16 + x] = in[i & 1023] + static_cast<int>(static_cast<unsigned long long>(i) >> 31);
  out[256 + y * 16 + x] = static_cast<int>(static_cast<long long>(static_cast<int>(first + y * 0x40000000u)) >> 20) + in[x];
}

// Some bits of an index stay: those that count the lanes of a row, those above them, or a mixture.
template <unsigned kMask>
__global__ void masked(const int* in, int* out) {
  unsigned x = threadIdx.x, t = blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + x;
  unsigned row = x & kMask, all = t & kMask, striped = (t & ~31u) * 3 | (t & 31);
  out[t] = in[row & 1023] + 7 * in[all & 1023] + 11 * in[striped & 1023] + 13 * in[((x & 992) * 5 | (x & 31)) & 1023] + static_cast<int>(row ^ all);
}

template <unsigned kMask>
int check_masked(const std::vector<int>& in, const int* d_in, int* d_out) {
  for (const dim3 block : {dim3(128), dim3(32, 4), dim3(64, 2), dim3(16, 8), dim3(8, 8), dim3(4, 8), dim3(33, 3), dim3(1, 64), dim3(2, 48)}) {
    const unsigned threads = block.x * block.y;
    masked<kMask><<<2, block>>>(d_in, d_out);
    std::vector<int> out(2 * threads);
    cudaMemcpy(out.data(), d_out, out.size() * 4, cudaMemcpyDeviceToHost);
    CHECK(cudaGetLastError() == cudaSuccess);
    for (unsigned t = 0; t < out.size(); ++t) {
      const unsigned x = t % threads % block.x, row = x & kMask, all = t & kMask, striped = (t & ~31u) * 3 | (t & 31);
      CHECK(out[t] == in[row & 1023] + 7 * in[all & 1023] + 11 * in[striped & 1023] + 13 * in[((x & 992) * 5 | (x & 31)) & 1023] + static_cast<int>(row ^ all));
    }
  }
  return 0;
}

template <int kSide>
int check_tiles(const std::vector<int>& in, int width) {
  int *d_in, *d_out, *d_turned;
  const size_t n = static_cast<size_t>(width) * width;
  cudaMalloc(&d_in, n * 4);
  cudaMalloc(&d_out, n * 4);
  cudaMalloc(&d_turned, n * 4);
  cudaMemcpy(d_in, in.data(), n * 4, cudaMemcpyHostToDevice);
  tiles<kSide><<<dim3(width / kSide, width / kSide), dim3(kSide, kSide)>>>(d_in, d_out, d_turned, width);
  std::vector<int> out(n), turned(n);
  cudaMemcpy(out.data(), d_out, n * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(turned.data(), d_turned, n * 4, cudaMemcpyDeviceToHost);
  CHECK(cudaGetLastError() == cudaSuccess);
  for (int y = 0; y < width; ++y)
    for (int x = 0; x < width; ++x) {
      const int top = y / kSide * kSide, left = x / kSide * kSide;
      const auto tile = [&](int r, int c) { return in[(top + r) * width + left + c]; };
      int sum = 0;
      for (int k = 0; k < kSide; ++k) sum += tile(y - top, k) * tile(k, x - left) - tile(kSide - 1 - (y - top), k);
      CHECK(out[y * width + x] == sum);
      CHECK(turned[x * width + y] == in[y * width + x]);
    }
  return 0;
}

int main() {
  const int width = 96, n = width * width;
  std::vector<int> in(n);
  for (int k = 0; k < n; ++k) in[k] = static_cast<int>(k * 2654435761u >> 12);
  if (check_tiles<4>(in, width) || check_tiles<8>(in, width) || check_tiles<16>(in, width) || check_tiles<32>(in, width)) return 1;

  for (int size : {3, 31, 32, 33, 64, 257, 1000}) {
    int *d_in, *d_out;
    cudaMalloc(&d_in, size * 4);
    cudaMalloc(&d_out, size * 4);
    cudaMemcpy(d_in, in.data(), size * 4, cudaMemcpyHostToDevice);
    cudaMemset(d_out, 0, size * 4);
    neighbours<<<(size + 127) / 128, 128>>>(d_in, d_out, size);
    std::vector<int> out(size);
    cudaMemcpy(out.data(), d_out, size * 4, cudaMemcpyDeviceToHost);
    CHECK(cudaGetLastError() == cudaSuccess);
    for (int i = 0; i < size; ++i) CHECK(out[i] == (i < 1 || i >= size - 1 ? 0 : 5 * in[i] + 3 * in[i - 1] - in[i + 1]));
  }

  int *d_in, *d_out;
  cudaMalloc(&d_in, 1024 * 4);
  cudaMalloc(&d_out, 512 * 4);
  cudaMemcpy(d_in, in.data(), 1024 * 4, cudaMemcpyHostToDevice);
  if (check_masked<0>(in, d_in, d_out) || check_masked<1>(in, d_in, d_out) || check_masked<7>(in, d_in, d_out) || check_masked<8>(in, d_in, d_out) ||
      check_masked<16>(in, d_in, d_out) || check_masked<31>(in, d_in, d_out) || check_masked<48>(in, d_in, d_out) || check_masked<95>(in, d_in, d_out) ||
      check_masked<239>(in, d_in, d_out) || check_masked<992>(in, d_in, d_out) || check_masked<1008>(in, d_in, d_out) || check_masked<1014>(in, d_in, d_out) || check_masked<~3u>(in, d_in, d_out))
    return 1;
  for (unsigned first : {0u, 0x7ffffff8u, 0xfffffff8u, 12345u, 0x3ffffffcu}) {
    wrapping<<<1, dim3(16, 16)>>>(d_in, d_out, first);
    std::vector<int> out(512);
    cudaMemcpy(out.data(), d_out, 512 * 4, cudaMemcpyDeviceToHost);
    for (unsigned y = 0; y < 16; ++y)
      for (unsigned x = 0; x < 16; ++x) {
        const unsigned i = first + y * 0x80000000u + x;
        CHECK(out[y * 16 + x] == in[i & 1023] + static_cast<int>(i >> 31));
        CHECK(out[256 + y * 16 + x] == (static_cast<int>(first + y * 0x40000000u) >> 20) + in[x]);
      }
  }
  return 0;
}
