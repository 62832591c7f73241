// Histograms with even bins, ranges, and interleaved channels.
//
// Shared-memory atomics are fast until two lanes of a warp hit the same bank. Here every lane has its own column of
// counters: bin b of lane l lies at word b * kColumns + l, which with 32 columns is always bank l. So the time does not
// depend on the data; constant input costs what uniform input costs. With more bins there is room for fewer columns,
// and above that the counters live in global memory.
#pragma once

#include <algorithm>
#include <type_traits>

#include "../config.cuh"
#include "../policy.cuh"
#include "../thread/vector.cuh"
#include "launch.cuh"

namespace warpbeam {

template <int kThreadsV = 512, int kUnrollV = 2, int kBlocksV = 4>
struct HistogramTuning {
  static constexpr int kThreads = kThreadsV;
  static constexpr int kUnroll = kUnrollV;  // 16-byte loads in flight per thread
  static constexpr int kBlocks = kBlocksV;  // blocks per multiprocessor
};

namespace detail {

// A bin function returns a number below the bin count, or anything else for a sample that is not counted.
struct ByteIsBin {
  __device__ unsigned operator()(unsigned char sample) const { return sample; }
};

template <class Level>
struct EvenBins {
  Level lower, upper;
  int bins;
  template <class T>
  __device__ unsigned operator()(T value) const {
    if constexpr (std::is_floating_point_v<Level>) {
      Level sample = static_cast<Level>(value);
      if (!(sample >= lower && sample < upper)) return ~0u;
      // Rounding may carry a sample just below the upper end into the bin that does not exist.
      return min(static_cast<unsigned>((sample - lower) / (upper - lower) * bins), static_cast<unsigned>(bins - 1));
    } else {
      using Wide = unsigned long long;
      if (value < lower || value >= upper) return ~0u;
      Wide offset = static_cast<Wide>(value) - static_cast<Wide>(lower);
      Wide range = static_cast<Wide>(upper) - static_cast<Wide>(lower);
      if (range <= 0xffffffffu && static_cast<Wide>(bins) <= 0xffffffffu) {
        return static_cast<unsigned>(offset * static_cast<unsigned>(bins) / range);
      }
      return static_cast<unsigned>(static_cast<double>(offset) / static_cast<double>(range) * bins);
    }
  }
};

// Bin i counts levels[i] <= sample < levels[i + 1]; the levels are in device memory and ascend.
template <class Level>
struct RangeBins {
  const Level* levels;
  int bins;
  template <class T>
  __device__ unsigned operator()(T value) const {
    Level sample = static_cast<Level>(value);
    if (!(sample >= levels[0] && sample < levels[bins])) return ~0u;
    int low = 0, high = bins;
    while (high - low > 1) {
      int middle = (low + high) / 2;
      if (sample < levels[middle]) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return static_cast<unsigned>(low);
  }
};

__device__ inline void add_count(unsigned* counter, unsigned amount) { atomicAdd(counter, amount); }
__device__ inline void add_count(unsigned long long* counter, unsigned amount) {
  atomicAdd(counter, static_cast<unsigned long long>(amount));
}

template <class Counter>
__global__ void clear_counts(Counter* counts, long long count) {
#if WB_BULK_COPY
  // The next kernel may start counting; it waits for the end of this one before it adds to the counts.
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index < count) counts[index] = 0;
}

// Adds the columns of each bin and gives the sums to global memory.
template <int kThreads, int kColumns, class Counter>
__device__ void flush_columns(const unsigned* columns, int bins, Counter* counts) {
#if WB_BULK_COPY
  cudaGridDependencySynchronize();
#endif
  for (int bin = threadIdx.x; bin < bins; bin += kThreads) {
    unsigned sum = 0;
    // Each thread starts at another column, so that a warp's reads fall into different banks.
#pragma unroll 8
    for (int i = 0; i < kColumns; ++i) sum += columns[bin * kColumns + ((i + threadIdx.x) & (kColumns - 1))];
    if (sum) add_count(&counts[bin], sum);
  }
}

template <class Tuning, int kColumns, class T, class Counter, class BinOf>
__global__ void __launch_bounds__(Tuning::kThreads)
    histogram_columns(const T* samples, long long count, long long head, Counter* counts, int bins, BinOf bin_of) {
  constexpr int kThreads = Tuning::kThreads;
  constexpr int kUnroll = Tuning::kUnroll;
  constexpr int kVec = kVectorItems<T>;
  using Vec = Vector<T, kVec>;
  extern __shared__ unsigned columns[];
  for (int i = threadIdx.x; i < bins * kColumns; i += kThreads) columns[i] = 0;
  __syncthreads();

  unsigned* column = columns + (threadIdx.x & (kColumns - 1));
  auto add = [&](T sample) {
    unsigned bin = bin_of(sample);
    // A byte that is its own bin needs no check.
    if (std::is_same_v<BinOf, ByteIsBin> || bin < static_cast<unsigned>(bins)) atomicAdd(column + bin * kColumns, 1u);
  };
  auto add_all = [&](const Vec& vector) {
#pragma unroll
    for (int i = 0; i < kVec; ++i) add(vector.item[i]);
  };

  const T* body = samples + head;
  const long long vectors = (count - head) / kVec;
  const long long stride = static_cast<long long>(gridDim.x) * kThreads;
  long long index = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if constexpr (kVec * sizeof(T) == 16) {
    for (; index + (kUnroll - 1) * stride < vectors; index += kUnroll * stride) {
      Vec loaded[kUnroll];
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) loaded[i] = load_streaming<T, kVec>(body + (index + i * stride) * kVec);
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) add_all(loaded[i]);
    }
    for (; index < vectors; index += stride) add_all(load_streaming<T, kVec>(body + index * kVec));
  } else {
    for (; index < vectors; index += stride) add(body[index]);
  }
  if (blockIdx.x == 0) {
    for (long long i = threadIdx.x; i < head; i += kThreads) add(samples[i]);
    for (long long i = head + vectors * kVec + threadIdx.x; i < count; i += kThreads) add(samples[i]);
  }
  __syncthreads();
  flush_columns<kThreads, kColumns>(columns, bins, counts);
}

