// Atomics on global memory: latency, and rates by how many threads meet at one address.
#include "chain.cuh"

namespace micro {
namespace {

using u32 = unsigned;
using u64 = unsigned long long;

enum class Place { one_word, word_of_warp, word_of_lane, own_word, random_word, own_sector };

__device__ size_t place_of(Place place, size_t words) {
  const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
  switch (place) {
    case Place::one_word: return 0;
    case Place::word_of_warp: return thread / 32 * 8 % words;
    case Place::word_of_lane: return thread % 32;
    case Place::own_word: return thread % words;
    case Place::random_word: return thread * 2654435761u % words;
    case Place::own_sector: return size_t(thread) * 8 % words;
  }
  return 0;
}

struct RedAdd { using Type = u32; static __device__ void step(u32* p, u32& v) { asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(v + 1) : "memory"); } };
struct AtomAdd { using Type = u32; static __device__ void step(u32* p, u32& v) { v += atomicAdd(p, 1u); } };
struct AtomCas { using Type = u32; static __device__ void step(u32* p, u32& v) { v += atomicCAS(p, 0u, 1u); } };
struct AtomExchange { using Type = u32; static __device__ void step(u32* p, u32& v) { v += atomicExch(p, 3u); } };
struct AtomMax { using Type = u32; static __device__ void step(u32* p, u32& v) { v += atomicMax(p, 5u); } };
struct RedFloat { using Type = float; static __device__ void step(float* p, float&) { atomicAdd(p, 1.0f); } };
struct RedDouble { using Type = double; static __device__ void step(double* p, double&) { atomicAdd(p, 1.0); } };
struct Red64 { using Type = u64; static __device__ void step(u64* p, u64&) { atomicAdd(p, u64(1)); } };
struct Cas64 { using Type = u64; static __device__ void step(u64* p, u64& v) { v += atomicCAS(p, u64(0), u64(1)); } };

template <class Op>
__global__ void updates(typename Op::Type* data, size_t words, Place place, int rounds, typename Op::Type* sink) {
  typename Op::Type v = 0;
  typename Op::Type* p = data + place_of(place, words);
#pragma unroll 4
  for (int r = 0; r < rounds; ++r) Op::step(p, v);
  if (v == typename Op::Type(42)) *sink = v;
}

template <class Op>
void measure(const char* name) {
  using T = typename Op::Type;
  const size_t words = size_t(1) << 20;
  Buffer<T> data(words), sink(1);
  const std::pair<const char*, Place> places[] = {{"one_word", Place::one_word},       {"word_of_lane", Place::word_of_lane},
                                                  {"word_of_warp", Place::word_of_warp}, {"own_word", Place::own_word},
                                                  {"own_sector", Place::own_sector},   {"random_word", Place::random_word}};
  const int sms = device().multiProcessorCount;
  for (const auto& entry : places) {
    const char* label = entry.first;
    const Place place = entry.second;
    const bool slow = place == Place::one_word || place == Place::word_of_lane;
    const int rounds = quick() ? 2 : slow ? 8 : 32, blocks = quick() ? 2 : sms * 8;
    report(std::string("atomic.") + name + "." + label, sample(3, [&] {
             const auto run = [&](int n) { return event_us([&] { updates<Op><<<blocks, 256>>>(data.data, words, place, n, sink.data); }); };
             return double(blocks) * 256 * rounds / (run(2 * rounds) - run(rounds)) * 1e-3;
           }), "G operation/s");
  }
}

template <class Op>
__global__ void update_chain(typename Op::Type* data, long long* times, int steps) {
  typename Op::Type v = 0;
  const long long start = clock64();
  for (int i = 0; i < steps; ++i) {
    Op::step(data + (v == typename Op::Type(0x7fffffff) ? 1 : 0), v);  // the address waits for the value before
  }
  times[0] = start;
  times[1] = clock64() + (v == typename Op::Type(0x7fffffff));
}

template <class Op>
void measure_latency(const char* name, int threads) {
  // By address: the words of the far side of the second level take longer, and nothing is kept at this one.
  const int places = quick() ? 2 : 64;
  Buffer<typename Op::Type> data(size_t(places) * 4096);
  Buffer<long long> times(2);
  const int steps = quick() ? 4 : 128;
  std::vector<double> each;
  for (int p = 0; p < places; ++p) {
    update_chain<Op><<<1, threads>>>(data.data + size_t(p) * 4096, times.data, steps);
    each.push_back(block_cycles(times, 1) / steps);
  }
  std::sort(each.begin(), each.end());
  for (int percent : {10, 25, 50, 75, 90})
    report(std::string("atomic.latency.") + name + ".threads" + number(threads) + ".percent" + number(percent), each[percent * (places - 1) / 100],
           "cycle");
}

}  // namespace

void atomics() {
  measure<RedAdd>("red_add_u32");
  measure<AtomAdd>("atom_add_u32");
  measure<AtomCas>("cas_u32");
  measure<AtomExchange>("exchange_u32");
  measure<AtomMax>("max_u32");
  measure<RedFloat>("red_add_f32");
  measure<RedDouble>("red_add_f64");
  measure<Red64>("red_add_u64");
  measure<Cas64>("cas_u64");
  for (int threads : {1, 32}) {
    measure_latency<AtomAdd>("add_u32", threads);
    measure_latency<AtomCas>("cas_u32", threads);
    measure_latency<AtomExchange>("exchange_u32", threads);
    measure_latency<Cas64>("cas_u64", threads);
  }
}

}  // namespace micro
