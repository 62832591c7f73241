// cuRAND's generators in kernels: known numbers, jumps against single steps, and the moments of the distributions.
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>

static int failures = 0;

static void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  printf("FAIL %s\n", what);
}

template <class State>
__global__ void draw(unsigned long long seed, unsigned long long sequence, unsigned long long offset, unsigned* out) {
  State state;
  curand_init(seed, sequence + threadIdx.x, offset, &state);
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = curand(&state);
}

template <class State>
static void expect_numbers(const char* what, unsigned long long seed, unsigned long long sequence,
                           unsigned long long offset, const unsigned (&known)[8]) {
  unsigned* out;
  cudaMallocManaged(&out, sizeof known);
  draw<State><<<1, 2>>>(seed, sequence, offset, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 8; ++i) expect(out[i] == known[i], what);
  cudaFree(out);
}

// Offsets and skips are the steps they stand for.
template <class State>
__global__ void jump(int* wrong) {
  const int n = 37 * threadIdx.x;
  State walked, jumped, skipped;
  curand_init(99, 5, 0, &walked);
  curand_init(99, 5, n, &jumped);
  curand_init(99, 5, 0, &skipped);
  for (int i = 0; i < n; ++i) curand(&walked);
  skipahead((unsigned long long)n, &skipped);
  for (int i = 0; i < 3; ++i) {
    const unsigned x = curand(&walked);
    if (x != curand(&jumped) || x != curand(&skipped)) atomicAdd(wrong, 1);
  }
}

__device__ void skip_sequences(unsigned long long n, curandStateXORWOW_t* s) { skipahead_sequence(n, s); }
__device__ void skip_sequences(unsigned long long n, curandStatePhilox4_32_10_t* s) { skipahead_sequence(n, s); }
__device__ void skip_sequences(unsigned long long n, curandStateMRG32k3a_t* s) { skipahead_subsequence(n, s); }

// A sequence a + b is a sequence a, and b more; 2^k sequences of every size.
template <class State>
__global__ void sequences(int* wrong) {
  const unsigned long long a = 1ull << threadIdx.x, b = 0x123456789abull * threadIdx.x + 77;
  State once, twice;
  curand_init(4711, a + b, 3, &once);
  curand_init(4711, a, 3, &twice);
  skip_sequences(b, &twice);
  if (curand(&once) != curand(&twice)) atomicAdd(wrong, 1);
}

enum { kKinds = 10, kPerThread = 64, kThreads = 256 };

// Sums of the numbers less their expected mean, and of the squares of that.
template <class State>
__global__ void moments(double (*sums)[2]) {
  State s;
  curand_init(2024, threadIdx.x, 0, &s);
  const double expected[kKinds] = {.5, .5, 0, 0, exp(.3 + .5 * .04), exp(.3 + .5 * .04), 3.5, 40, 500, 9000};
  for (int kind = 0; kind < kKinds; ++kind) {
    double sum = 0, squares = 0;
    for (int i = 0; i < kPerThread; ++i) {
      double x = 0;
      switch (kind) {
        case 0:
          x = curand_uniform(&s);
          break;
        case 1:
          x = curand_uniform_double(&s);
          break;
        case 2:
          x = curand_normal(&s);
          break;
        case 3:
          x = curand_normal_double(&s);
          break;
        case 4:
          x = curand_log_normal(&s, .3f, .2f);
          break;
        case 5:
          x = curand_log_normal_double(&s, .3, .2);
          break;
        default:
          x = curand_poisson(&s, expected[kind]);
      }
      x -= expected[kind];
      sum += x;
      squares += x * x;
    }
    atomicAdd(&sums[kind][0], sum);
    atomicAdd(&sums[kind][1], squares);
  }
}

template <class State>
static void expect_moments(const char* what) {
  double(*sums)[2];
  cudaMallocManaged(&sums, kKinds * sizeof *sums);
  cudaMemset(sums, 0, kKinds * sizeof *sums);
  moments<State><<<1, kThreads>>>(sums);
  cudaDeviceSynchronize();
  const double n = kPerThread * kThreads, log_variance = (exp(.04) - 1) * exp(.6 + .04);
  const double variances[kKinds] = {1. / 12, 1. / 12, 1, 1, log_variance, log_variance, 3.5, 40, 500, 9000};
  for (int kind = 0; kind < kKinds; ++kind) {
    expect(fabs(sums[kind][0] / n) < 5 * sqrt(variances[kind] / n), what);
    expect(fabs(sums[kind][1] / n / variances[kind] - 1) < 0.1, what);
  }
  cudaFree(sums);
}

