// The first level (latency, widths, strides, capacity beside shared memory, textures) and the second (near and far,
// bandwidth by working set, one multiprocessor alone, latency under load).
#include "chase.cuh"

namespace micro {

__global__ void chase_overhead(unsigned long long lines, unsigned line_words, int steps, long long* times, unsigned long long* sink) {
  unsigned long long line = 1 % lines, sum = 0;
  const long long start = clock64();
  for (int i = 0; i < steps; ++i) {
    unsigned v;
    asm volatile("mov.u32 %0, 0;" : "=r"(v));
    sum += line * line_words + v;
    line = (line * 1664525ull + 1013904223ull + v) & (lines - 1);
  }
  const long long end = clock64();
  times[0] = start;
  times[1] = end;
  *sink = sum;
}

namespace {

using u32 = unsigned;

// Repeated loads (or stores) of a warp: lane l at word (l * stride + offset), each warp at its own place.
template <int Bytes, bool Store>
__global__ void __launch_bounds__(1024) strided(u32* data, long long* times, u32* sink, int stride, int warp_words, int offset, int iterations, int move) {
  u32* p = data + threadIdx.x / 32 * warp_words + threadIdx.x % 32 * stride + offset;
  u32 sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    const long long start = clock64();
#pragma unroll 1
    for (int n = 0; n < iterations; ++n) {
#pragma unroll
      for (int b = 0; b < 8; ++b) {
        u32 v = 0, w, x, y;
        u32* at = p + b * 32;  // lines of their own, by the offset in the instruction
        if (!Store) {
          if (Bytes == 4) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
          if (Bytes == 8) asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];" : "=r"(v), "=r"(w) : "l"(at) : "memory");
          if (Bytes == 16) asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v), "=r"(w), "=r"(x), "=r"(y) : "l"(at) : "memory");
        } else {
          if (Bytes == 4) asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(n) : "memory");
          if (Bytes == 8) asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(at), "r"(n) : "memory");
          if (Bytes == 16) asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(n) : "memory");
        }
        sum += v;
      }
      p += move;  // zero, which the assembler does not know: every access stays
    }
    const long long end = clock64();
    if (threadIdx.x % 32 == 0 && blockIdx.x == 0) {
      times[threadIdx.x / 32 * 2] = start;
      times[threadIdx.x / 32 * 2 + 1] = end;
    }
  }
  sink[threadIdx.x] = sum;
}

template <int Bytes, bool Store>
void measure_strides(const char* name, int blocks) {
  Buffer<u32> data(1 << 20);
  Buffer<long long> times(64);
  Buffer<u32> sink(1024);
  const int iterations = quick() ? 2 : 64, warps = 32;
  for (int stride : {0, 1, 2, 3, 4, 5, 8, 16, 32, 33, 64}) {
    if (stride * Bytes > 256) continue;
    const int words = stride * Bytes / 4;
    // All warps at the same place: the lines fit into the cache whatever the stride.
    report(std::string(name) + ".bytes" + number(Bytes) + ".stride" + number(stride), sample(5, [&] {
             strided<Bytes, Store><<<blocks, warps * 32>>>(data.data, times.data, sink.data, words, 0, 0, iterations, 0);
             return block_cycles(times, warps) / (8.0 * iterations * warps);
           }), "cycle/warp access/SM");
  }
  for (int offset : {1, 8}) {
    if (Bytes != 4) continue;
    report(std::string(name) + ".bytes4.stride1.offset" + number(offset), sample(5, [&] {
             strided<Bytes, Store><<<blocks, warps * 32>>>(data.data, times.data, sink.data, 1, 0, offset, iterations, 0);
             return block_cycles(times, warps) / (8.0 * iterations * warps);
           }), "cycle/warp access/SM");
  }
  report(std::string(name) + ".bytes" + number(Bytes) + ".own_lines", sample(5, [&] {
           strided<Bytes, Store><<<blocks, warps * 32>>>(data.data, times.data, sink.data, Bytes / 4, 32 * Bytes / 4, 0, iterations, 0);
           return block_cycles(times, warps) / (8.0 * iterations * warps);
         }), "cycle/warp access/SM");
}

