// What limits a multiprocessor beside its units: registers that are read at a time, what stores take on their way out, and how far parts of memory are.
#include "harness.h"

namespace micro {
namespace {

constexpr int kKept = 8;  // numbers that a thread has of each kind

// Each turn is so many instructions of a kind; cycles of a scheduler for each of them.
struct three_apart {  // registers that no two have in common
  __device__ static void turn(float* x, const float* y, const float* z) {
    for (int k = 0; k < kKept; ++k) x[k] = fmaf(y[k], z[k], x[k]);
  }
};
struct one_apart {
  __device__ static void turn(float* x, const float* y, const float* z) {
    for (int k = 0; k < kKept; ++k) x[k] = fmaf(x[k], y[0], z[0]);
  }
};
struct two_of_a_sum {
  __device__ static void turn(float* x, const float* y, const float*) {
    for (int k = 0; k < kKept; ++k) x[k] += y[k];
  }
};
struct wide_products {
  __device__ static void turn(float* x, const float* y, const float*) {
    for (int k = 0; k < kKept; k += 2) {
      long long sum = __double_as_longlong(__hiloint2double(__float_as_int(x[k]), __float_as_int(x[k + 1])));
      asm volatile("mad.wide.s32 %0, %1, 12, %0;" : "+l"(sum) : "r"(__float_as_int(y[k])));
      x[k] = __int_as_float(static_cast<int>(sum >> 32)), x[k + 1] = __int_as_float(static_cast<int>(sum));
    }
  }
};

template <class Kind>
__global__ void operands(const float* in, int count, float* sink, long long* cycles) {
  float x[kKept], y[kKept], z[kKept];
  for (int k = 0; k < kKept; ++k) x[k] = in[threadIdx.x + k], y[k] = in[3 * k + threadIdx.x + 9], z[k] = in[5 * k + threadIdx.x + 11];
  __syncthreads();
  const long long start = clock64();
#pragma unroll 4
  for (int i = 0; i < count; ++i) Kind::turn(x, y, z);
  __syncthreads();
  cycles[threadIdx.x / 32] = clock64() - start;
  float sum = 0;
  for (int k = 0; k < kKept; ++k) sum += x[k] + y[k] + z[k];
  sink[threadIdx.x] = sum;
}

// Words `pitch` apart: cycles of the multiprocessor for each store of a warp.
template <class Word>
__global__ void stores(Word* out, int pitch, int count) {
  for (int i = 0; i < count; ++i) out[(static_cast<size_t>(i & 31) * blockDim.x + threadIdx.x) * pitch] = Word{};
}

// One load after the other, of lines in no order: how long each took.
__global__ void lines(const unsigned* all, unsigned mask, int count, unsigned* took) {
  for (int i = 0; i < count; ++i) {
    const unsigned* const line = all + static_cast<size_t>(i * 2654435761u >> 3 & mask) * 32;
    const long long start = clock64();
    unsigned v;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(line) : "memory");
    asm volatile("add.u32 %0, %0, 1;" : "+r"(v)::"memory");
    took[i] = static_cast<unsigned>(clock64() - start) + (v == 0x7fffffff);
  }
}

template <class Kind>
void measure_operands(const char* name, int each) {
  Buffer<float> in(2048), sink(1024);
  Buffer<long long> cycles(32);
  const int few = quick() ? 4 : 64, many = quick() ? 8 : 1024;
  for (int warps : {4, 8, 16}) {
    const auto of = [&](int count) {
      operands<Kind><<<1, 32 * warps>>>(in.data, count, sink.data, cycles.data);
      const auto all = cycles.host();
      return static_cast<double>(*std::max_element(all.begin(), all.begin() + warps));
    };
    report(std::string("registers.") + name + ".warps" + number(warps),
           sample(5, [&] { return (of(many) - of(few)) / (many - few) / each / (warps / 4.0); }), "cycle");
  }
}

template <class Word>
void measure_stores(const char* name, std::initializer_list<int> pitches) {
  constexpr int kThreads = 1024;
  for (int pitch : pitches) {
    Buffer<Word> out(size_t{32} * kThreads * pitch);
    const int few = quick() ? 4 : 256, many = quick() ? 8 : 2048;
    const auto of = [&](int count) {
      return event_us([&] { stores<Word><<<1, kThreads>>>(out.data, pitch, count); });
    };
    int khz = 0;  // the highest: a single multiprocessor at work keeps it
    MICRO_CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    const double per_us = khz / 1e3;
    report(std::string("stores.") + name + ".pitch" + number(pitch), sample(5, [&] { return (of(many) - of(few)) * per_us / (many - few) / (kThreads / 32); }),
           "cycle");
  }
}

// (Of L2, caches.cu has them: l2.line_latency.)
void measure_memory() {
  const int count = quick() ? 64 : 16384;
  const size_t bytes = size_t{quick() ? 1u : 1024u} << 20;
  Buffer<unsigned> all(bytes / 4), took(count);
  lines<<<1, 1>>>(all.data, static_cast<unsigned>(bytes / 128 - 1), count, took.data);
  auto found = took.host();
  std::sort(found.begin(), found.end());
  for (int percent : {5, 25, 50, 75, 95})
    report("lines.memory.percent" + number(percent), found[static_cast<size_t>(count) * percent / 100], "cycle");
}

}  // namespace

void registers_and_ways() {
  measure_operands<three_apart>("fma_three", kKept);
  measure_operands<one_apart>("fma_one", kKept);
  measure_operands<two_of_a_sum>("add_two", kKept);
  measure_operands<wide_products>("wide_product", kKept / 2);
  measure_stores<unsigned>("word", {1, 2, 4, 8, 16, 32});
  measure_stores<uint4>("quad", {1, 2, 4, 8});
  measure_memory();
}

}  // namespace micro
