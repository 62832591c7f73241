// Summed-area tables on Hopper, for images wide enough. The image is cut into strips of columns, one for each block, which
// walks down its strip: the sums of the columns stay in the block, and all that strips tell each other is one sum per
// row. The copy engine brings bands of rows far ahead and takes finished ones away, so memory stays busy during waits.
//
//   loader      lets the copy engine fill the next free stage with a band of 32 rows
//   adders      two squads take turns with a band: hand in the sums of its rows, then add it up within the strip
//   scanners    take their turn, among those of all blocks, with a band of the image: scan the strips' sums
//   receiver    waits for the sums of what lies to the left
//   finishers   add what lies to the left
//   storer      lets the copy engine take the band away
//
// A look-back from strip to strip would read every sum some thirty times, since all strips are at the same rows at the
// same time; this way it is read twice. All blocks have to be there at once for that. The second-level cache is told to
// keep the sums, or else the image drives them out (measured: 83 % of a copy's speed without, 90 % with).
#pragma once

#include "../config.cuh"
#include "../policy.cuh"
#include "../thread/bulk.cuh"
#include "../thread/vector.cuh"
#include "../warp/shuffle.cuh"
#include "launch.cuh"
#include "tensor_map.cuh"

#if !WB_PORTABLE

namespace warpbeam {

template <int kStagesV>
struct StripTuning {
  static constexpr int kStages = kStagesV;
  static constexpr int kBand = kWarpSize;  // rows: a lane for each
  static constexpr int kSquads = 2;
  static constexpr int kWarps = 4;  // of a squad
  static constexpr int kRows = kBand / kWarps;
  static constexpr int kFinishers = 4;
  static constexpr int kScanners = 5;
  static constexpr int kSumsAtOnce = 27;  // of each scanner
  static constexpr int kMostStrips = kScanners * kSumsAtOnce;
  static constexpr int kSlots = 16;  // for bands whose sums are under way
  static constexpr int kPerLane = 4;
  static constexpr int kWidest = kWarpSize * kPerLane, kNarrowest = kWidest * 7 / 8;
  static constexpr int kThreads = kWarps * kWarpSize;
  // More would leave less registers to a thread than the adders need.
  static constexpr int kBlockThreads = kSquads * kThreads + (kFinishers + kScanners + 3) * kWarpSize;
  static_assert(kStages <= kSlots, "a strip comes back to a slot when everybody is done with it");
};

namespace detail {

struct Strips {
  int width;  // of one strip; a multiple of 16
  int count;
  int bands;
};

// What the blocks tell each other: a slot for each of the latest bands, in it for each strip and row a word with the
// band's number, which says that the value is there, and the value: no fences. Strips write the sums of their rows,
// scanners those of all strips to the left.
template <class Tuning>
struct StripSums {
  unsigned long long* own;
  unsigned long long* left;
  int strips;

  static size_t words(int strips) { return static_cast<size_t>(2) * Tuning::kSlots * strips * kWarpSize; }
  __device__ size_t place(int band, int strip, int row) const {
    return (static_cast<size_t>(band % Tuning::kSlots) * strips + strip) * kWarpSize + row;
  }
};

#if WB_BULK_COPY

template <class Tuning, class Acc>
struct StripShared {
  static constexpr int kRing = 2 * Tuning::kSquads;
  using AccVec = Vector<Acc, Tuning::kPerLane>;
  uint64_t full[Tuning::kStages];      // the band has arrived
  uint64_t added[Tuning::kStages];     // it is added up
  uint64_t prefixed[Tuning::kStages];  // the sums to its left are known
  uint64_t done[Tuning::kStages];      // it is finished
  uint64_t free[Tuning::kStages];      // its stage may be filled again
  uint64_t carried[kRing];
  Acc prefix[Tuning::kStages][Tuning::kBand];
  Acc scanned[2][Tuning::kScanners][kWarpSize];
  // A warp that has passed a squad's barrier is done with the squad's last band but one.
  AccVec bottoms[kRing][Tuning::kWarps][kWarpSize];
  AccVec carry[kRing][kWarpSize];  // the columns' sums over all earlier bands

