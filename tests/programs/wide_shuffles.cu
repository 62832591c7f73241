// cuda::device::warp_shuffle_* for whatever a lane holds, cuda::overflow_cast, cuda::is_floating_point and
// cuda::for_each_canceled_block.
#include <cuda/numeric>
#include <cuda/std/array>
#include <cuda/type_traits>
#include <cuda/warp>
#include <cuda/work_stealing>
#include <cuda_fp16.h>

#include <cstdio>

struct Particle {
  double x;
  int id;
  char tag;
};

static_assert(cuda::overflow_cast<unsigned>(-1).overflow && !cuda::overflow_cast<unsigned>(7).overflow, "");
static_assert(cuda::overflow_cast<signed char>(200).overflow && cuda::overflow_cast<signed char>(200).value == -56, "");
static_assert(!cuda::overflow_cast<long long>(~0u) && cuda::overflow_cast<int>(~0ull), "");
static_assert(cuda::is_floating_point_v<__half> && cuda::is_floating_point_v<const float> && !cuda::is_floating_point<int>::value, "");

__global__ void shuffle(int* right) {
  const int lane = threadIdx.x;
  const Particle mine{lane * 0.5, lane, char('a' + lane % 26)};
  int ok = 1;
  const auto third = cuda::device::warp_shuffle_idx(mine, 3);
  ok &= third.data.x == 1.5 && third.data.id == 3 && third.data.tag == 'd' && third.pred;
  const auto before = cuda::device::warp_shuffle_up(mine, 2);
  ok &= before.pred == (lane >= 2) && before.data.id == (lane >= 2 ? lane - 2 : lane);
  const auto after = cuda::device::warp_shuffle_down<8>(mine, 3);
  ok &= after.pred == (lane % 8 < 5) && after.data.id == (lane % 8 < 5 ? lane + 3 : lane);
  const auto other = cuda::device::warp_shuffle_xor(mine, 1, cuda::std::integral_constant<int, 16>());
  ok &= other.data.id == (lane ^ 1) && other.data.x == (lane ^ 1) * 0.5;
  const long long big = cuda::device::warp_shuffle_idx(1ll << lane, 31);
  ok &= big == 1ll << 31;
  const cuda::std::array<short, 3> few = cuda::device::warp_shuffle_idx<4>(cuda::std::array<short, 3>{short(lane), 5, 6}, 1);
  ok &= few[0] == (lane & ~3) + 1 && few[2] == 6;
  if (lane >= 16) ok &= cuda::device::warp_shuffle_idx(lane, 20, 0xffff0000u).data == 20;
  right[lane] = ok;
}

__global__ void count(int* done) {
  cuda::for_each_canceled_block<2>([&](dim3 block) {
    if (threadIdx.x == 0) atomicAdd(&done[block.y * 3 + block.x], 1);
    __syncthreads();
  });
}

int main() {
  int *right, *done;
  cudaMallocManaged(&right, 32 * sizeof(int));
  cudaMallocManaged(&done, 12 * sizeof(int));
  shuffle<<<1, 32>>>(right);
  count<<<dim3(3, 4), 64>>>(done);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int wrong = 0;
  for (int i = 0; i < 32; ++i)
    if (right[i] != 1) wrong = printf("lane %d\n", i);
  for (int i = 0; i < 12; ++i)
    if (done[i] != 1) wrong = printf("block %d: %d times\n", i, done[i]);
  puts(wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
