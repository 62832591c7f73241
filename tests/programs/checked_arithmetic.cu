// nvcc: no
// Arithmetic of newer versions of libcu++ that tells whether the result fits, and masks of lanes.
#include <cuda/numeric>
#include <cuda/warp>

#include <cstdio>

static_assert(cuda::add_overflow(2147483647, 1).overflow && cuda::add_overflow(2147483647, 1).value == -2147483647 - 1, "");
static_assert(cuda::add_overflow<long long>(2147483647, 1).value == 2147483648ll && !cuda::add_overflow<long long>(2147483647, 1), "");
static_assert(cuda::sub_overflow(0u, 1u).overflow && cuda::sub_overflow<int>(0u, 1u).value == -1 && !cuda::sub_overflow<int>(0u, 1u), "");
static_assert(cuda::mul_overflow(65536, 65536).overflow && cuda::mul_overflow<long long>(65536, 65536).value == 1ll << 32, "");
static_assert(cuda::div_overflow(-2147483647 - 1, -1).overflow && cuda::div_overflow(-7, 2).value == -3 &&
                  cuda::div_overflow<unsigned>(-7, 2).overflow && !cuda::div_overflow<unsigned>(-1, 2).overflow, "");
static_assert(cuda::narrow<signed char>(100) == 100 && cuda::narrow_cast<unsigned char>(300) == 44, "");

// Every pair of a few awkward values; what is right comes from 128 bits.
template <class A, class B, class R>
__host__ __device__ int check() {
  const long long awkward[] = {0, 1, -1, 2, 7, -128, 127, 255, 32767, -32768, 2147483647, -2147483647 - 1, 4294967295ll,
                               9223372036854775807ll, -9223372036854775807ll - 1};
  int wrong = 0;
  for (long long i : awkward)
    for (long long k : awkward) {
      const A a = (A)i;
      const B b = (B)k;
      const __int128 sum = (__int128)a + b, difference = (__int128)a - b, product = (__int128)a * b;
      R r;
      wrong += cuda::add_overflow(r, a, b) != ((__int128)(R)sum != sum) || r != (R)sum;
      wrong += cuda::sub_overflow(r, a, b) != ((__int128)(R)difference != difference) || r != (R)difference;
      wrong += cuda::mul_overflow(r, a, b) != ((__int128)(R)product != product) || r != (R)product;
      if (b == 0) continue;
      const __int128 quotient = (__int128)a / b;
      wrong += cuda::div_overflow(r, a, b) != ((__int128)(R)quotient != quotient) || r != (R)quotient;
    }
  return wrong;
}
__host__ __device__ int all() {
  return check<int, int, int>() + check<unsigned, int, int>() + check<int, unsigned, unsigned>() + check<short, long long, int>() +
         check<long long, long long, long long>() + check<long long, unsigned, long long>() + check<signed char, signed char, signed char>() +
         check<unsigned char, int, long long>();
}

__global__ void kernel(int* o) {
  if (threadIdx.x == 0) o[0] = all();
  struct Three {
    int a, b, c;
  };
  using cuda::device::lane_mask;
  const Three same{1, 2, 3}, mine{1, 2, int(threadIdx.x / 8)};
  int ok = cuda::device::warp_match_all(same) && !cuda::device::warp_match_all(mine);
  ok &= cuda::device::warp_match_any(mine) == lane_mask(0xffu << (threadIdx.x & ~7u));
  if (threadIdx.x < 8) ok &= cuda::device::warp_match_all(mine, lane_mask(0xff));
  ok &= (lane_mask::all_less() | lane_mask::this_lane() | lane_mask::all_greater()) == lane_mask::all();
  if (!ok) atomicAdd(o + 1, 1);
}

int main() {
  int* o;
  cudaMallocManaged(&o, 2 * sizeof(int));
  kernel<<<1, 32>>>(o);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int threw = 0;
  try {
    (void)cuda::narrow<unsigned>(-1);
  } catch (const cuda::narrowing_error&) {
    threw = 1;
  }
  printf("device %d, lanes %d, host %d\n", o[0], o[1], all());
  const bool right = o[0] == 0 && o[1] == 0 && all() == 0 && threw;
  puts(right ? "PASSED" : "FAILED");
  return !right;
}