  // For those who wait for every band, or at least for one of every round of the stages.
  __device__ void await_arrival(int band) { bulk::wait(&full[band % Tuning::kStages], (band / Tuning::kStages) & 1); }
};

__device__ inline uint64_t kept_in_cache() {
  uint64_t hint;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(hint));
  return hint;
}

template <class Acc>
__device__ void write_sum(unsigned long long* to, int band, Acc value, uint64_t hint) {
  static_assert(sizeof(Acc) == 4, "sums of four bytes");
  unsigned bits;
  __builtin_memcpy(&bits, &value, 4);
  asm volatile("st.relaxed.gpu.global.L2::cache_hint.b64 [%0], %1, %2;" ::"l"(to),
               "l"(static_cast<unsigned long long>(band + 1) << 32 | bits), "l"(hint)
               : "memory");
}

__device__ inline unsigned long long look_at_sum(const unsigned long long* from, uint64_t hint) {
  unsigned long long word;
  asm volatile("ld.relaxed.gpu.global.L2::cache_hint.b64 %0, [%1], %2;" : "=l"(word) : "l"(from), "l"(hint) : "memory");
  return word;
}

__device__ inline bool is_of_band(unsigned long long word, int band) {
  return word >> 32 == static_cast<unsigned>(band + 1);
}

template <class Acc>
__device__ Acc value_of_word(unsigned long long word) {
  const unsigned bits = static_cast<unsigned>(word);
  Acc value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}

// A warp of a squad, or of the finishers.
template <class Tuning, class T, class Acc>
struct StripWorker {
  static constexpr int kStages = Tuning::kStages;
  static constexpr int kRows = Tuning::kRows;
  static constexpr int kPerLane = Tuning::kPerLane;
  static constexpr int kRing = 2 * Tuning::kSquads;
  using InVec = Vector<T, kPerLane>;
  using AccVec = Vector<Acc, kPerLane>;

  StripShared<Tuning, Acc>& shared;
  const StripSums<Tuning>& sums;
  const T* in;  // the stages; where they are when both have the same size, also `out`
  Acc* out;
  int strip, width;
  int squad, warp;  // warp in the squad

  __device__ bool inside() const { return lane_id() * kPerLane < width; }
  __device__ int place(int stage, int row) const {
    return (stage * Tuning::kBand + row) * width + lane_id() * kPerLane;
  }

  __device__ void add_up(int band) const {
    const int stage = band % kStages;
    const int first = warp * kRows;
    shared.await_arrival(band);
    InVec pixels[kRows] = {};
    if (inside()) {
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        pixels[r] = *reinterpret_cast<const InVec*>(in + place(stage, first + r));
    }
    // Along the rows, all at once: their chains of shuffles run side by side.
    Acc sum[kRows][kPerLane], through[kRows], before[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int c = 0; c < kPerLane; ++c)
        sum[r][c] = static_cast<Acc>(pixels[r].item[c]) + (c > 0 ? sum[r][c > 0 ? c - 1 : 0] : Acc{});
      through[r] = sum[r][kPerLane - 1];
    }
#pragma unroll
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) before[r] = __shfl_up_sync(kFullWarp, through[r], distance);
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        if (lane_id() >= distance) through[r] += before[r];
    }
    // The others wait for these, so they go before everything else.
    if (lane_id() == kWarpSize - 1) {
      const uint64_t hint = kept_in_cache();
#pragma unroll
      for (int r = 0; r < kRows; ++r) write_sum(sums.own + sums.place(band, strip, first + r), band, through[r], hint);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      before[r] = __shfl_up_sync(kFullWarp, through[r], 1);
      if (lane_id() == 0) before[r] = Acc{};
#pragma unroll
      for (int c = 0; c < kPerLane; ++c) sum[r][c] += before[r] + (r > 0 ? sum[r > 0 ? r - 1 : 0][c] : Acc{});
    }
    AccVec bottom;
#pragma unroll
    for (int c = 0; c < kPerLane; ++c) bottom.item[c] = sum[kRows - 1][c];
    shared.bottoms[band % kRing][warp][lane_id()] = bottom;
    bulk::squad_sync<Tuning::kThreads>(2 + squad);
    const AccVec over = sums_above(band);
    // The last warp has the whole band above its own bottom.
    if (warp == Tuning::kWarps - 1) {
#pragma unroll
      for (int c = 0; c < kPerLane; ++c) bottom.item[c] += over.item[c];
      shared.carry[(band + 1) % kRing][lane_id()] = bottom;
      bulk::arrive(&shared.carried[(band + 1) % kRing]);
    }
    if (inside()) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        AccVec result;
