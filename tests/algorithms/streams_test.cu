// build: -I../../algorithms
// Every call runs on the stream it is given and on no other, waits for nothing, and takes its temporary storage from the
// caller: each is captured from its stream into a graph, which a use of the default stream or a wait would make fail. What
// the graph computes later has to be what the call computes with storage from the pool.
#include <warpbeam/algorithms/algorithms.cuh>

#include <functional>

#include "check.h"

using namespace warpbeam;
using check::Array;

struct IsEven {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct Difference {
  template <class At>
  __device__ int operator()(At at) const {
    return at(1) - at(-1);
  }
};

using Call = std::function<cudaError_t(const Policy&)>;

// `call` leaves its results in `results`, words of anything.
void on_a_stream(const char* name, Array<int>& results, const Call& call) {
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  auto clear = [&] { CHECK_CUDA(cudaMemsetAsync(results.data(), 0x5a, results.host().size() * sizeof(int), stream)); };
  clear();
  CHECK_CUDA(call(on(stream)));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  const auto want = results.host();

  size_t bytes = 0;
  CHECK_CUDA(call(on(stream).measure(&bytes)));
  Array<char> storage(bytes);
  const Policy policy = on(stream).with_storage(storage.data(), bytes);
  clear();
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  const cudaError_t error = call(policy);
  cudaGraph_t graph = nullptr;
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK(error == cudaSuccess && graph != nullptr, error);
  size_t nodes = 0;
  CHECK_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes > 0, nodes);
  cudaGraphExec_t executable;
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  for (int run = 0; run < 2; ++run) {
    clear();
    CHECK_CUDA(cudaGraphLaunch(executable, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    if (results.host() != want) {
      std::printf("%s differs\n", name);
      check::fail(__FILE__, __LINE__, name, run);
    }
  }
  // Too little storage is an error and launches nothing.
  CHECK(call(on(stream).with_storage(storage.data(), 1)) == cudaErrorInvalidValue, bytes);
  CHECK_CUDA(cudaGraphExecDestroy(executable));
  CHECK_CUDA(cudaGraphDestroy(graph));
  CHECK_CUDA(cudaStreamDestroy(stream));
}

int main() {
  const long long n = 4001, side = 40;
  std::vector<int> runs(n);
  for (int i = 0; i < n; ++i) runs[i] = i / 7;
  Array<int> input(check::random_values<int>(n, 0, 999)), keys(runs), offsets(std::vector<int>{0, 10, 50, 4001});
  constexpr int kRoom = 4004;
  Array<int> results(2 * kRoom + 2);
  int* in = input.data();
  int* out = results.data();
  int* second = out + kRoom;
  auto* counts = reinterpret_cast<unsigned*>(out);
  auto* number = reinterpret_cast<long long*>(second + kRoom);
#define ON_A_STREAM(name, ...) on_a_stream(name, results, [&](const Policy& policy) { return __VA_ARGS__; })
  ON_A_STREAM("reduce", reduce(policy, in, in + n, out, 0, Plus{}));
  ON_A_STREAM("transform_reduce", transform_reduce(policy, in, in + n, out, 0, Plus{}, IsEven{}));
  ON_A_STREAM("argmin", argmin(policy, in, in + n, reinterpret_cast<IndexedValue<int>*>(second)));
  ON_A_STREAM("exclusive_scan", exclusive_scan(policy, in, in + n, out, 0, Plus{}));
  ON_A_STREAM("inclusive_scan", inclusive_scan(policy, in, in + n, out, Maximum{}));
  ON_A_STREAM("inclusive_scan_by_key", inclusive_scan_by_key(policy, keys.data(), keys.data() + n, in, out, Plus{}));
  ON_A_STREAM("exclusive_scan_by_key", exclusive_scan_by_key(policy, keys.data(), keys.data() + n, in, out, 0, Plus{}));
  ON_A_STREAM("segmented_reduce", segmented_reduce(policy, in, n, offsets.data(), 3, out, 0, Plus{}));
  ON_A_STREAM("copy_if", copy_if(policy, in, in + n, out, number, IsEven{}));
  ON_A_STREAM("partition", partition(policy, in, in + n, out, number, IsEven{}));
  ON_A_STREAM("partition reversed", partition(policy, in, in + n, out, number, IsEven{}, RestOrder::reversed));
  ON_A_STREAM("partition_copy", partition_copy(policy, in, in + n, out, second, number, IsEven{}));
  ON_A_STREAM("unique", unique(policy, in, in + n, out, number));
  ON_A_STREAM("histogram_even", histogram_even(policy, in, n, counts, 10, 0, 1000));
  ON_A_STREAM("histogram_even_channels",
              histogram_even_channels(policy, reinterpret_cast<unsigned char*>(in), n, 4, 3, counts, 64, 0, 256));
  ON_A_STREAM("histogram_range", histogram_range(policy, in, n, counts, 3, offsets.data()));
  ON_A_STREAM("sort_keys", sort_keys(policy, in, out, n));
  ON_A_STREAM("sort_pairs", sort_pairs(policy, in, out, keys.data(), second, n));
  ON_A_STREAM("merge_sort_keys", merge_sort_keys(policy, in, out, n, Less{}));
  ON_A_STREAM("merge_sort_pairs", merge_sort_pairs(policy, in, out, keys.data(), second, n, Less{}));
  ON_A_STREAM("merge", merge(policy, keys.data(), 500, keys.data() + 500, n - 500, out, Less{}));
  ON_A_STREAM("transpose", transpose(policy, in, out, 50, 80));
  ON_A_STREAM("summed_area_table", summed_area_table(policy, in, out, 50, 80));
  ON_A_STREAM("stencil", stencil<1, 0, 0>(policy, in, out, {n, 1, 1}, Edge::clamp, Difference{}));
  Array<float> a(check::random_values<float>(side * side, -4, 4));
  Array<__nv_bfloat16> b(side * side);
  CHECK_CUDA(cudaMemset(b.data(), 0, side * side * 2));
  auto* c = reinterpret_cast<float*>(out);
  ON_A_STREAM("box_filter_from_table", box_filter_from_table(policy, a.data(), c, side, side, 2, 2));
  ON_A_STREAM("gemm_fp32", gemm_fp32(policy, side, side, side, a.data(), side, a.data(), side, c, side));
  ON_A_STREAM("gemm_tf32", gemm_tf32(policy, side, side, side, a.data(), side, a.data(), side, c, side));
  ON_A_STREAM("gemm_bf16", gemm_bf16(policy, side, side, side, b.data(), side, b.data(), side, c, side));
  return check::result("streams");
}
