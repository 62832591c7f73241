// Loads in flight (warps times loads each), device memory's plateaus, gathers, strides, and the reach of the TLBs.
#include "chase.cuh"

namespace micro {
namespace {

using u32 = unsigned;

// Each warp loads `Ilp` values, uses them, and goes on: never more than Ilp loads of a warp are in flight.
template <class Vector, int Ilp>
__global__ void flight(const Vector* data, size_t count, int rounds, u32* sink) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  u32 sum = 0;
  for (int r = 0; r < rounds; ++r) {
    Vector v[Ilp];
#pragma unroll
    for (int k = 0; k < Ilp; ++k) {
      v[k] = __ldcg(data + i);
      i += threads;
      if (i >= count) i -= count;
    }
#pragma unroll
    for (int k = 0; k < Ilp; ++k) sum += *reinterpret_cast<const u32*>(&v[k]);
    i += sum & 1;  // zero: the next addresses wait for the values
  }
  if (sum == 42) *sink = sum;
}

template <class Vector, int Ilp>
void measure_flight(const char* set, const Buffer<uint4>& data, size_t bytes, bool one_sm) {
  static Buffer<u32> sink(1);
  const int sms = one_sm ? 1 : device().multiProcessorCount;
  for (int warps : {1, 2, 4, 8, 16, 32, 64}) {
    if (one_sm && warps > 32) continue;  // two blocks alone would go to two multiprocessors
    const int blocks = sms * (warps > 32 ? 2 : 1), threads = warps > 32 ? warps * 16 : warps * 32;
    const int rounds = quick() ? 2 : std::max(16, 4096 / warps / Ilp * 4);
    const auto run = [&](int n) {
      return event_us([&] {
        flight<Vector, Ilp><<<blocks, threads>>>(reinterpret_cast<const Vector*>(data.data), bytes / sizeof(Vector), n, sink.data);
      });
    };
    const double moved = double(rounds) * Ilp * sizeof(Vector) * blocks * threads;
    report(std::string("flight.") + set + (one_sm ? ".one_sm" : ".all_sms") + ".bytes" + number(sizeof(Vector)) + ".loads" +
               number(Ilp) + ".warps" + number(warps),
           sample(3, [&] { return moved / (run(2 * rounds) - run(rounds)) * 1e-3; }), "GB/s");
  }
}

template <class Vector>
void measure_flights(const char* set, const Buffer<uint4>& data, size_t bytes) {
  for (bool one : {true, false}) {
    measure_flight<Vector, 1>(set, data, bytes, one);
    measure_flight<Vector, 2>(set, data, bytes, one);
    measure_flight<Vector, 4>(set, data, bytes, one);
    measure_flight<Vector, 8>(set, data, bytes, one);
  }
}

enum class Stream { read, write, copy, scale, triad };

template <Stream kind, class T>
__global__ void streaming(const T* a, const T* b, T* c, size_t count, float* sink) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  if (kind == Stream::read) {
    if (a[i].x == 1.5f) *sink = 1;
  } else if (kind == Stream::write) {
    c[i] = T{};
  } else if (kind == Stream::copy) {
    c[i] = a[i];
  } else {
    T v = a[i];
    v.x = v.x * 1.5f;
    if (kind == Stream::triad) v.x += b[i].x;
    c[i] = v;
  }
}

struct One { float x; };
struct alignas(16) Four { float x, y, z, w; };

template <Stream kind, class T>
void measure_stream(const char* name, int arrays) {
  const size_t bytes = quick() ? 1 << 18 : size_t(1) << 30, count = bytes / sizeof(T);
  static Buffer<char> a(bytes), b(bytes), c(bytes);
  static Buffer<float> sink(1);
  for (int threads : {128, 256, 1024})
    report(std::string("dram.") + name + ".bytes" + number(sizeof(T)) + ".threads" + number(threads), sample(5, [&] {
             return arrays * double(bytes) / event_us([&] {
                      streaming<kind, T><<<unsigned((count + threads - 1) / threads), threads>>>((T*)a.data, (T*)b.data, (T*)c.data, count, sink.data);
                    }) * 1e-3;
           }), "GB/s");
}

// Random chunks of `words` words, read by as many neighbouring lanes.
__global__ void gather(const u32* data, unsigned long long chunks, int words, int rounds, u32* sink) {
  const unsigned long long thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long state = thread / words * 0x9e3779b97f4a7c15ull + 12345;
  u32 sum = 0;
  for (int r = 0; r < rounds; r += 4) {
    u32 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      const unsigned long long chunk = (state >> 20) & (chunks - 1);
      v[k] = __ldcg(data + chunk * words + thread % words);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) sum += v[k];
  }
  if (sum == 42) *sink = sum;
}

__global__ void touch(const uint4* data, size_t count, u32* sink) {
  u32 sum = 0;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) sum += __ldcg(data + i).x;
  if (sum == 42) *sink = sum;
}

// Random single words written: sectors that are not whole.
__global__ void scatter(u32* data, unsigned long long words, int rounds) {
  unsigned long long state = (blockIdx.x * blockDim.x + threadIdx.x) * 0x9e3779b97f4a7c15ull + 12345;
  for (int r = 0; r < rounds; ++r) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    data[(state >> 20) & (words - 1)] = r;
  }
}