#pragma unroll
        for (int c = 0; c < kPerLane; ++c) result.item[c] = sum[r][c] + over.item[c];
        *reinterpret_cast<AccVec*>(out + place(stage, first + r)) = result;
      }
    }
    bulk::arrive(&shared.added[stage]);
  }

  // The columns' sums over all rows of the strip above this warp's.
  __device__ AccVec sums_above(int band) const {
    AccVec over{};
    auto add = [&](const AccVec& more) {
#pragma unroll
      for (int c = 0; c < kPerLane; ++c) over.item[c] += more.item[c];
    };
    for (int w = 0; w < warp; ++w) add(shared.bottoms[band % kRing][w][lane_id()]);
    if (band > 0) {
      // Nobody arrives for band 0, so the first place of the ring is a round behind.
      const int round = band / kRing - (band % kRing == 0);
      bulk::wait(&shared.carried[band % kRing], round & 1);
      add(shared.carry[band % kRing][lane_id()]);
    }
    return over;
  }

  // `carry` is what lies to the left in the band's last row.
  __device__ void finish(int band, Acc& carry) const {
    constexpr int kShare = Tuning::kBand / Tuning::kFinishers;
    const int stage = band % kStages;
    const int first = warp * kShare;
    bulk::wait(&shared.prefixed[stage], (band / kStages) & 1);
    Acc left = warp_inclusive_scan(shared.prefix[stage][lane_id()], [](Acc a, Acc b) { return a + b; }) + carry;
    carry = __shfl_sync(kFullWarp, left, kWarpSize - 1);
    bulk::wait(&shared.added[stage], (band / kStages) & 1);
    AccVec result[kShare];
    if (inside()) {
#pragma unroll
      for (int r = 0; r < kShare; ++r) result[r] = *reinterpret_cast<const AccVec*>(out + place(stage, first + r));
    }
#pragma unroll
    for (int r = 0; r < kShare; ++r) {
      const Acc prefix = __shfl_sync(kFullWarp, left, first + r);
#pragma unroll
      for (int c = 0; c < kPerLane; ++c) result[r].item[c] += prefix;
    }
    if (inside()) {
#pragma unroll
      for (int r = 0; r < kShare; ++r) *reinterpret_cast<AccVec*>(out + place(stage, first + r)) = result[r];
    }
    bulk::fence_proxy();
    bulk::arrive(&shared.done[stage]);
  }
};

template <class Tuning, class Acc>
__device__ void receive_sums(StripShared<Tuning, Acc>& shared, const StripSums<Tuning>& sums, int strip, int bands) {
  const uint64_t hint = kept_in_cache();
  for (int band = 0; band < bands; ++band) {
    const int stage = band % Tuning::kStages;
    // Before that there is nothing to receive, nor room for it while the stage's last band is not finished.
    shared.await_arrival(band);
    const unsigned long long* from = sums.left + sums.place(band, strip, lane_id());
    unsigned long long word = look_at_sum(from, hint);
    while (!__all_sync(kFullWarp, is_of_band(word, band))) {
      __nanosleep(100);
      word = look_at_sum(from, hint);
    }
    shared.prefix[stage][lane_id()] = value_of_word<Acc>(word);
    bulk::arrive(&shared.prefixed[stage]);
  }
}