// One warp, lane l at word l * stride of zeros, which are added to the next address.
__global__ void lanes_apart(const u32* data, long long* times, u32* sink, int stride, int iterations) {
  const u32* at = data + threadIdx.x * stride;
  for (int pass = 0; pass < 2; ++pass) {
    times[0] = clock64();
#pragma unroll 1
    for (int n = 0; n < iterations; ++n)
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        u32 v;
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
        at += v;
      }
    times[1] = clock64();
  }
  sink[threadIdx.x] = *at;
}

// A thread changes word 0 of a line that it has loaded the first two sectors of, or not, and then loads word `word`: the mean of many lines.
enum class Change { store, atomic };
template <Change change>
__global__ void load_behind(u32* data, long long* times, u32* sink, int lines, bool loaded, int word) {
  long long total = 0;
  u32 sum = 0;
  const auto load = [](const u32* p) {
    u32 v;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
  };
  for (int n = 0; n < lines; ++n) {
    u32* const line = data + n * 1024;
    if (loaded) sum += load(line) + load(line + 8);
    if (sum == 42) *sink = sum;
    if (change == Change::store) asm volatile("st.global.u32 [%0], 0;" ::"l"(line) : "memory");
    else atomicAdd(line, 0u);
    for (int k = 0; k < 16; ++k) __nanosleep(200);
    const long long start = clock64();
    sum += load(line + word);
    if (sum == 42) *sink = sum;
    total += clock64() - start;
  }
  times[0] = 0;
  times[1] = total / lines;
}

// Real pointers: nothing but the loads.
template <Cached cached>
__global__ void list(void** first, int steps, long long* times) {
  void** at = first;
  for (int pass = 0; pass < 2; ++pass) {
    times[0] = clock64();
#pragma unroll 8
    for (int i = 0; i < steps; ++i) {
      if (cached == Cached::all) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory");
      if (cached == Cached::second_level) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
      if (cached == Cached::read_only) asm volatile("ld.global.nc.u64 %0, [%0];" : "+l"(at)::"memory");
    }
    times[1] = clock64() + (at == nullptr);
  }
}

template <Cached cached>
void measure_list(const char* name, size_t bytes) {
  const int count = int(bytes / 128);
  Buffer<void*> list_of(bytes / 8);
  Buffer<long long> times(2);
  std::vector<void*> host(bytes / 8);
  for (int i = 0; i < count; ++i) host[i * 16] = list_of.data + (size_t(i) * 5 + 33) % count * 16;
  MICRO_CHECK(cudaMemcpy(list_of.data, host.data(), bytes, cudaMemcpyHostToDevice));
  const int steps = quick() ? 16 : std::max(count, 256);
  report(name, sample(5, [&] {
           list<cached><<<1, 1>>>(list_of.data, steps, times.data);
           return block_cycles(times, 1) / steps;
         }), "cycle");
}

double ordered(const Buffer<u32>& data, size_t bytes, size_t shared, int line_bytes) {
  static Buffer<long long> times(2);
  const int lines = int(bytes / line_bytes), rounds = 3;
  ordered_chase<Cached::all><<<1, 1, shared>>>(data.data, lines, line_bytes / 4, rounds, times.data);
  MICRO_CHECK(cudaGetLastError());
  return block_cycles(times, 1) / (double(lines) * rounds);
}

__global__ void texture_chase(cudaTextureObject_t texture, int steps, int two_dimensional, long long* times) {
  int x = 0;
  const long long start = clock64();
  for (int i = 0; i < steps; ++i) x += two_dimensional ? tex2D<int>(texture, x + 0.5f, 0.5f) : tex1Dfetch<int>(texture, x);
  times[0] = start;
  times[1] = clock64() + x;
}

