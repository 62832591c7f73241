// Structures passed by value whose members are chosen while the kernel runs, through references, in loops, by lanes of their own;
// allocations that come and go in a loop, which start as zeros, and structures of launches that overlap.
#include <cstdio>
#include <vector>

struct Layout {
  int sizes[8], strides[8];
  int dimensions;
};

__device__ int offset_of(const Layout& l, int i) {
  int offset = 0;
  for (int d = l.dimensions - 1; d > 0; --d) {
    offset += i % l.sizes[d] * l.strides[d];
    i /= l.sizes[d];
  }
  return offset + i * l.strides[0];
}

__global__ void gather(const int* in, int* out, Layout from, Layout to, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[offset_of(to, i)] = in[offset_of(from, i)];
}

struct Mixed {
  char tag[3];
  short steps[5];
  double scale[4];
  int* places[4];
};

__device__ double weigh(const Mixed& m, int k) { return m.scale[k & 3] * m.steps[k % 5] + m.tag[k % 3]; }

__global__ void by_lane(Mixed m, double* out) {
  out[threadIdx.x] = weigh(m, threadIdx.x);
  m.places[threadIdx.x & 3][threadIdx.x] = threadIdx.x;
}

// This one changes what it was given.
__global__ void changes(Mixed m, double* out) {
  m.steps[threadIdx.x % 5] += 100;
  m.scale[threadIdx.x & 3] = 2;
  out[threadIdx.x] = weigh(m, threadIdx.x);
}

__global__ void note(Layout l, int* out, int rounds) {
  int sum = 0;
  for (int k = 0; k < rounds; ++k) sum += l.sizes[(k + threadIdx.x) % 8];
  out[threadIdx.x] = sum;
}

int main() {
  bool good = true;
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) std::printf("wrong: %s\n", what), good = false;
  };
  constexpr int n = 24 * 10 * 7;
  int *in, *out;
  cudaMallocManaged(&in, n * 4);
  cudaMallocManaged(&out, n * 4);
  for (int i = 0; i < n; ++i) in[i] = i * 3 + 1;
  const Layout from{{24, 10, 7}, {70, 7, 1}, 3}, to{{24, 10, 7}, {1, 24, 240}, 3};
  gather<<<3, 128>>>(in, out, from, to, n);
  cudaDeviceSynchronize();
  for (int a = 0; a < 24; ++a)
    for (int b = 0; b < 10; ++b)
      for (int c = 0; c < 7; ++c) expect(out[a + 24 * b + 240 * c] == in[70 * a + 7 * b + c], "gather");

  Mixed m{{1, 2, 3}, {5, -6, 7, -8, 9}, {0.5, 1.5, -2.5, 4}, {}};
  int* places;
  double* results;
  cudaMallocManaged(&places, 4 * 64 * 4);
  cudaMallocManaged(&results, 64 * 8);
  for (int k = 0; k < 4; ++k) m.places[k] = places + 64 * k;
  by_lane<<<1, 64>>>(m, results);
  cudaDeviceSynchronize();
  for (int t = 0; t < 64; ++t) {
    expect(results[t] == m.scale[t & 3] * m.steps[t % 5] + m.tag[t % 3], "members by lane");
    expect(places[64 * (t & 3) + t] == t, "pointers by lane");
  }
  changes<<<1, 64>>>(m, results);
  cudaDeviceSynchronize();
  for (int t = 0; t < 64; ++t) expect(results[t] == 2.0 * (m.steps[t % 5] + 100) + m.tag[t % 3], "a changed structure");

  // Many launches under way, each with a structure of its own.
  cudaStream_t streams[4];
  int* sums;
  cudaMallocManaged(&sums, 400 * 32 * 4);
  for (auto& s : streams) cudaStreamCreate(&s);
  for (int k = 0; k < 400; ++k) {
    Layout l{};
    for (int d = 0; d < 8; ++d) l.sizes[d] = k * 8 + d;
    note<<<1, 32, 0, streams[k % 4]>>>(l, sums + 32 * k, 8 * (1 + k % 50));
  }
  cudaDeviceSynchronize();
  for (int k = 0; k < 400; ++k)
    for (int t = 0; t < 32; ++t) expect(sums[32 * k + t] == (k * 64 + 28) * (1 + k % 50), "structures of many launches");

  for (const size_t bytes : {size_t(1), size_t(5000), size_t(1) << 20, size_t(6) << 20})
    for (int k = 0; k < 20; ++k) {
      char *p, *q;
      std::vector<char> host(bytes, 1);
      cudaMalloc(&p, bytes);
      cudaMalloc(&q, bytes);
      cudaMemcpy(host.data(), k % 2 ? p : q, bytes, cudaMemcpyDeviceToHost);
      for (const char c : host) expect(c == 0, "fresh memory");
      cudaMemset(p, 17, bytes);
      cudaMemset(q, 18, bytes);
      cudaMemcpy(host.data(), p, bytes, cudaMemcpyDeviceToHost);
      expect(host[0] == 17 && host[bytes - 1] == 17, "two allocations lie apart");
      cudaFree(q);
      cudaFree(p);
    }
  expect(cudaGetLastError() == cudaSuccess, "no error");
  std::printf(good ? "PASSED\n" : "FAILED\n");
  return good ? 0 : 1;
}