template <class Tuning, class Acc>
__device__ void scan_sums(StripShared<Tuning, Acc>& shared, const StripSums<Tuning>& sums, int block, int scanner,
                          int bands) {
  constexpr int kAtOnce = Tuning::kSumsAtOnce;
  const uint64_t hint = kept_in_cache();
  const int share = ceil_div(sums.strips, Tuning::kScanners);
  const int first = scanner * share;
  const int count = min(share, sums.strips - first);
  for (int band = block, turn = 0, arrived = 0; band < bands; band += sums.strips, ++turn) {
    // Not worth looking at the others before this block has come so far.
    if (scanner == 0)
      for (; arrived <= band; ++arrived) shared.await_arrival(arrived);
    bulk::squad_sync<Tuning::kScanners * kWarpSize>(1);
    const size_t place = sums.place(band, first, lane_id());
    // All that are missing are asked for before the first is waited for, each time.
    unsigned long long word[kAtOnce] = {};
    for (;;) {
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i)
        if (i < count && !is_of_band(word[i], band)) word[i] = look_at_sum(sums.own + place + i * kWarpSize, hint);
      bool all = true;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) all = all && (i >= count || is_of_band(word[i], band));
      if (__all_sync(kFullWarp, all)) break;
    }
    Acc total{};
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (i < count) total += value_of_word<Acc>(word[i]);
    auto& scanned = shared.scanned[turn & 1];
    scanned[scanner][lane_id()] = total;
    bulk::squad_sync<Tuning::kScanners * kWarpSize>(1);
    Acc left{};
    for (int i = 0; i < scanner; ++i) left += scanned[i][lane_id()];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (i < count) {
        write_sum(sums.left + place + i * kWarpSize, band, left, hint);
        left += value_of_word<Acc>(word[i]);
      }
    }
  }
}

#endif

template <class Tuning, class T, class Acc>
__global__ void __launch_bounds__(Tuning::kBlockThreads)
    summed_area_strips(const __grid_constant__ CUtensorMap map_in, const __grid_constant__ CUtensorMap map_out,
                       Strips strips, StripSums<Tuning> sums) {
#if WB_BULK_COPY
  constexpr int kStages = Tuning::kStages;
  extern __shared__ unsigned char raw[];
  __shared__ StripShared<Tuning, Acc> shared;
  const int band_items = Tuning::kBand * strips.width;
  Acc* out = reinterpret_cast<Acc*>(bulk::round_up_shared(raw, 128));
  T* in = reinterpret_cast<T*>(out + (sizeof(T) == sizeof(Acc) ? 0 : kStages * band_items));
  // Whoever wrote or read arrives for itself: it costs nothing, and tools that look for races understand it.
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      bulk::init(&shared.full[i], 1);
      bulk::init(&shared.added[i], Tuning::kThreads);
      bulk::init(&shared.prefixed[i], kWarpSize);
      bulk::init(&shared.done[i], Tuning::kFinishers * kWarpSize);
      bulk::init(&shared.free[i], 1);
    }
    for (uint64_t& carried : shared.carried) bulk::init(&carried, kWarpSize);
    bulk::fence_init();
  }
  __syncthreads();
  const int strip = blockIdx.x;
  const int x = strip * strips.width;
  int warp = warp_id();
  auto among = [&](int warps) {  // whether this warp is of the next group, and if not, which one behind it
    if (warp < warps) return true;
    warp -= warps;
    return false;
  };
  if (among(Tuning::kSquads * Tuning::kWarps)) {
    const int squad = warp / Tuning::kWarps;
    const StripWorker<Tuning, T, Acc> adder{shared, sums, in, out, strip, strips.width, squad, warp % Tuning::kWarps};
    for (int band = squad; band < strips.bands; band += Tuning::kSquads) adder.add_up(band);
  } else if (among(Tuning::kFinishers)) {
    const StripWorker<Tuning, T, Acc> finisher{shared, sums, in, out, strip, strips.width, 0, warp};
    Acc carry{};
    for (int band = 0; band < strips.bands; ++band) finisher.finish(band, carry);
  } else if (among(1)) {
    receive_sums(shared, sums, strip, strips.bands);
  } else if (among(Tuning::kScanners)) {
    scan_sums(shared, sums, strip, warp, strips.bands);
  } else if (lane_id() > 0) {
    return;
  } else if (among(1)) {
    for (int band = 0; band < strips.bands; ++band) {
      const int stage = band % kStages;
      bulk::wait(&shared.done[stage], (band / kStages) & 1);
      bulk::store_box(&map_out, x, band * Tuning::kBand, out + stage * band_items);
      bulk::commit();
      bulk::wait_read<0>();
      bulk::arrive(&shared.free[stage]);
    }
  } else {
    for (int band = 0; band < strips.bands; ++band) {
      const int stage = band % kStages;
      if (band >= kStages) bulk::wait(&shared.free[stage], (band / kStages - 1) & 1);
      bulk::expect(&shared.full[stage], band_items * sizeof(T));
      bulk::load_box(in + stage * band_items, &map_in, x, band * Tuning::kBand, &shared.full[stage]);
    }
  }