template <bool Linear>
__global__ void texture_rate(cudaTextureObject_t texture, float* sink, int iterations, long long* times, float move) {
  float sum = 0, x = threadIdx.x % 32;
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      sum += Linear ? tex2D<float>(texture, x + b + 0.25f, threadIdx.x / 32 + 0.25f) : tex2D<float>(texture, x + b + 0.5f, threadIdx.x / 32 + 0.5f);
      x += move;  // zero
    }
  }
  const long long end = clock64();
  sink[threadIdx.x] = sum;
  if (threadIdx.x % 32 == 0) {
    times[threadIdx.x / 32 * 2] = start;
    times[threadIdx.x / 32 * 2 + 1] = end;
  }
}

void textures() {
  Buffer<int> words(4096);
  Buffer<long long> times(64);
  Buffer<float> sink(1024);
  cudaResourceDesc linear = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = words.data;
  linear.res.linear.desc = cudaCreateChannelDesc<int>();
  linear.res.linear.sizeInBytes = words.count * 4;
  cudaTextureDesc plain = {};
  plain.readMode = cudaReadModeElementType;
  cudaTextureObject_t one = 0, two = 0, floats = 0, filtered = 0;
  MICRO_CHECK(cudaCreateTextureObject(&one, &linear, &plain, nullptr));
  cudaArray_t array, float_array;
  cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>(), single = cudaCreateChannelDesc<float>();
  MICRO_CHECK(cudaMallocArray(&array, &ints, 64, 64));
  MICRO_CHECK(cudaMallocArray(&float_array, &single, 64, 64));
  std::vector<int> zeros(64 * 64);
  MICRO_CHECK(cudaMemcpy2DToArray(array, 0, 0, zeros.data(), 256, 256, 64, cudaMemcpyHostToDevice));
  MICRO_CHECK(cudaMemcpy2DToArray(float_array, 0, 0, zeros.data(), 256, 256, 64, cudaMemcpyHostToDevice));
  cudaResourceDesc in_array = {};
  in_array.resType = cudaResourceTypeArray;
  in_array.res.array.array = array;
  MICRO_CHECK(cudaCreateTextureObject(&two, &in_array, &plain, nullptr));
  in_array.res.array.array = float_array;
  MICRO_CHECK(cudaCreateTextureObject(&floats, &in_array, &plain, nullptr));
  plain.filterMode = cudaFilterModeLinear;
  MICRO_CHECK(cudaCreateTextureObject(&filtered, &in_array, &plain, nullptr));
  const int steps = quick() ? 8 : 512, iterations = quick() ? 2 : 64;
  for (int dimensional : {0, 1})
    report(dimensional ? "texture.latency.2d" : "texture.latency.1d", sample(5, [&] {
             texture_chase<<<1, 1>>>(dimensional ? two : one, steps, dimensional, times.data);
             return block_cycles(times, 1) / steps;
           }), "cycle");
  report("texture.rate.2d.point", sample(5, [&] {
           texture_rate<false><<<1, 1024>>>(floats, sink.data, iterations, times.data, 0.0f);
           return block_cycles(times, 32) / (8.0 * iterations * 32);
         }), "cycle/warp fetch/SM");
  report("texture.rate.2d.linear", sample(5, [&] {
           texture_rate<true><<<1, 1024>>>(filtered, sink.data, iterations, times.data, 0.0f);
           return block_cycles(times, 32) / (8.0 * iterations * 32);
         }), "cycle/warp fetch/SM");
}