// Counter, key and result of the paper's known answers; then everything that comes by fours.
__global__ void philox(int* wrong) {
  const uint4 zero = curand_Philox4x32_10(make_uint4(0, 0, 0, 0), make_uint2(0, 0));
  const uint4 ones = curand_Philox4x32_10(make_uint4(~0u, ~0u, ~0u, ~0u), make_uint2(~0u, ~0u));
  if (zero.x != 0x6627e8d5 || zero.y != 0xe169c58d || zero.z != 0xbc57ac4c || zero.w != 0x9b00dbd8) ++*wrong;
  if (ones.x != 0x408f276d || ones.y != 0x41c83b0e || ones.z != 0xa20bc7c6 || ones.w != 0x6d5451fd) ++*wrong;
  for (int start = 0; start < 4; ++start) {
    curandStatePhilox4_32_10_t one, four;
    curand_init(7, 8, start, &one);
    curand_init(7, 8, start, &four);
    const uint4 x = curand4(&four);
    if (x.x != curand(&one) || x.y != curand(&one) || x.z != curand(&one) || x.w != curand(&one)) ++*wrong;
    const float4 u = curand_uniform4(&four);
    if (u.x != curand_uniform(&one) || u.y != curand_uniform(&one) || u.z != curand_uniform(&one) ||
        u.w != curand_uniform(&one))
      ++*wrong;
    const float4 n = curand_normal4(&four);
    if (n.x != curand_normal(&one) || n.y != curand_normal(&one) || n.z != curand_normal(&one) ||
        n.w != curand_normal(&one))
      ++*wrong;
    const uint4 p = curand_poisson4(&four, 9.5);
    if (p.x != curand_poisson(&one, 9.5) || p.y != curand_poisson(&one, 9.5) || p.z != curand_poisson(&one, 9.5) ||
        p.w != curand_poisson(&one, 9.5))
      ++*wrong;
  }
}

// With van der Corput's vectors a Sobol sequence visits every multiple of 2^-k once per 2^k numbers.
__global__ void sobol(int* wrong) {
  curandDirectionVectors32_t vectors;
  for (int i = 0; i < 32; ++i) vectors[i] = 1u << (31 - i);
  curandStateSobol32_t plain, skipped;
  curandStateScrambledSobol32_t scrambled;
  curand_init(vectors, 0, &plain);
  curand_init(vectors, 0xabcdef12u, 0, &scrambled);
  unsigned seen = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned x = curand(&plain);
    seen |= 1u << (x >> 27);
    if (curand(&scrambled) != (x ^ 0xabcdef12u)) ++*wrong;
    curand_init(vectors, i, &skipped);
    if (curand(&skipped) != x) ++*wrong;
  }
  if (seen != ~0u) ++*wrong;
  float last = -100;  // the inverse of a distribution function rises
  for (unsigned i = 1; i < 64; ++i) {
    plain.x = i << 26;
    const float x = curand_normal(&plain);
    if (!(x > last)) ++*wrong;
    last = x;
  }
}

template <class Kernel>
static void expect_right(Kernel kernel, int threads, const char* what) {
  int* wrong;
  cudaMallocManaged(&wrong, sizeof(int));
  *wrong = 0;
  kernel<<<1, threads>>>(wrong);
  expect(cudaDeviceSynchronize() == cudaSuccess && *wrong == 0, what);
  cudaFree(wrong);
}

int main() {
  expect_numbers<curandStateXORWOW_t>(
      "xorwow", 1234, 0, 0,
      {624778773u, 1867875844u, 3739671282u, 1954919316u, 3522650202u, 3978931785u, 2198015705u, 2308946676u});
  expect_numbers<curandStateXORWOW_t>(
      "xorwow far", 987654321, 0x123456789abcull, 100001,
      {399260642u, 2588471809u, 1181669379u, 1858403731u, 448868909u, 1218163625u, 600312266u, 3141727682u});
  expect_numbers<curandStatePhilox4_32_10_t>(
      "philox", 987654321, 0x123456789abcull, 100001,
      {3131639960u, 543876823u, 364811810u, 3827716989u, 4015619947u, 485478914u, 1122815522u, 4240494657u});
  expect_numbers<curandStateMRG32k3a_t>(
      "mrg32k3a", 1234, 0, 0,
      {3379073520u, 2521876100u, 213678209u, 1604391373u, 653317650u, 2890950871u, 2749090064u, 2410030135u});
  expect_numbers<curandStateMRG32k3a_t>(
      "mrg32k3a far", 987654321, 0x123456789abcull, 100001,
      {4203789248u, 1669747716u, 2592509491u, 1563801439u, 599046658u, 3356982174u, 1072180761u, 995501006u});
  expect_right(jump<curandStateXORWOW_t>, 32, "jumps of xorwow");
  expect_right(jump<curandStatePhilox4_32_10_t>, 32, "jumps of philox");
  expect_right(jump<curandStateMRG32k3a_t>, 32, "jumps of mrg32k3a");
  expect_right(sequences<curandStateXORWOW_t>, 50, "sequences of xorwow");
  expect_right(sequences<curandStatePhilox4_32_10_t>, 50, "sequences of philox");
  expect_right(sequences<curandStateMRG32k3a_t>, 50, "sequences of mrg32k3a");
  expect_moments<curandStateXORWOW_t>("moments of xorwow");
  expect_moments<curandStatePhilox4_32_10_t>("moments of philox");
  expect_moments<curandStateMRG32k3a_t>("moments of mrg32k3a");
  expect_right(philox, 1, "philox by fours");
  expect_right(sobol, 1, "sobol");
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0;
}