#endif
}

// What the cache fetches more than it was asked for, it fetches too early here (256 bytes: 90 % of a copy's speed, 128: 91 %).
inline constexpr CUtensorMapL2promotion kStripPromotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;

template <class T>
constexpr CUtensorMapDataType bits_of_size() {
  return sizeof(T) == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
         : sizeof(T) == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                          : CU_TENSOR_MAP_DATA_TYPE_UINT32;
}

// Strips for all multiprocessors; none where they would be narrow or too wide, or where the copy engine cannot read or
// write the image.
template <class Tuning, class T, class Acc>
Strips cut_into_strips(const DeviceTraits& device, const T* in, const Acc* out, long long width, long long height,
                       long long in_pitch, long long out_pitch) {
  constexpr size_t kShared = static_cast<size_t>(Tuning::kStages) * Tuning::kBand * Tuning::kWidest *
                             (sizeof(Acc) + (sizeof(T) == sizeof(Acc) ? 0 : sizeof(T)));
  constexpr size_t kStatic = 16 << 10;  // of ordinary shared memory
  const long long each = static_cast<long long>(round_up(ceil_div(width, static_cast<long long>(device.multiprocessors)), 16));
  const bool fits = device.level != CodeLevel::portable && kShared + kStatic <= static_cast<size_t>(device.shared_per_block) &&
                    device.multiprocessors <= Tuning::kMostStrips && each >= Tuning::kNarrowest &&
                    each <= Tuning::kWidest && height < INT32_MAX - Tuning::kBand;
  const bool regular = is_aligned(in, 16) && is_aligned(out, 16) && in_pitch * sizeof(T) % 16 == 0 && out_pitch * sizeof(Acc) % 16 == 0;
  if (!fits || !regular) return {};
  return {static_cast<int>(each), static_cast<int>(ceil_div(width, each)),
          static_cast<int>(ceil_div(height, static_cast<long long>(Tuning::kBand)))};
}

template <class Tuning, class T, class Acc>
cudaError_t summed_area_by_strips(const Policy& policy, const Strips& strips, const T* in, Acc* out, long long width,
                                  long long height, long long in_pitch, long long out_pitch) {
  Workspace workspace(policy);
  const size_t word_bytes = StripSums<Tuning>::words(strips.count) * sizeof(unsigned long long);
  const size_t words_at = workspace.reserve(word_bytes);
  WB_ACQUIRE(workspace);
  CUtensorMap map_in, map_out;
  WB_RETURN_IF_FAILED(make_tensor_map(&map_in, bits_of_size<T>(), in, sizeof(T), height, width, in_pitch,
                                      Tuning::kBand, strips.width, kStripPromotion));
  WB_RETURN_IF_FAILED(make_tensor_map(&map_out, bits_of_size<Acc>(), out, sizeof(Acc), height, width, out_pitch,
                                      Tuning::kBand, strips.width, kStripPromotion));
  auto* words = workspace.template at<unsigned long long>(words_at);
  auto kernel = summed_area_strips<Tuning, T, Acc>;
  const size_t stage_bytes = static_cast<size_t>(Tuning::kBand) * strips.width * (sizeof(Acc) + (sizeof(T) == sizeof(Acc) ? 0 : sizeof(T)));
  const size_t shared = Tuning::kStages * stage_bytes + 128;
  WB_RETURN_IF_FAILED(allow_shared(kernel, shared));
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.blockDim = dim3(Tuning::kBlockThreads);
  config.dynamicSmemBytes = shared;
  config.stream = policy.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  config.gridDim = dim3(strips.count);
  WB_RETURN_IF_FAILED(cudaMemsetAsync(words, 0, word_bytes, policy.stream));
  return cudaLaunchKernelEx(&config, kernel, map_in, map_out, strips,
                            StripSums<Tuning>{words, words + StripSums<Tuning>::words(strips.count) / 2, strips.count});
}

}  // namespace detail
}  // namespace warpbeam

#endif