// Latency of each of `count` lines in turn, after all were touched: the near and the far part of the second level.
__global__ void each_line(const u32* data, int count, u32* latency, int from_sm, bool touch_first) {
  u32 sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (int(sm) != from_sm || threadIdx.x) return;
  __shared__ volatile u32 seen;
  u32 v = 0;
  if (touch_first)
    for (int i = 0; i < count; ++i) v += load_word<Cached::second_level>(data + i * 32 + v);
  for (int i = 0; i < count; ++i) {
    const long long start = clock64();
    v += load_word<Cached::second_level>(data + i * 32 + v);
    seen = v;  // issue is in order: the clock below is read when the value has come
    latency[i] = u32(clock64() - start);
  }
}

void near_and_far() {
  const int count = quick() ? 64 : 4096, sms = device().multiProcessorCount;
  Buffer<u32> data(size_t(count) * 32), latency(count);
  const auto percentiles = [&](const std::string& name) {
    std::vector<u32> all = latency.host();
    std::vector<double> sorted(all.begin(), all.end());
    std::sort(sorted.begin(), sorted.end());
    for (int percent : {1, 10, 25, 40, 50, 60, 75, 90, 99})
      report(name + ".percent" + number(percent), sorted[size_t(percent) * (count - 1) / 100], "cycle");
  };
  for (int k = 0; k < 4; ++k) {
    const int sm = k * (sms - 1) / 3;
    each_line<<<sms, 32>>>(data.data, count, latency.data, sm, true);
    percentiles("l2.line_latency.own.sm" + number(sm));
  }
  // Lines that only another multiprocessor has read so far: half of them are at the far side.
  for (int k = 1; k < 4; ++k) {
    const int sm = k * (sms - 1) / 3;
    MICRO_CHECK(cudaMemset(data.data, 0, size_t(count) * 128));
    Buffer<u32> flush(quick() ? 1024 : size_t(64) << 20);  // its fill pushes everything else out
    each_line<<<sms, 32>>>(data.data, count, latency.data, 0, true);
    each_line<<<sms, 32>>>(data.data, count, latency.data, sm, false);
    percentiles("l2.line_latency.read_by_sm0.sm" + number(sm));
    each_line<<<sms, 32>>>(data.data, count, latency.data, sm, false);
    percentiles("l2.line_latency.read_by_sm0_again.sm" + number(sm));
  }
}

enum class Traffic { read, write, copy };

// Every pass goes over the whole set; each block's part moves from pass to pass.
template <Traffic traffic>
__global__ void sweep(uint4* data, size_t count, int passes, u32* sink) {
  u32 sum = 0;
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  for (int p = 0; p < passes; ++p) {
    const size_t block = (blockIdx.x + size_t(p) * 37) % gridDim.x;
    size_t i = block * blockDim.x + threadIdx.x;
    const size_t half = count / 2;
    if (traffic == Traffic::read) {
      for (; i + 3 * threads < count; i += 4 * threads) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) v[k] = __ldcg(data + i + k * threads);
#pragma unroll
        for (int k = 0; k < 4; ++k) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
      }
      for (; i < count; i += threads) sum += __ldcg(data + i).x;
    } else if (traffic == Traffic::write) {
      for (; i < count; i += threads) __stcg(data + i, make_uint4(p, p, p, p));
    } else {
      for (; i < half; i += threads) __stcg(data + half + i, __ldcg(data + i));
    }
  }
  if (sum == 42) *sink = sum;
}

template <Traffic traffic>
void measure_sweep(const char* name, const std::vector<double>& megabytes, int blocks, int threads) {
  Buffer<u32> sink(1);
  const double largest = *std::max_element(megabytes.begin(), megabytes.end());
  Buffer<uint4> data(size_t(largest * 1048576 / 16));
  for (double mb : megabytes) {
    const size_t count = size_t(mb * 1048576 / 16);
    const double moved = 16.0 * count;
    const int passes = quick() ? 2 : int(std::max(6.0, (blocks > 4 ? 1e9 : 3e7) / moved));
    char label[64];
    std::snprintf(label, sizeof label, "%s.%g", name, mb);
    report(label, sample(5, [&] {
             const double one = event_us([&] { sweep<traffic><<<blocks, threads>>>(data.data, count, 2, sink.data); });
             const double all = event_us([&] { sweep<traffic><<<blocks, threads>>>(data.data, count, passes + 2, sink.data); });
             return moved * passes / (all - one) * 1e-3;
           }), "GB/s");
  }
}

