// build: -I../../algorithms
// The examples of docs/algorithms.md, run and checked.
#include <warpbeam/algorithms/algorithms.cuh>

#include "check.h"

using namespace warpbeam;
using check::Array;

struct IsEven {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct Half {
  template <class At>
  __device__ float operator()(At at) const {
    return 0.5f * (at(-1) + at(1));
  }
};
// The sum of the neighbours in two or three dimensions.
struct Around {
  bool deep;
  template <class At>
  __device__ float operator()(At at) const {
    const float flat = at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1);
    return deep ? flat + at(0, 0, -1) + at(0, 0, 1) : flat;
  }
};

int main() {
  const long long n = 1000;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = (i * 7919) % 1000;
  Array<int> input(host), output(n), rest(n), offsets(std::vector<int>{0, 10, 10, 1000}), sums(3), keys(n);
  Array<long long> kept(1);
  Array<IndexedValue<int>> best(1);
  Array<unsigned> counts(10);
  int* in = input.data();
  int* out = output.data();
  cudaStream_t stream = nullptr;

  CHECK_CUDA(reduce(on(stream), in, in + n, out, 0, Plus{}));
  CHECK(output.host()[0] == 499500, output.host()[0]);
  CHECK_CUDA(transform_reduce(on(stream), in, in + n, out, 0, Plus{}, IsEven{}));
  CHECK(output.host()[0] == 500, output.host()[0]);
  CHECK_CUDA(argmin(on(stream), in, in + n, best.data()));
  CHECK(best.first().index == 0, best.first().index);
  CHECK_CUDA(argmax(on(stream), in, in + n, best.data()));
  CHECK(best.first().value == 999, best.first().value);

  CHECK_CUDA(exclusive_scan(on(stream), in, in + n, out, 0, Plus{}));
  CHECK(output.host()[2] == host[0] + host[1], 2);
  size_t bytes = 0;
  CHECK_CUDA(exclusive_scan(on(stream).measure(&bytes), in, in + n, out, 0, Plus{}));
  Array<char> storage(bytes);
  CHECK_CUDA(exclusive_scan(on(stream).with_storage(storage.data(), bytes), in, in + n, out, 0, Plus{}));
  CHECK(output.host()[3] == host[0] + host[1] + host[2], 3);

  CHECK_CUDA(inclusive_scan(on(stream), in, in + n, out, Plus{}));
  CHECK(output.host()[3] == host[0] + host[1] + host[2] + host[3], 3);
  CHECK_CUDA(exclusive_sum(on(stream), in, in + n, out));
  CHECK(output.host()[2] == host[0] + host[1], 2);

  CHECK_CUDA(copy_if(on(stream), in, in + n, out, kept.data(), IsEven{}));
  CHECK(kept.first() == 500, kept.first());
  CHECK_CUDA(partition_copy(on(stream), in, in + n, out, rest.data(), kept.data(), IsEven{}));
  CHECK(output.host()[0] % 2 == 0 && rest.host()[0] % 2 == 1, 0);
  CHECK_CUDA(partition(on(stream), in, in + n, out, kept.data(), IsEven{}));
  CHECK(output.host()[0] % 2 == 0 && output.host()[n - 1] % 2 == 1, 0);
  CHECK_CUDA(partition(on(stream), in, in + n, out, kept.data(), IsEven{}, RestOrder::reversed));
  CHECK(output.host()[499] % 2 == 0 && output.host()[n - 1] == host[1], 0);
  CHECK_CUDA(unique(on(stream), in, in + n, out, kept.data()));
  CHECK(kept.first() == n, kept.first());
  CHECK_EQUAL(output.host(), host);

  CHECK_CUDA(histogram_even(on(stream), in, n, counts.data(), 10, 0, 1000));
  CHECK(counts.host()[4] == 100, counts.host()[4]);

  std::vector<int> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = i;
  Array<int> places(numbers), bounds(std::vector<int>{0, 100, 1000});
  CHECK_CUDA(histogram_range(on(stream), in, n, counts.data(), 2, bounds.data()));
  CHECK(counts.host()[0] == 100 && counts.host()[1] == 900, counts.host()[0]);
  std::vector<unsigned char> rgba(4 * n, 9);
  Array<unsigned char> pixels(rgba);
  Array<unsigned> colours(3 * 256);
  CHECK_CUDA(histogram_even_channels(on(stream), pixels.data(), n, 4, 3, colours.data(), 256, 0, 256));
  CHECK(colours.host()[256 + 9] == n, colours.host()[256 + 9]);

  CHECK_CUDA(sort_pairs(on(stream), in, out, places.data(), rest.data(), n));
  CHECK(host[rest.host()[7]] == output.host()[7], 7);
  CHECK_CUDA(merge_sort_pairs(on(stream), in, out, places.data(), rest.data(), n, Less{}));
  CHECK(host[rest.host()[7]] == output.host()[7], 7);
  CHECK_CUDA(sort_keys(on(stream), in, out, n, SortOrder::descending));
  CHECK(output.host()[0] == 999, output.host()[0]);
  CHECK_CUDA(merge_sort_keys(on(stream), in, out, n, Less{}));
  CHECK(output.host()[5] == 5, output.host()[5]);
  CHECK_CUDA(merge(on(stream), out, 500, out + 500, 500, keys.data(), Less{}));
  CHECK(keys.host()[999] == 999, keys.host()[999]);
  auto tiles = host;
  keys.upload(host);
  CHECK_CUDA(bitonic_merge_tiles<64>(on(stream), keys.data(), n, 1, 1000));
  for (int i = 0; i < n; i += 64) std::sort(tiles.begin() + i, tiles.begin() + std::min<int>(i + 64, n));
  CHECK_EQUAL(keys.host(), tiles);

  CHECK_CUDA(segmented_reduce(on(stream), in, n, offsets.data(), 3, sums.data(), 0, Plus{}));
  CHECK(sums.host()[1] == 0, sums.host()[1]);
  CHECK_CUDA(inclusive_scan_by_key(on(stream), keys.data(), keys.data() + n, in, out, Plus{}));
  CHECK(output.host()[0] == host[0], 0);
  CHECK_CUDA(exclusive_scan_by_key(on(stream), keys.data(), keys.data() + n, in, out, 5, Plus{}));
  CHECK(output.host()[0] == 5, 0);

  Array<float> a(std::vector<float>(host.begin(), host.end())), b(n), c(n);
  CHECK_CUDA(transpose(on(stream), a.data(), b.data(), 50, 20));
  CHECK(b.host()[1] == host[20] && b.host()[3 * 50 + 7] == host[7 * 20 + 3], 1);
  a.upload(std::vector<float>(n, 2.0f));
  CHECK_CUDA(summed_area_table(on(stream), a.data(), b.data(), 50, 20));
  CHECK(b.host()[n - 1] == 2.0f * n, 0);
  CHECK_CUDA(box_filter_from_table(on(stream), b.data(), c.data(), 50, 20, 2, 2));
  CHECK(c.host()[123] == 2.0f, 123);
  CHECK_CUDA((stencil<1, 0, 0>(on(stream), a.data(), c.data(), {n, 1, 1}, Edge::clamp, Half{})));
  CHECK(c.host()[7] == 2.0f, 7);
  CHECK_CUDA((stencil<1, 1, 0>(on(stream), a.data(), c.data(), {50, 20, 1}, Edge::zero, Around{false})));
  CHECK(c.host()[51] == 8.0f && c.host()[0] == 4.0f, 51);
  CHECK_CUDA((stencil<1, 1, 1>(on(stream), a.data(), c.data(), {10, 10, 10}, Edge::zero, Around{true})));
  CHECK(c.host()[111] == 12.0f && c.host()[0] == 6.0f, 111);
  CHECK_CUDA(gemm_fp32(on(stream), 10, 10, 10, a.data(), 10, a.data(), 10, c.data(), 10));
  CHECK(c.host()[0] == 40.0f, 0);
  CHECK_CUDA(gemm_tf32(on(stream), 10, 10, 10, a.data(), 10, a.data(), 10, c.data(), 10));
  CHECK(c.host()[0] == 40.0f, 0);
  Array<__nv_bfloat16> d(std::vector<__nv_bfloat16>(100, __nv_bfloat16(2.0f)));
  CHECK_CUDA(gemm_bf16(on(stream), 10, 10, 10, d.data(), 10, d.data(), 10, c.data(), 10));
  CHECK(c.host()[0] == 40.0f, 0);
  a.upload(std::vector<float>(host.begin(), host.end()));
  CHECK_CUDA(transpose_in_place(on(stream), a.data(), 30));
  CHECK(a.host()[1] == host[30] && a.host()[30 * 4 + 9] == host[30 * 9 + 4], 1);
  return check::result("examples");
}