template <bool Write>
__global__ void stride_walk(float* data, size_t count, int stride, int offset, float* sink) {
  const size_t i = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * stride + offset;
  if (i >= count) return;
  if (Write) data[i] = 1;
  else if (data[i] == 1.5f) *sink = 1;
}

void strides() {
  const size_t bytes = quick() ? 1 << 18 : size_t(1) << 30, count = bytes / 4;
  Buffer<float> data(count), sink(1);
  for (int stride : {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128}) {
    const size_t threads = count / stride;
    for (bool write : {false, true})
      report(std::string("dram.stride.") + (write ? "write." : "read.") + number(stride), sample(5, [&] {
               const double us = event_us([&] {
                 const unsigned blocks = unsigned((threads + 255) / 256);
                 if (write) stride_walk<true><<<blocks, 256>>>(data.data, count, stride, 0, sink.data);
                 else stride_walk<false><<<blocks, 256>>>(data.data, count, stride, 0, sink.data);
               });
               return threads / us * 1e-3;
             }), "G access/s");
  }
  for (int offset : {0, 1, 8, 16, 31})
    for (bool write : {false, true})
      report(std::string("dram.offset.") + (write ? "write." : "read.") + number(offset), sample(5, [&] {
               const size_t threads = count - 32;
               const double us = event_us([&] {
                 const unsigned blocks = unsigned((threads + 255) / 256);
                 if (write) stride_walk<true><<<blocks, 256>>>(data.data, count, 1, offset, sink.data);
                 else stride_walk<false><<<blocks, 256>>>(data.data, count, 1, offset, sink.data);
               });
               return threads * 4 / us * 1e-3;
             }), "GB/s");
}

void random_access() {
  size_t free_bytes = 0, total = 0;
  MICRO_CHECK(cudaMemGetInfo(&free_bytes, &total));
  const int sms = device().multiProcessorCount;
  Buffer<u32> sink(1);
  Buffer<long long> times(2);
  std::vector<double> gigabytes = {1. / 64, 1. / 32, 1. / 16, .125, .25, .5, 1, 2, 4, 8, 16, 32, 64};
  if (quick()) gigabytes = {1. / 1024};
  double largest = 0;
  for (double gb : gigabytes)
    if (gb * 1073741824 < free_bytes * 0.95) largest = gb;
  Buffer<u32> data(size_t(largest * 1073741824) / 4);
  for (double gb : gigabytes) {
    if (gb > largest) break;
    const size_t bytes = size_t(gb * 1073741824);
    char label[64];
    std::snprintf(label, sizeof label, "%g", gb * 1024);
    const int steps = quick() ? 8 : 4096;
    report(std::string("random.latency.mib") + label, sample(3, [&] {
             // Sets that fit are read before; in larger ones every sample starts elsewhere, or it would find its own lines.
             static unsigned long long first = 1;
             first = first * 6364136223846793005ull + 1442695040888963407ull;
             if (bytes <= size_t(64) << 20) touch<<<sms * 2, 1024>>>(reinterpret_cast<const uint4*>(data.data), bytes / 16, sink.data);
             random_chase<Cached::second_level><<<1, 1>>>(data.data, bytes / 128, 32, first >> 20, 16, steps, times.data);
             return block_cycles(times, 1) / steps;
           }), "cycle");
    for (int chunk : {4, 32, 64, 128}) {
      const int rounds = quick() ? 4 : 64;
      const unsigned blocks = quick() ? 2 : sms * 16;
      report("random.gather" + number(chunk) + ".mib" + label, sample(3, [&] {
               const double us = event_us([&] { gather<<<blocks, 512>>>(data.data, bytes / chunk, chunk / 4, rounds, sink.data); });
               return double(blocks) * 512 / (chunk / 4) * rounds / us * 1e-3;
             }), "G chunk/s");
    }
    report(std::string("random.scatter4.mib") + label, sample(3, [&] {
             const int rounds = quick() ? 4 : 32;
             const unsigned blocks = quick() ? 2 : sms * 8;
             const double us = event_us([&] { scatter<<<blocks, 512>>>(data.data, bytes / 4, rounds); });
             return double(blocks) * 512 * rounds / us * 1e-3;
           }), "G word/s");
    MICRO_CHECK(cudaMemset(data.data, 0, bytes));
  }
}

}  // namespace

void in_flight() {
  const size_t small = size_t(8) << 20, large = quick() ? small : size_t(1) << 30;
  Buffer<uint4> data(large / 16);
  measure_flights<u32>("l2", data, small);
  measure_flights<uint4>("l2", data, small);
  measure_flights<u32>("dram", data, large);
  measure_flights<uint4>("dram", data, large);
}

void dram() {
  measure_stream<Stream::read, One>("read", 1);
  measure_stream<Stream::read, Four>("read", 1);
  measure_stream<Stream::write, One>("write", 1);
  measure_stream<Stream::write, Four>("write", 1);
  measure_stream<Stream::copy, One>("copy", 2);
  measure_stream<Stream::copy, Four>("copy", 2);
  measure_stream<Stream::scale, One>("scale", 2);
  measure_stream<Stream::triad, One>("triad", 3);
  strides();
  random_access();
}

}  // namespace micro