// Block 0 chases through the first part of the data while the others read the rest with `warps` warps each.
__global__ void loaded(const u32* data, size_t chase_lines, const uint4* rest, size_t count, long long* times, u32* sink, u32* stop,
                       unsigned long long* moved, int steps) {
  if (blockIdx.x == 0) {
    if (threadIdx.x) return;
    unsigned long long line = 1;
    u32 v = 0;
    for (int i = 0; i < steps / 4; ++i) {
      v = load_word<Cached::second_level>(data + line * 32 + v);
      line = (line * 1664525ull + 1013904223ull + v) & (chase_lines - 1);
    }
    times[0] = clock64();
    for (int i = 0; i < steps; ++i) {
      v = load_word<Cached::second_level>(data + line * 32 + v);
      line = (line * 1664525ull + 1013904223ull + v) & (chase_lines - 1);
    }
    times[1] = clock64() + v;
    atomicExch(stop, 1u);
    return;
  }
  u32 sum = 0;
  const size_t threads = size_t(gridDim.x - 1) * blockDim.x;
  size_t i = size_t(blockIdx.x - 1) * blockDim.x + threadIdx.x;
  unsigned long long n = 0;
  const long long start = clock64();
  while (!*static_cast<volatile u32*>(stop)) {
    for (int k = 0; k < 16; ++k) {
      sum += __ldcg(rest + i).x;
      i += threads;
      if (i >= count) i -= count;
      ++n;
    }
  }
  const long long cycles = clock64() - start;
  if (sum == 42) *sink = sum;
  if (threadIdx.x % 32 == 0) atomicAdd(moved, n * 512 * 1000 / cycles);
}

void latency_under_load() {
  const int sms = device().multiProcessorCount, steps = quick() ? 16 : 2000;
  Buffer<long long> times(2);
  Buffer<u32> sink(1), stop(1);
  Buffer<unsigned long long> moved(1);
  for (bool hits : {true, false}) {
    const size_t chase_lines = quick() ? 1024 : hits ? 16384 : size_t(1) << 22;
    const size_t rest_bytes = quick() ? 1 << 20 : hits ? size_t(8) << 20 : size_t(1) << 30;
    Buffer<u32> data(chase_lines * 32);
    Buffer<uint4> rest(rest_bytes / 16);
    if (quick()) continue;  // blocks that wait for block 0: not for machines that run one block after the other
    for (int warps : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
      std::vector<double> rates;
      std::vector<double> cycles = sample(3, [&] {
        MICRO_CHECK(cudaMemset(stop.data, 0, 4));
        MICRO_CHECK(cudaMemset(moved.data, 0, 8));
        loaded<<<sms, warps * 32>>>(data.data, chase_lines, rest.data, rest.count, times.data, sink.data, stop.data, moved.data, steps);
        MICRO_CHECK(cudaDeviceSynchronize());
        rates.push_back(moved.host()[0] / 1000.0);
        return block_cycles(times, 1) / steps;
      });
      const std::string name = std::string(hits ? "l2" : "dram") + ".loaded.warps" + number(warps);
      report(name + ".latency", cycles, "cycle");
      report(name + ".rate", rates, "byte/cycle");
    }
  }
}

}  // namespace

