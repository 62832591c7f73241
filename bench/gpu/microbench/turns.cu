// A turn of a short loop: what a warp waits for between its instructions (branches, predicates, lanes that meet again, banks behind a miss), and how
// warps of a scheduler share it. In cycles a turn; the loop's own end is part of it.
#include "harness.h"

namespace micro {
namespace {

struct State {
  float x, y, r;
  int c;
  unsigned u;
};

#define MICRO_TURN(name, ...)                                           \
  struct name {                                                         \
    static constexpr const char* about = #name;                         \
    __device__ static bool turn(State& s) { __VA_ARGS__; return true; } \
  };
MICRO_TURN(fma_1, s.x = s.x * s.r + 1)
MICRO_TURN(fma_8, for (int k = 0; k < 8; ++k) s.x = s.x * s.r + 1)
MICRO_TURN(leaves, s.x = s.x * s.r + 1; if (s.x > 1e30f) return false; s.y = s.y * s.r + 1)
MICRO_TURN(select, s.x = s.x > s.r ? s.x * 0.5f : s.x + 1)
MICRO_TURN(shuffle_4, for (int k = 0; k < 4; ++k) s.x += __shfl_xor_sync(~0u, s.x, 1))
MICRO_TURN(shuffle_6, for (int k = 0; k < 6; ++k) s.x += __shfl_xor_sync(~0u, s.x, 1))
MICRO_TURN(reverse_2, for (int k = 0; k < 2; ++k) s.u = __brev(s.u) + 1)
MICRO_TURN(reverse_4, for (int k = 0; k < 4; ++k) s.u = __brev(s.u) + 1)
MICRO_TURN(sine_2, for (int k = 0; k < 2; ++k) s.x = __sinf(s.x) + s.r)
MICRO_TURN(sine_4, for (int k = 0; k < 4; ++k) s.x = __sinf(s.x) + s.r)
MICRO_TURN(inverse_root_1, s.x = rsqrtf(s.x * s.x + s.r))
MICRO_TURN(inverse_root_3, for (int k = 0; k < 3; ++k) s.x = rsqrtf(s.x * s.x + s.r))
MICRO_TURN(root_1, s.x = sqrtf(s.x + s.r))
MICRO_TURN(root_3, for (int k = 0; k < 3; ++k) s.x = sqrtf(s.x + s.r))
MICRO_TURN(quotient_1, s.x = s.r / (s.x + 1))
MICRO_TURN(quotient_3, for (int k = 0; k < 3; ++k) s.x = s.r / (s.x + 1))

template <class Turn>
__global__ void turns(int count, float r, float* sink, long long* cycles) {
  State s{threadIdx.x * 0.01f + r, r * 0.7f, r, 0, threadIdx.x};
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < count; ++i)
    if (!Turn::turn(s)) break;
  cycles[threadIdx.x / 32] = clock64() - start;
  sink[threadIdx.x] = s.x + s.y + s.c + s.u;
}

// Each lane has a row: `words` words of it, `together` at once, read again behind their first one.
template <int together>
__global__ void rows(const char* all, size_t pitch, int words, unsigned* sink, long long* cycles) {
  const char* row = all + threadIdx.x * pitch;
  unsigned sum = threadIdx.x;
  const long long start = clock64();
#pragma unroll 1
  for (int w = 0; w < words; w += together) {
    unsigned v[together];
#pragma unroll
    for (int k = 0; k < together; ++k) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[k]) : "l"(row + 4 * (w + k)));
#pragma unroll
    for (int k = 0; k < together; ++k) sum += v[k];
    asm volatile("" : "+r"(sum));
  }
  cycles[threadIdx.x / 32] = clock64() - start;
  sink[threadIdx.x] = sum;
}

double longest(const Buffer<long long>& cycles, int warps) {
  const auto all = cycles.host();
  return static_cast<double>(*std::max_element(all.begin(), all.begin() + warps));
}

template <class Turn>
void measure(std::initializer_list<int> warps) {
  Buffer<float> sink(1024);
  Buffer<long long> cycles(32);
  const int few = quick() ? 2 : 240, many = quick() ? 4 : 960;
  for (int w : warps) {
    const auto of = [&](int count) {
      turns<Turn><<<1, 32 * w>>>(count, 0.9f, sink.data, cycles.data);
      return longest(cycles, w);
    };
    report(std::string("turn.") + Turn::about + ".warps" + number(w), sample(5, [&] { return (of(many) - of(few)) / (many - few); }), "cycle");
  }
}

template <int together>
void measure_rows(size_t pitch, std::initializer_list<int> warps) {
  constexpr int kWords = 256;
  Buffer<char> all(1024 * pitch);
  Buffer<unsigned> sink(1024);
  Buffer<long long> cycles(32);
  for (int w : warps)
    report("rows.pitch" + number(static_cast<long long>(pitch)) + ".words" + number(together) + ".warps" + number(w), sample(5, [&] {
             rows<together><<<1, 32 * w>>>(all.data, pitch, kWords, sink.data, cycles.data);
             return longest(cycles, w) * together / kWords;
           }),
           "cycle");
}

}  // namespace

void loop_turns() {
  measure<fma_1>({1, 16, 32});
  measure<fma_8>({1, 16, 32});
  measure<leaves>({1, 32});
  measure<select>({1, 32});
  measure<shuffle_4>({1, 32});
  measure<shuffle_6>({1, 32});
  measure<reverse_2>({1});
  measure<reverse_4>({1});
  measure<sine_2>({1});
  measure<sine_4>({1});
  measure<inverse_root_1>({1, 32});
  measure<inverse_root_3>({1});
  measure<root_1>({1});
  measure<root_3>({1});
  measure<quotient_1>({1});
  measure<quotient_3>({1});
  for (size_t pitch : {1024, 1056}) {
    measure_rows<1>(pitch, {1, 16});
    measure_rows<4>(pitch, {1, 16});
    measure_rows<8>(pitch, {1, 16});
  }
}

}  // namespace micro
