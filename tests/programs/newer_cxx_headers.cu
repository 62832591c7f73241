// Headers that libcu++ has gained: whole-number arithmetic, fields of bits, span and mdspan in kernels, references to streams.
#include <cuda/bit>
#include <cuda/cmath>
#include <cuda/discard_memory>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/mdspan>
#include <cuda/std/span>
#include <cuda/stream_ref>

#include <cstdio>
#include <vector>

static int failures = 0;
#define EXPECT(condition) \
  if (!(condition)) ++failures, printf("line %d: %s\n", __LINE__, #condition)

static_assert(cuda::ceil_div(10, 3) == 4 && cuda::ceil_div(9u, 3u) == 3 && cuda::ceil_div(255, 256LL) == 1);
static_assert(cuda::ceil_div(~0u, 2u) == 0x80000000u && cuda::round_up(10, 4) == 12 && cuda::round_down(10, 4) == 8);
static_assert(cuda::ilog2(1000) == 9 && cuda::ilog10(1000) == 3 && cuda::ilog10(999ull) == 2 && cuda::isqrt(99) == 9);
static_assert(cuda::is_power_of_two(64) && !cuda::is_power_of_two(0) && cuda::next_power_of_two(65) == 128);
static_assert(cuda::prev_power_of_two(65) == 64 && cuda::uabs(-2147483647 - 1) == 2147483648u);
static_assert(cuda::ipow(3, 4) == 81 && cuda::ipow(-2, 3) == -8 && cuda::ipow(2, -1) == 0 && cuda::ipow(-1, -3) == -1);
static_assert(cuda::ipow(7ull, 20u) == 79792266297612001ull && cuda::neg(5) == -5 && cuda::neg(-2147483647 - 1) == -2147483647 - 1);
static_assert(cuda::mul_hi(0x80000000u, 6u) == 3 && cuda::mul_hi(-5, 3) == -1 && cuda::mul_hi(1ull << 63, 6ull) == 3);
static_assert(cuda::bitmask<unsigned>(4, 8) == 0xff0 && cuda::bitmask<unsigned>(0, 32) == ~0u);
static_assert(cuda::bitfield_insert(0xabcdefffu, 0x12u, 8, 8) == 0xabcd12ff && cuda::bitfield_extract(0xabcdefu, 8, 8) == 0xcd);
static_assert(cuda::bit_reverse(1u) == 0x80000000u && cuda::bit_reverse((unsigned char)3) == 0xc0);
static_assert(cuda::std::popcount(0xf0fu) == 8 && cuda::std::countl_zero((unsigned char)1) == 7 && cuda::std::countr_zero(8ull) == 3);
static_assert(cuda::std::bit_ceil(5u) == 8 && cuda::std::bit_floor(5u) == 4 && cuda::std::rotl(0x80000001u, 4) == 0x18);
static_assert(cuda::std::bit_width(255u) == 8 && cuda::std::has_single_bit(16u) && cuda::std::rotr(1u, 1) == 0x80000000u);

using Tile = cuda::std::mdspan<float, cuda::std::extents<int, 8, cuda::std::dynamic_extent>>;
using Columns = cuda::std::mdspan<float, cuda::std::dextents<int, 2>, cuda::std::layout_left>;

__global__ void transpose(Tile in, Columns out) {
  for (int i = threadIdx.y; i < in.extent(0); i += blockDim.y)
    for (int k = threadIdx.x; k < in.extent(1); k += blockDim.x) out(i, k) = in(i, k);
}

__global__ void sums(cuda::std::span<const int> from, cuda::std::span<int, 4> to, unsigned* bits) {
  __shared__ int shared[32];
  cuda::std::span<int, 32> all(shared);
  all[threadIdx.x] = threadIdx.x < from.size() ? from[threadIdx.x] : 0;
  __syncthreads();
  if (threadIdx.x < to.size()) {
    int sum = 0;
    for (int value : all.subspan(8 * threadIdx.x, 8)) sum += value;
    const auto middle = all.subspan<8, 16>();
    static_assert(decltype(middle)::extent == 16 && decltype(all.subspan<24>())::extent == 8);
    sum += all.subspan<24>().data() - middle.data() - 16;
    to[threadIdx.x] = sum;
  }
  bits[threadIdx.x] = cuda::bit_reverse(threadIdx.x) ^ cuda::std::popcount(threadIdx.x) ^ cuda::ceil_div(threadIdx.x, 3u) ^
                      cuda::std::bit_cast<unsigned>(1.0f) ^ cuda::bitfield_extract(threadIdx.x, 1, 3);
  cuda::discard_memory(shared, sizeof(shared));
}

__global__ void divisions(cuda::fast_mod_div<unsigned> by, unsigned* out) {
  const auto [quotient, rest] = cuda::div(100u + threadIdx.x, by);
  out[threadIdx.x] = quotient * by + rest + (100u + threadIdx.x) / by - quotient + (100u + threadIdx.x) % by - rest;
}

__global__ void never_ends(volatile int* stop) {
  while (!*stop) {
  }
}

int main() {
  unsigned* hundreds;
  cudaMallocManaged(&hundreds, 32 * sizeof(unsigned));
  divisions<<<1, 32>>>(cuda::fast_mod_div<unsigned>(7), hundreds);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess && hundreds[0] == 100 && hundreds[31] == 131);
  float *in, *out;
  cudaMallocManaged(&in, 8 * 5 * sizeof(float));
  cudaMallocManaged(&out, 8 * 5 * sizeof(float));
  for (int i = 0; i < 40; ++i) in[i] = i;
  Tile tile(in, 5);
  Columns columns(out, 8, 5);
  transpose<<<1, dim3(4, 4)>>>(tile, columns);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(out[1] == in[5] && out[8] == in[1] && tile.size() == 40 && columns.stride(1) == 8 && tile.rank_dynamic() == 1);
  cuda::std::mdspan any(in, 2, 4, 5);
  EXPECT(any(1, 2, 3) == 33 && (any[cuda::std::array<int, 3>{1, 2, 3}] == 33) && any.extent(2) == 5);
  using Strided = cuda::std::mdspan<float, cuda::std::dextents<int, 2>, cuda::std::layout_stride>;
  Strided every(in, Strided::mapping_type(cuda::std::dextents<int, 2>(4, 2), cuda::std::array<int, 2>{10, 3}));
  EXPECT(every(2, 1) == 23 && every.mapping().required_span_size() == 34);

  int *numbers, *results;
  unsigned* bits;
  cudaMallocManaged(&numbers, 30 * sizeof(int));
  cudaMallocManaged(&results, 4 * sizeof(int));
  cudaMallocManaged(&bits, 32 * sizeof(unsigned));
  for (int i = 0; i < 30; ++i) numbers[i] = i;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  const cuda::stream_ref reference(stream);
  sums<<<1, 32, 0, reference.get()>>>(cuda::std::span<int>(numbers, 30), cuda::std::span<int, 4>(results, 4), bits);
  reference.sync();
  EXPECT(reference.is_done() && reference == cuda::stream_ref(stream) && reference != cuda::stream_ref());
  EXPECT(results[0] == 28 && results[3] == 24 + 25 + 26 + 27 + 28 + 29);
  EXPECT(bits[11] == (0xd0000000u ^ 3 ^ 4 ^ 0x3f800000u ^ 5));

  int* stop;
  cudaHostAlloc(&stop, sizeof(int), cudaHostAllocMapped);
  *stop = 0;
  never_ends<<<1, 1, 0, stream>>>(stop);
  EXPECT(!reference.is_done());
  *(volatile int*)stop = 1;
  reference.sync();

  std::vector<float> data(12, 1.5f);
  const cuda::std::span<const float> view(data);
  EXPECT(view.size() == 12 && view.last(2).back() == 1.5f && cuda::std::span<const float>().empty());
  puts(failures ? "failed" : "passed");
  return failures != 0;
}