void first_level() {
  Buffer<u32> data(1 << 20);
  Buffer<long long> times(2);
  Buffer<unsigned long long> sink(1);
  const int steps = quick() ? 8 : 2048;
  report("chase.overhead", sample(5, [&] {
           chase_overhead<<<1, 1>>>(1 << 10, 32, steps, times.data, sink.data);
           return block_cycles(times, 1) / steps;
         }), "cycle");
  measure_list<Cached::all>("l1.latency.list", 8192);
  measure_list<Cached::read_only>("l1.latency.list_nc", 8192);
  measure_list<Cached::second_level>("l2.latency.list", 1 << 20);
  MICRO_CHECK(cudaFuncSetAttribute(ordered_chase<Cached::all>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   int(device().sharedMemPerBlockOptin)));
  for (int shared_kb : {0, 32, 64, 100, 132, 164, 200, 227}) {
    if (size_t(shared_kb) << 10 > device().sharedMemPerBlockOptin) continue;
    for (int kb = 8; kb <= 264; kb += kb < 32 ? 8 : 16) {
      if (quick() && kb > 16) break;
      report("l1.capacity.shared" + number(shared_kb) + "." + number(kb),
             sample(1, [&] { return ordered(data, size_t(kb) << 10, size_t(shared_kb) << 10, 128); }), "cycle/load");
    }
  }
  Buffer<u32> lanes(32);
  for (int stride : {0, 1, 2, 4, 8, 16, 32, 33}) {
    const int iterations = quick() ? 2 : 64;
    report("l1.latency.bytes4.stride" + number(stride), sample(5, [&] {
             lanes_apart<<<1, 32>>>(data.data, times.data, lanes.data, stride, iterations);
             return block_cycles(times, 1) / (16.0 * iterations);
           }), "cycle");
  }
  const int lines = quick() ? 4 : 256;
  for (bool loaded : {true, false})
    for (int word : {0, 1, 8, 16}) {
      const std::string at = std::string(loaded ? ".loaded" : ".absent") + ".word" + number(word);
      report("l1.behind.store" + at, sample(3, [&] {
               load_behind<Change::store><<<1, 1>>>(data.data, times.data, lanes.data, lines, loaded, word);
               return block_cycles(times, 1);
             }), "cycle");
      report("l1.behind.atomic" + at, sample(3, [&] {
               load_behind<Change::atomic><<<1, 1>>>(data.data, times.data, lanes.data, lines, loaded, word);
               return block_cycles(times, 1);
             }), "cycle");
    }
  measure_strides<4, false>("l1.load", 1);
  measure_strides<8, false>("l1.load", 1);
  measure_strides<16, false>("l1.load", 1);
  measure_strides<4, true>("l1.store.one_sm", 1);
  measure_strides<16, true>("l1.store.one_sm", 1);
  measure_strides<4, true>("l1.store.all_sms", device().multiProcessorCount);
  measure_strides<16, true>("l1.store.all_sms", device().multiProcessorCount);
  textures();
}

void second_level() {
  near_and_far();
  const int sms = device().multiProcessorCount;
  std::vector<double> curve;
  if (quick()) curve = {1, 2};
  else
    for (double mb : {0.25, 0.5, 1., 2., 4., 6., 8., 12., 16., 20., 24., 28., 32., 36., 40., 44., 48., 52., 56., 60., 64., 72., 80., 96., 112., 128., 192., 256.})
      curve.push_back(mb);
  measure_sweep<Traffic::read>("l2.read_by_set", curve, sms * 2, 1024);
  measure_sweep<Traffic::write>("l2.write_by_set", curve, sms * 2, 1024);
  measure_sweep<Traffic::copy>("l2.copy_by_set", curve, sms * 2, 1024);
  const std::vector<double> one = quick() ? std::vector<double>{1} : std::vector<double>{0.5, 4, 16, 256};
  measure_sweep<Traffic::read>("l2.read_one_sm", one, 1, 1024);
  measure_sweep<Traffic::write>("l2.write_one_sm", one, 1, 1024);
  measure_sweep<Traffic::copy>("l2.copy_one_sm", one, 1, 1024);
  latency_under_load();
}

}  // namespace micro