template <class Tuning, class T, class Counter, class BinOf>
__global__ void __launch_bounds__(Tuning::kThreads)
    histogram_global(const T* samples, long long count, Counter* counts, int bins, BinOf bin_of) {
  const long long stride = static_cast<long long>(gridDim.x) * Tuning::kThreads;
  for (long long i = static_cast<long long>(blockIdx.x) * Tuning::kThreads + threadIdx.x; i < count; i += stride) {
    unsigned bin = bin_of(samples[i]);
    if (bin < static_cast<unsigned>(bins)) add_count(&counts[bin], 1);
  }
}

// Interleaved channels: counters of channel c are bins c * bins ... of one table with 8 columns.
template <class Tuning, int kColumns, class T, class Counter, class BinOf>
__global__ void __launch_bounds__(Tuning::kThreads)
    histogram_channels(const T* samples, long long pixels, int channels, int active, Counter* counts, int bins,
                       BinOf bin_of) {
  extern __shared__ unsigned columns[];
  for (int i = threadIdx.x; i < active * bins * kColumns; i += Tuning::kThreads) columns[i] = 0;
  __syncthreads();
  unsigned* column = columns + (threadIdx.x & (kColumns - 1));
  const long long stride = static_cast<long long>(gridDim.x) * Tuning::kThreads;
  for (long long i = static_cast<long long>(blockIdx.x) * Tuning::kThreads + threadIdx.x; i < pixels; i += stride) {
    for (int channel = 0; channel < active; ++channel) {
      unsigned bin = bin_of(samples[i * channels + channel]);
      if (bin < static_cast<unsigned>(bins)) atomicAdd(column + (channel * bins + bin) * kColumns, 1u);
    }
  }
  __syncthreads();
  flush_columns<Tuning::kThreads, kColumns>(columns, active * bins, counts);
}

template <class Kernel>
long long columns_grid(const DeviceTraits& device, long long wanted, int blocks, size_t shared) {
  long long fit = static_cast<long long>(device.shared_per_multiprocessor / (shared + 1024));
  long long resident = fit < blocks ? (fit > 0 ? fit : 1) : blocks;
  long long most = device.multiprocessors * resident;
  return wanted < most ? (wanted > 0 ? wanted : 1) : most;
}

template <class Tuning, int kColumns, class T, class Counter, class BinOf>
cudaError_t launch_columns(const Policy& policy, const DeviceTraits& device, const T* samples, long long count,
                           Counter* counts, int bins, BinOf bin_of) {
  constexpr int kVec = kVectorItems<T>;
  auto kernel = histogram_columns<Tuning, kColumns, T, Counter, BinOf>;
  size_t shared = static_cast<size_t>(bins) * kColumns * sizeof(unsigned);
  WB_RETURN_IF_FAILED(allow_shared(kernel, shared));
  // Items before the first 16-byte boundary are counted one by one.
  long long head = static_cast<long long>((16 - reinterpret_cast<uintptr_t>(samples) % 16) % 16 / sizeof(T));
  if (reinterpret_cast<uintptr_t>(samples) % sizeof(T) != 0 || head > count) head = count;
  long long wanted = ceil_div(count / kVec + 1, static_cast<long long>(Tuning::kThreads) * Tuning::kUnroll);
  // A block ends by adding its table to everybody's, which more than two on a multiprocessor must have work enough for.
  constexpr long long kWorthwhile = 1 << 17;  // samples
  const long long worthwhile = std::max(2LL * device.multiprocessors, count / kWorthwhile);
  const long long blocks =
      columns_grid<decltype(kernel)>(device, std::min(wanted, worthwhile), Tuning::kBlocks, shared);
  return launch(kernel, static_cast<unsigned>(blocks), Tuning::kThreads, shared, policy.stream,
                device.level != CodeLevel::portable, samples, count, head, counts, bins, bin_of);
}

