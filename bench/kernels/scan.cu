// Prefix sums in the two ways that courses teach: by doubling (Hillis and Steele) and by a balanced tree (Blelloch).
#include "kernels/scan.cuh"
#include "reference/reference.h"

// Each block turns its piece into inclusive sums, with two buffers in turn.
__global__ void scan_doubling(const int* in, int* out, int* block_sums, int n) {
  extern __shared__ int temp[];
  int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  int pout = 0, pin = 1;
  temp[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int offset = 1; offset < blockDim.x; offset <<= 1) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (tid >= offset)
      temp[pout * blockDim.x + tid] = temp[pin * blockDim.x + tid] + temp[pin * blockDim.x + tid - offset];
    else
      temp[pout * blockDim.x + tid] = temp[pin * blockDim.x + tid];
    __syncthreads();
  }
  if (i < n) out[i] = temp[pout * blockDim.x + tid];
  if (tid == blockDim.x - 1) block_sums[blockIdx.x] = temp[pout * blockDim.x + tid];
}

// Each block turns twice as many elements as it has threads into exclusive sums: up the tree and down again.
__global__ void scan_balanced(const int* in, int* out, int* block_sums, int n) {
  extern __shared__ int temp[];
  int tid = threadIdx.x, width = 2 * blockDim.x, base = blockIdx.x * width;
  int offset = 1;
  temp[2 * tid] = base + 2 * tid < n ? in[base + 2 * tid] : 0;
  temp[2 * tid + 1] = base + 2 * tid + 1 < n ? in[base + 2 * tid + 1] : 0;
  for (int d = width >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (tid < d) {
      int ai = offset * (2 * tid + 1) - 1;
      int bi = offset * (2 * tid + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (tid == 0) {
    block_sums[blockIdx.x] = temp[width - 1];
    temp[width - 1] = 0;
  }
  for (int d = 1; d < width; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (tid < d) {
      int ai = offset * (2 * tid + 1) - 1;
      int bi = offset * (2 * tid + 2) - 1;
      int t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  if (base + 2 * tid < n) out[base + 2 * tid] = temp[2 * tid];
  if (base + 2 * tid + 1 < n) out[base + 2 * tid + 1] = temp[2 * tid + 1];
}

// Adds to each block's elements the sum of all blocks before it. Of `block_sums`, element k is that for block k.
__global__ void add_block_sums(int* data, const int* block_sums, int n, int skip) {
  int block = blockIdx.x + skip;
  int i = block * blockDim.x + threadIdx.x;
  if (i < n) data[i] += block_sums[blockIdx.x];
}

namespace bench {
namespace {

constexpr unsigned kThreads = 256, kSharedBytes = 2 * kThreads * sizeof(int);

unsigned width_of(Scan::Kind kind) { return kind == Scan::Kind::Doubling ? kThreads : 2 * kThreads; }

}  // namespace

Scan::Scan(size_t n, Kind kind) : n_(n), kind_(kind) {
  const unsigned width = width_of(kind);
  for (size_t left = blocks_for(n, width);; left = blocks_for(left, width)) {
    sums_.push_back(std::make_unique<DeviceArray<int>>(left));
    scanned_.push_back(std::make_unique<DeviceArray<int>>(left));
    if (left == 1) break;
  }
}

void Scan::run(const int* in, int* out) { level(in, out, n_, 0); }

void Scan::level(const int* in, int* out, size_t n, size_t depth) {
  const unsigned width = width_of(kind_), blocks = blocks_for(n, width);
  int *sums = sums_[depth]->data(), *scanned = scanned_[depth]->data();
  (kind_ == Kind::Doubling ? scan_doubling : scan_balanced)<<<blocks, kThreads, kSharedBytes>>>(in, out, sums,
                                                                                                static_cast<int>(n));
  if (blocks == 1) return;
  level(sums, scanned, blocks, depth + 1);
  // Inclusive sums of blocks serve the block after.
  const int skip = kind_ == Kind::Doubling;
  add_block_sums<<<blocks - skip, width>>>(out, scanned, static_cast<int>(n), skip);
}

namespace {

struct ScanWork : Work {
  ScanWork(bool quick, Scan::Kind kind)
      : n(quick ? 1 << 20 : 1 << 24), kind(kind), in(n), out(n), d_in(n), d_out(n), scan(n, kind) {
    for (size_t k = 0; k < n; ++k) in[k] = static_cast<int>(mix(k) % 100);
    d_in.upload(in);
  }
  void ours() override { scan.run(d_in.data(), d_out.data()); }
  void reference() override { ::reference::scan(in.data(), out.data(), n); }
  std::string difference() override {
    std::vector<int> sums = d_out.download();
    // The reference's sums include the element itself.
    if (kind == Scan::Kind::Balanced)
      for (size_t k = 0; k < n; ++k) sums[k] += in[k];
    return compare_exactly(sums, out.data(), n);
  }

  size_t n;
  Scan::Kind kind;
  HostArray<int> in, out;
  DeviceArray<int> d_in, d_out;
  Scan scan;
};

}  // namespace

std::unique_ptr<Work> make_scan(bool quick) { return std::make_unique<ScanWork>(quick, Scan::Kind::Doubling); }
std::unique_ptr<Work> make_scan_balanced(bool quick) { return std::make_unique<ScanWork>(quick, Scan::Kind::Balanced); }

}  // namespace bench
