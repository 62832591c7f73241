// The multiprocessors' clock: cycles against %globaltimer, idle, and under loads that draw power.
#include "harness.h"

namespace micro {
namespace {

__device__ unsigned long long global_ns() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

// Each thread spins through `rounds` rounds of 64 dependent multiply-adds in four chains.
__global__ void burn(float* sink, unsigned long long* cycles_ns, int rounds) {
  const unsigned long long ns = global_ns();
  const long long cycles = clock64();
  float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      a = fmaf(a, 0.999f, 0.5f);
      b = fmaf(b, 0.998f, 0.5f);
      c = fmaf(c, 0.997f, 0.5f);
      d = fmaf(d, 0.996f, 0.5f);
    }
  }
  sink[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
  if (threadIdx.x == 0) {
    cycles_ns[2 * blockIdx.x] = clock64() - cycles;
    cycles_ns[2 * blockIdx.x + 1] = global_ns() - ns;
  }
}

__global__ void stream_read(const int4* in, int* sink, size_t count, unsigned long long* cycles_ns) {
  const unsigned long long ns = global_ns();
  const long long cycles = clock64();
  int sum = 0;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
    const int4 v = in[i];
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 42) *sink = sum;
  if (threadIdx.x == 0) {
    cycles_ns[2 * blockIdx.x] = clock64() - cycles;
    cycles_ns[2 * blockIdx.x + 1] = global_ns() - ns;
  }
}

__global__ void timer_steps(unsigned long long* steps, int count) {
  unsigned long long last = global_ns();
  for (int i = 0; i < count;) {
    const unsigned long long now = global_ns();
    if (now != last) steps[i++] = now - last;
    last = now;
  }
}

double mhz(const Buffer<unsigned long long>& cycles_ns, int blocks) {
  const auto t = cycles_ns.host();
  double cycles = 0, ns = 0;
  for (int b = 0; b < blocks; ++b) {
    cycles += double(t[2 * b]);
    ns += double(t[2 * b + 1]);
  }
  return cycles / ns * 1e3;
}

}  // namespace

void clocks() {
  const int sms = device().multiProcessorCount;
  Buffer<float> sink(size_t(sms) * 2 * 1024);
  Buffer<unsigned long long> times(size_t(sms) * 4);
  const int rounds = quick() ? 10 : 200000;
  report("clock.one_warp", sample(3, [&] {
           burn<<<1, 32>>>(sink.data, times.data, rounds / 10);
           return mhz(times, 1);
         }), "MHz");
  report("clock.all_fma", sample(5, [&] {
           burn<<<sms, 1024>>>(sink.data, times.data, rounds);
           return mhz(times, sms);
         }), "MHz");
  const size_t bytes = quick() ? 1 << 20 : size_t(2) << 30;
  Buffer<int4> data(bytes / 16, 1);
  report("clock.dram_read", sample(9, [&] {
           for (int i = 0; i < (quick() ? 1 : 20); ++i)
             stream_read<<<sms * 2, 1024>>>(data.data, reinterpret_cast<int*>(sink.data), data.count, times.data);
           return mhz(times, sms * 2);
         }), "MHz");
  Buffer<unsigned long long> steps(256);
  timer_steps<<<1, 1>>>(steps.data, 256);
  std::vector<double> each;
  for (unsigned long long s : steps.host()) each.push_back(double(s));
  report("clock.globaltimer_step", each, "ns");
}

}  // namespace micro
