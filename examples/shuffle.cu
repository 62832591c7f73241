// shuffle: lanes of a warp read each other's registers, with no memory in between.
// Look at the width of 16: a warp is cut in two and each half shuffles by itself. Scalars, arrays and floats all
// travel.
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

constexpr unsigned kAll = 0xffffffffu;
constexpr int kWidth = 16, kSegment = 4, kThreads = 32;

__global__ void broadcast(int* out, const int* in, int source) {
  int value = in[threadIdx.x];
  out[threadIdx.x] = __shfl_sync(kAll, value, source, kWidth);
}
__global__ void up(int* out, const int* in, unsigned delta) {
  int value = in[threadIdx.x];
  out[threadIdx.x] = __shfl_up_sync(kAll, value, delta, kWidth);
}
__global__ void down(int* out, const int* in, unsigned delta) {
  int value = in[threadIdx.x];
  out[threadIdx.x] = __shfl_down_sync(kAll, value, delta, kWidth);
}
__global__ void wrap(int* out, const int* in, int offset) {  // the source lane is taken modulo the width
  int value = in[threadIdx.x];
  out[threadIdx.x] = __shfl_sync(kAll, value, threadIdx.x + offset, kWidth);
}
__global__ void butterfly(int* out, const int* in, int mask) {
  int value = in[threadIdx.x];
  out[threadIdx.x] = __shfl_xor_sync(kAll, value, mask, kWidth);
}
__global__ void butterfly_array(int* out, const int* in, int mask) {
  int value[kSegment];
  for (int k = 0; k < kSegment; ++k) value[k] = in[threadIdx.x * kSegment + k];
  for (int k = 0; k < kSegment; ++k) value[k] = __shfl_xor_sync(kAll, value[k], mask, kWidth);
  for (int k = 0; k < kSegment; ++k) out[threadIdx.x * kSegment + k] = value[k];
}

// Two partners exchange elements at different places of their arrays: one of them swaps before and after.
__device__ void exchange(int* value, int lane, int mask, int first, int second) {
  bool lower = (lane & mask) == 0;
  if (lower) {
    int t = value[first];
    value[first] = value[second];
    value[second] = t;
  }
  value[second] = __shfl_xor_sync(kAll, value[second], mask, kWidth);
  if (lower) {
    int t = value[first];
    value[first] = value[second];
    value[second] = t;
  }
}
__global__ void butterfly_swap(int* out, const int* in, int mask, int first, int second) {
  int value[kSegment];
  for (int k = 0; k < kSegment; ++k) value[k] = in[threadIdx.x * kSegment + k];
  exchange(value, threadIdx.x, mask, first, second);
  for (int k = 0; k < kSegment; ++k) out[threadIdx.x * kSegment + k] = value[k];
}
__global__ void float_and_double(int* out, const int* in) {
  float f = __shfl_down_sync(kAll, in[threadIdx.x] * 0.5f, 1);
  double d = __shfl_up_sync(kAll, in[threadIdx.x] * 0.25, 1);
  long long l = __shfl_xor_sync(kAll, in[threadIdx.x] + (1LL << 40), 31);
  out[threadIdx.x] = (int)(f * 2.0f) + (int)(d * 4.0) * 1000 + (int)(l - (1LL << 40)) * 1000000;
}

int main() {
  const int n = kThreads * kSegment;
  std::vector<int> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = i;
  int *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, n * sizeof(int)));
  CHECK(cudaMalloc(&d_out, n * sizeof(int)));
  CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  int wrong = 0;
  auto show = [&](const char* name, int count, std::function<int(int)> expected, std::function<void()> launch) {
    CHECK(cudaMemset(d_out, 0xff, n * sizeof(int)));
    launch();
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < count; ++i) bad += out[i] != expected(i);
    std::printf("%-20s:", name);
    for (int i = 0; i < 16; ++i) std::printf(" %2d", out[i]);
    std::printf("%s\n", bad ? "  WRONG" : "");
    wrong += bad;
  };
  show(
      "broadcast lane 2", 32, [](int i) { return i / 16 * 16 + 2; }, [&] { broadcast<<<1, 32>>>(d_out, d_in, 2); });
  show(
      "up by 2", 32, [](int i) { return i % 16 < 2 ? i : i - 2; }, [&] { up<<<1, 32>>>(d_out, d_in, 2); });
  show(
      "down by 2", 32, [](int i) { return i % 16 > 13 ? i : i + 2; }, [&] { down<<<1, 32>>>(d_out, d_in, 2); });
  show(
      "wrap left by 2", 32, [](int i) { return i / 16 * 16 + (i + 2) % 16; }, [&] { wrap<<<1, 32>>>(d_out, d_in, 2); });
  show(
      "wrap right by 2", 32, [](int i) { return i / 16 * 16 + (i + 14) % 16; },
      [&] { wrap<<<1, 32>>>(d_out, d_in, -2); });
  show(
      "butterfly 1", 32, [](int i) { return i ^ 1; }, [&] { butterfly<<<1, 32>>>(d_out, d_in, 1); });
  show(
      "butterfly 8", 32, [](int i) { return i ^ 8; }, [&] { butterfly<<<1, 32>>>(d_out, d_in, 8); });
  show(
      "arrays, butterfly 1", n, [](int i) { return (i / 4 ^ 1) * 4 + i % 4; },
      [&] { butterfly_array<<<1, 32>>>(d_out, d_in, 1); });
  show(
      "swap places 0 and 3", n,
      [](int i) {
        int lane = i / 4, k = i % 4;
        if (lane % 2 == 0 && k == 0) return (lane + 1) * 4 + 3;
        if (lane % 2 == 1 && k == 3) return (lane - 1) * 4;
        return i;
      },
      [&] { butterfly_swap<<<1, 32>>>(d_out, d_in, 1, 0, 3); });
  show(
      "float, double, 64-bit", 32,
      [](int i) { return (i == 31 ? i : i + 1) + (i == 0 ? i : i - 1) * 1000 + (i ^ 31) * 1000000; },
      [&] { float_and_double<<<1, 32>>>(d_out, d_in); });
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  std::printf("shuffle: %s\n", wrong ? "FAILED" : "every lane got its neighbour's value");
  return wrong != 0;
}
