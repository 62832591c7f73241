// Straight code of 4 to 256 KB: its first run after other code, and the next ones.
#include "chain.cuh"

namespace micro {
namespace {

#define FOUR "fma.rn.f32 %0, %0, %1, %2;\n\tfma.rn.f32 %0, %0, %2, %1;\n\tfma.rn.f32 %0, %0, %1, %1;\n\tfma.rn.f32 %0, %0, %2, %2;\n\t"
#define SIXTEEN FOUR FOUR FOUR FOUR
#define SIXTY_FOUR SIXTEEN SIXTEEN SIXTEEN SIXTEEN
#define KILOBYTES_4 SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR  // 256 instructions of 16 bytes

template <int Parts>
__global__ void straight(float* sink, long long* times, float y, float z, int rounds) {
  float x = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    __syncthreads();
    const long long start = clock64();
#pragma unroll
    for (int i = 0; i < Parts; ++i) asm volatile(KILOBYTES_4 : "+f"(x) : "f"(y), "f"(z));
    const long long end = clock64();
    if (threadIdx.x == 0) {
      times[(blockIdx.x * rounds + r) * 2] = start;
      times[(blockIdx.x * rounds + r) * 2 + 1] = end;
    }
  }
  sink[threadIdx.x] = x;
}

template <int Parts>
void measure() {
  const int rounds = 3;
  const int sms = device().multiProcessorCount;
  Buffer<float> sink(1024);
  Buffer<long long> times(size_t(sms) * rounds * 2);
  for (const auto& shape : {std::pair<int, int>{1, 32}, {1, 1024}, {sms, 32}, {sms, 256}}) {
    const int blocks = shape.first, threads = shape.second;
    std::vector<double> by_round[rounds], whole;
    for (int i = 0; i < repeats(7); ++i) {
      straight<64><<<sms, 32>>>(sink.data, times.data, 0.5f, 0.25f, 1);  // other code, to fill the caches
      if (Parts == 64) straight<63><<<sms, 32>>>(sink.data, times.data, 0.5f, 0.25f, 1);
      MICRO_CHECK(cudaDeviceSynchronize());
      whole.push_back(event_us([&] { straight<Parts><<<blocks, threads>>>(sink.data, times.data, 0.5f, 0.25f, rounds); }));
      const auto t = times.host();
      for (int r = 0; r < rounds; ++r) {
        double sum = 0;
        for (int b = 0; b < blocks; ++b) sum += double(t[(b * rounds + r) * 2 + 1] - t[(b * rounds + r) * 2]);
        by_round[r].push_back(sum / blocks / (Parts * 256.0));
      }
    }
    for (int r = 0; r < rounds; ++r)
      report("icache.kb" + number(Parts * 4) + ".blocks" + (blocks == 1 ? "1" : "_all") + ".threads" + number(threads) + ".round" + number(r),
             by_round[r], "cycle/instruction of a warp");
  }
}

}  // namespace

void instruction_cache() {
  measure<1>();
  measure<2>();
  measure<4>();
  measure<8>();
  measure<16>();
  measure<24>();
  measure<32>();
  measure<40>();
  measure<64>();
}

}  // namespace micro