template <class Tuning, class T, class Counter, class BinOf>
cudaError_t histogram(const Policy& policy, const T* samples, long long count, Counter* counts, int bins,
                      BinOf bin_of) {
  Workspace workspace(policy);
  WB_ACQUIRE(workspace);
  if (bins <= 0) return cudaErrorInvalidValue;
  DeviceTraits device;
  WB_RETURN_IF_FAILED(device_traits(&device));
  clear_counts<<<static_cast<unsigned>(ceil_div(bins, 256)), 256, 0, policy.stream>>>(counts, bins);
  WB_RETURN_IF_FAILED(cudaGetLastError());
  if (count == 0) return cudaSuccess;
  size_t room = device.shared_per_block / sizeof(unsigned);
  size_t wanted = bins;
  if (wanted * 32 <= room) return launch_columns<Tuning, 32>(policy, device, samples, count, counts, bins, bin_of);
  if (wanted * 8 <= room) return launch_columns<Tuning, 8>(policy, device, samples, count, counts, bins, bin_of);
  if (wanted <= room) return launch_columns<Tuning, 1>(policy, device, samples, count, counts, bins, bin_of);
  long long blocks = ceil_div(count, static_cast<long long>(Tuning::kThreads));
  long long most = device.multiprocessors * 4LL;
  histogram_global<Tuning>
      <<<static_cast<unsigned>(blocks < most ? blocks : most), Tuning::kThreads, 0, policy.stream>>>(
          samples, count, counts, bins, bin_of);
  return cudaGetLastError();
}

}  // namespace detail

// counts[b] = number of samples in bin b of `bins` equal bins over [lower, upper); others are not counted.
template <class Tuning = HistogramTuning<>, class T, class Counter, class Level>
cudaError_t histogram_even(const Policy& policy, const T* samples, long long count, Counter* counts, int bins,
                           Level lower, Level upper) {
  if constexpr (std::is_same_v<T, unsigned char> && std::is_integral_v<Level>) {
    if (bins == 256 && lower == 0 && upper == 256)
      return detail::histogram<Tuning>(policy, samples, count, counts, bins, detail::ByteIsBin{});
  }
  return detail::histogram<Tuning>(policy, samples, count, counts, bins, detail::EvenBins<Level>{lower, upper, bins});
}

// counts[b] = number of samples with levels[b] <= sample < levels[b + 1]; `levels` has bins + 1 ascending values.
template <class Tuning = HistogramTuning<>, class T, class Counter, class Level>
cudaError_t histogram_range(const Policy& policy, const T* samples, long long count, Counter* counts, int bins,
                            const Level* levels) {
  return detail::histogram<Tuning>(policy, samples, count, counts, bins, detail::RangeBins<Level>{levels, bins});
}

// The first `active` of `channels` interleaved channels; counts[c * bins + b].
template <class Tuning = HistogramTuning<>, class T, class Counter, class Level>
cudaError_t histogram_even_channels(const Policy& policy, const T* samples, long long pixels, int channels, int active,
                                    Counter* counts, int bins, Level lower, Level upper) {
  Workspace workspace(policy);
  WB_ACQUIRE(workspace);
  if (bins <= 0 || active <= 0 || active > channels) return cudaErrorInvalidValue;
  DeviceTraits device;
  WB_RETURN_IF_FAILED(device_traits(&device));
  size_t table = static_cast<size_t>(bins) * active;
  WB_RETURN_IF_FAILED(cudaMemsetAsync(counts, 0, table * sizeof(Counter), policy.stream));
  if (pixels == 0) return cudaSuccess;
  using Bins = detail::EvenBins<Level>;
  bool wide = table * 8 * sizeof(unsigned) <= static_cast<size_t>(device.shared_per_block);
  size_t shared = table * (wide ? 8 : 1) * sizeof(unsigned);
  if (shared > static_cast<size_t>(device.shared_per_block)) return cudaErrorInvalidValue;
  auto kernel = wide ? detail::histogram_channels<Tuning, 8, T, Counter, Bins>
                     : detail::histogram_channels<Tuning, 1, T, Counter, Bins>;
  WB_RETURN_IF_FAILED(allow_shared(kernel, shared));
  long long wanted = ceil_div(pixels, static_cast<long long>(Tuning::kThreads));
  long long blocks = detail::columns_grid<decltype(kernel)>(device, wanted, Tuning::kBlocks, shared);
  kernel<<<static_cast<unsigned>(blocks), Tuning::kThreads, shared, policy.stream>>>(
      samples, pixels, channels, active, counts, bins, Bins{lower, upper, bins});
  return cudaGetLastError();
}

}  // namespace warpbeam
