// More than 2^32 items: needs 60 GB of device memory, so it is not one of the tests that run everywhere.
#include <warpbeam/algorithms/algorithms.cuh>

#include "check.h"

using namespace warpbeam;
using check::Array;

constexpr long long kCount = (1LL << 32) + 12345;

struct Widen {
  __host__ __device__ unsigned long long operator()(unsigned x) const { return x; }
};
struct IsSeven {
  __host__ __device__ bool operator()(unsigned x) const { return x % 16 == 7; }
};

__global__ void fill_low_bits(unsigned* data, long long count) {
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL) data[i] = i % 1024;
}
// The sum of i % 1024 over everything before i, modulo 2^32.
__global__ void check_scan(const unsigned* sums, long long count, unsigned long long* wrong) {
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL) {
    unsigned long long rest = i % 1024;
    unsigned want = static_cast<unsigned>(i / 1024 * (1023ull * 512) + rest * (rest - 1) / 2);
    if (sums[i] != want) atomicAdd(wrong, 1ull);
  }
}
__global__ void check_constant(const unsigned* data, long long count, unsigned long long* wrong) {
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL)
    if (data[i] != (i * 16 + 7) % 1024) atomicAdd(wrong, 1ull);
}
__global__ void check_sorted(const unsigned char* data, long long count, unsigned long long* wrong) {
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i + 1 < count; i += gridDim.x * 256LL)
    if (data[i] > data[i + 1]) atomicAdd(wrong, 1ull);
}

int main() {
  Array<unsigned> in(kCount), out(kCount);
  Array<unsigned long long> sum(1), wrong(1);
  Array<long long> kept(1);
  fill_low_bits<<<4096, 256>>>(in.data(), kCount);
  unsigned long long want = 0;
  for (long long i = 0; i < 1024; ++i) want += i * (kCount / 1024 + (i < kCount % 1024));
  CHECK_CUDA(transform_reduce(on(), in.data(), in.data() + kCount, sum.data(), 0ull, Plus{}, Widen{}));
  CHECK(sum.first() == want, sum.first());

  CHECK_CUDA(cudaMemset(wrong.data(), 0, 8));
  CHECK_CUDA(exclusive_sum(on(), in.data(), in.data() + kCount, out.data()));
  check_scan<<<4096, 256>>>(out.data(), kCount, wrong.data());
  CHECK(wrong.first() == 0, wrong.first());

  CHECK_CUDA(copy_if(on(), in.data(), in.data() + kCount, out.data(), kept.data(), IsSeven{}));
  CHECK(kept.first() == (kCount - 7 + 15) / 16, kept.first());
  check_constant<<<4096, 256>>>(out.data(), (kCount - 7 + 15) / 16, wrong.data());
  CHECK(wrong.first() == 0, wrong.first());

  auto* bytes = reinterpret_cast<unsigned char*>(in.data());
  CHECK_CUDA(sort_keys(on(), bytes, reinterpret_cast<unsigned char*>(out.data()), kCount));
  check_sorted<<<4096, 256>>>(reinterpret_cast<unsigned char*>(out.data()), kCount, wrong.data());
  CHECK(wrong.first() == 0, wrong.first());

  Array<unsigned long long> before(256), after(256);
  CHECK_CUDA(histogram_even(on(), bytes, kCount, before.data(), 256, 0, 256));
  CHECK_CUDA(histogram_even(on(), reinterpret_cast<unsigned char*>(out.data()), kCount, after.data(), 256, 0, 256));
  CHECK_EQUAL(after.host(), before.host());
  return check::result("large");
}
