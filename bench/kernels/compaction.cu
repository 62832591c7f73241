// Stream compaction: count what each block keeps, scan the counts, and let every block write from its place.
#include "kernels/scan.cuh"
#include "reference/reference.h"

__global__ void count_kept(const int* in, int* block_counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int kept = __syncthreads_count(i < n && in[i] > 0);
  if (threadIdx.x == 0) block_counts[blockIdx.x] = kept;
}

__global__ void write_kept(const int* in, int* out, const int* block_begin, int n) {
  __shared__ int warp_count[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int value = i < n ? in[i] : 0;
  bool keep = value > 0;
  unsigned votes = __ballot_sync(0xffffffff, keep);
  if (lane == 0) warp_count[warp] = __popc(votes);
  __syncthreads();
  int at = block_begin[blockIdx.x];
  for (int w = 0; w < warp; ++w) at += warp_count[w];
  at += __popc(votes & ((1u << lane) - 1));
  if (keep) out[at] = value;
}

namespace bench {
namespace {

constexpr unsigned kBlock = 256;

struct Compaction : Work {
  explicit Compaction(bool quick)
      : n(quick ? 1 << 20 : 1 << 24),
        blocks(blocks_for(n, kBlock)),
        in(n),
        out(n + 1),
        d_in(n),
        d_out(n),
        d_begin(blocks),
        scan(blocks, Scan::Kind::Balanced) {
    for (size_t k = 0; k < n; ++k) in[k] = static_cast<int>(mix(k));
    d_in.upload(in);
  }
  void ours() override {
    count_kept<<<blocks, kBlock>>>(d_in.data(), d_begin.data(), static_cast<int>(n));
    scan.run(d_begin.data(), d_begin.data());
    write_kept<<<blocks, kBlock>>>(d_in.data(), d_out.data(), d_begin.data(), static_cast<int>(n));
  }
  void reference() override { kept = ::reference::compact(in.data(), out.data(), n); }
  std::string difference() override { return compare_exactly(d_out.download(), out.data(), kept); }

  size_t n;
  unsigned blocks;
  HostArray<int> in, out;
  DeviceArray<int> d_in, d_out, d_begin;
  Scan scan;
  size_t kept = 0;
};

}  // namespace

std::unique_ptr<Work> make_compaction(bool quick) { return std::make_unique<Compaction>(quick); }

}  // namespace bench
