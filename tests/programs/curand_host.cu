// Random numbers by calls of the host: known numbers in cuRAND's order, into device and host memory; refusals.

// build: -lcurand
#include <curand.h>
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>
#include <vector>

static int failures = 0;

static void expect(bool holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  printf("line %d: FAIL %s\n", line, what);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define EXPECT_DONE(call) expect((call) == CURAND_STATUS_SUCCESS, #call, __LINE__)

static std::vector<unsigned> bits(curandRngType_t type, unsigned long long seed, size_t count) {
  unsigned* device;
  cudaMalloc(&device, count * sizeof *device);
  curandGenerator_t g;
  EXPECT_DONE(curandCreateGenerator(&g, type));
  EXPECT_DONE(curandSetPseudoRandomGeneratorSeed(g, seed));
  EXPECT_DONE(curandGenerate(g, device, count));
  EXPECT_DONE(curandDestroyGenerator(g));
  std::vector<unsigned> numbers(count);
  cudaMemcpy(numbers.data(), device, count * sizeof *device, cudaMemcpyDeviceToHost);
  cudaFree(device);
  return numbers;
}

// What a kernel draws is what the host's calls deal out in turns.
__global__ void draw(unsigned long long seed, unsigned* out) {
  curandState state;
  curand_init(seed, threadIdx.x, 0, &state);
  for (int i = 0; i < 4; ++i) out[4096 * i + threadIdx.x] = curand(&state);
}

static void known_numbers() {
  const std::vector<unsigned> x = bits(CURAND_RNG_PSEUDO_DEFAULT, 1234, 30000);
  EXPECT(x[0] == 624778773 && x[1] == 3522650202 && x[4096] == 1867875844 && x[10001] == 2878165304);
  const std::vector<unsigned> m = bits(CURAND_RNG_PSEUDO_MRG32K3A, 1234, 90000);
  EXPECT(m[0] == 3379073520 && m[1] == 653317650 && m[4096] == 2648318237 && m[20000] == 1189940803);
  EXPECT(m[81920] == 2521876100);
  const std::vector<unsigned> p = bits(CURAND_RNG_PSEUDO_PHILOX4_32_10, 1234, 30000);
  EXPECT(p[0] == 546353992 && p[4] == 3507855656 && p[4099] == 3606568772 && p[20000] == 1841105133);

  unsigned* drawn;
  cudaMallocManaged(&drawn, 4 * 4096 * sizeof *drawn);
  draw<<<1, 256>>>(1234, drawn);
  cudaDeviceSynchronize();
  bool same = true;
  for (int lap = 0; lap < 4; ++lap)
    for (int i = 0; i < 256; ++i) same &= drawn[4096 * lap + i] == x[4096 * lap + i];
  EXPECT(same);
  cudaFree(drawn);
}

static bool near(double a, double b) { return std::fabs(a - b) <= 2e-6 * (1 + std::fabs(b)); }

static void known_reals() {
  curandGenerator_t g;
  EXPECT_DONE(curandCreateGeneratorHost(&g, CURAND_RNG_PSEUDO_XORWOW));
  EXPECT_DONE(curandSetPseudoRandomGeneratorSeed(g, 1234));
  EXPECT_DONE(curandSetGeneratorOffset(g, 30000));
  std::vector<float> f(30000);
  std::vector<double> d(30000);
  EXPECT_DONE(curandGenerateUniform(g, f.data(), f.size()));
  EXPECT(near(f[0], 0.932399273) && near(f[1], 0.647996902) && near(f[2], 0.309615791));
  EXPECT_DONE(curandGenerateNormal(g, f.data(), f.size(), 0, 1));
  EXPECT(near(f[0], -0.264403552) && near(f[1], -0.939907432) && near(f[3], -0.255610168));
  EXPECT_DONE(curandGenerateUniformDouble(g, d.data(), d.size()));
  EXPECT(near(d[0], 0.26691526337600541) && near(d[1], 0.77112163554562385));
  EXPECT_DONE(curandGenerateNormalDouble(g, d.data(), d.size(), 0, 1));
  EXPECT(near(d[0], -1.2939243849988236) && near(d[1], -0.67407718710143394));
  EXPECT_DONE(curandDestroyGenerator(g));
}

// Parts of a sequence are the sequence; a stream's numbers come behind what the stream has to do.
static void parts_and_streams() {
  for (curandRngType_t type : {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_PHILOX4_32_10}) {
    curandGenerator_t whole, parts;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    EXPECT_DONE(curandCreateGenerator(&whole, type));
    EXPECT_DONE(curandCreateGenerator(&parts, type));
    EXPECT_DONE(curandSetStream(parts, stream));
    float *a, *b;
    cudaMallocManaged(&a, 20000 * sizeof *a);
    cudaMalloc(&b, 20000 * sizeof *b);
    EXPECT_DONE(curandGenerateNormal(whole, a, 20000, 3, 0.5f));
    cudaMemsetAsync(b, 0, 20000 * sizeof *b, stream);
    EXPECT_DONE(curandGenerateNormal(parts, b, 6, 3, 0.5f));
    EXPECT_DONE(curandGenerateNormal(parts, b + 6, 9994, 3, 0.5f));
    EXPECT_DONE(curandGenerateNormal(parts, b + 10000, 10000, 3, 0.5f));
    std::vector<float> back(20000);
    cudaMemcpyAsync(back.data(), b, 20000 * sizeof *b, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    bool same = true;
    double sum = 0;
    for (int i = 0; i < 20000; ++i) same &= a[i] == back[i], sum += a[i];
    EXPECT(same);
    EXPECT(std::fabs(sum / 20000 - 3) < 0.02);
    unsigned* counts = reinterpret_cast<unsigned*>(a);
    EXPECT_DONE(curandGeneratePoisson(whole, counts, 20000, 12.5));
    sum = 0;
    for (int i = 0; i < 20000; ++i) sum += counts[i];
    EXPECT(std::fabs(sum / 20000 - 12.5) < 0.15);
    cudaFree(a);
    cudaFree(b);
    cudaStreamDestroy(stream);
    EXPECT_DONE(curandDestroyGenerator(whole));
    EXPECT_DONE(curandDestroyGenerator(parts));
  }
}

// Every dimension visits every 1024th part of the unit interval once in 1024 numbers.
static void sobol(curandRngType_t type, unsigned dimensions) {
  curandGenerator_t g;
  const unsigned each = 1024;
  EXPECT_DONE(curandCreateGenerator(&g, type));
  EXPECT_DONE(curandSetQuasiRandomGeneratorDimensions(g, dimensions));
  double* u;
  cudaMallocManaged(&u, dimensions * each * sizeof *u);
  EXPECT(curandGenerateUniformDouble(g, u, dimensions * each - 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  EXPECT_DONE(curandGenerateUniformDouble(g, u, dimensions * each));
  for (unsigned d = 0; d < dimensions; ++d) {
    std::vector<int> seen(each);
    for (unsigned i = 0; i < each; ++i) ++seen[static_cast<int>(u[d * each + i] * each) % each];
    bool once = true;
    for (int s : seen) once &= s == 1;
    EXPECT(once);
  }
  double inside = 0;  // a quarter of a circle, in the last two dimensions
  for (unsigned i = 0; i < each; ++i) {
    const double x = u[(dimensions - 2) * each + i], y = u[(dimensions - 1) * each + i];
    inside += x * x + y * y < 1;
  }
  EXPECT(std::fabs(4 * inside / each - M_PI) < 0.03);
  EXPECT_DONE(curandGenerateNormalDouble(g, u, dimensions * each, 0, 1));
  EXPECT_DONE(curandDestroyGenerator(g));
  cudaFree(u);
}

static void directions() {
  curandDirectionVectors32_t* vectors;
  EXPECT_DONE(curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
  EXPECT(vectors[0][0] == 0x80000000u && vectors[1][1] == 0xc0000000u && vectors[20][6] == 69u << 25);
  // The polynomial of the next one is x^7 + x^3 + x^2 + x + 1.
  const unsigned* const v = vectors[21];
  EXPECT(v[7] == (v[0] ^ v[0] >> 7 ^ v[1] ^ v[2] ^ v[3]));
  curandDirectionVectors64_t* wide;
  EXPECT_DONE(curandGetDirectionVectors64(&wide, CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6));
  unsigned* constants;
  unsigned long long* wide_constants;
  EXPECT_DONE(curandGetScrambleConstants32(&constants));
  EXPECT_DONE(curandGetScrambleConstants64(&wide_constants));
  EXPECT(wide[0][0] >> 63 == 1 && wide[19999][0] >> 63 == 1 && constants[0] != constants[19999] && wide_constants[0] != wide_constants[1]);
}

// Without a GPU's own order, but with its distributions.
static void twisters(curandRngType_t type) {
  curandGenerator_t g;
  const int n = 40000;
  EXPECT_DONE(curandCreateGenerator(&g, type));
  EXPECT_DONE(curandSetPseudoRandomGeneratorSeed(g, 1234));
  EXPECT_DONE(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_SEEDED));
  double* x;
  cudaMallocManaged(&x, n * sizeof *x);
  const auto moments = [&](const auto* values, double mean, double variance) {
    cudaDeviceSynchronize();
    double sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) sum += values[i], squares += double(values[i]) * values[i];
    const double m = sum / n, v = squares / n - m * m;
    EXPECT(std::fabs(m - mean) < 4 * std::sqrt(variance / n) && std::fabs(v / variance - 1) < 0.05);
  };
  EXPECT_DONE(curandGenerateUniformDouble(g, x, n));
  moments(x, 0.5, 1.0 / 12);
  EXPECT_DONE(curandGenerateNormalDouble(g, x, n, 2, 3));
  moments(x, 2, 9);
  EXPECT_DONE(curandGenerateNormal(g, reinterpret_cast<float*>(x), n, -1, 0.5f));
  moments(reinterpret_cast<float*>(x), -1, 0.25);
  EXPECT_DONE(curandGenerateUniform(g, reinterpret_cast<float*>(x), n));
  moments(reinterpret_cast<float*>(x), 0.5, 1.0 / 12);
  EXPECT_DONE(curandGeneratePoisson(g, reinterpret_cast<unsigned*>(x), n, 4));
  moments(reinterpret_cast<unsigned*>(x), 4, 4);
  EXPECT_DONE(curandDestroyGenerator(g));
  cudaFree(x);
}

static void refusals() {
  curandGenerator_t g;
  unsigned x[4];
  float f[4];
  EXPECT(curandCreateGeneratorHost(&g, static_cast<curandRngType_t>(7)) == CURAND_STATUS_TYPE_ERROR);
  EXPECT(curandDestroyGenerator(nullptr) == CURAND_STATUS_NOT_INITIALIZED);
  EXPECT_DONE(curandCreateGeneratorHost(&g, CURAND_RNG_PSEUDO_DEFAULT));
  EXPECT(curandGenerateLongLong(g, reinterpret_cast<unsigned long long*>(x), 1) == CURAND_STATUS_TYPE_ERROR);
  EXPECT(curandGenerateNormal(g, f, 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  EXPECT(curandSetQuasiRandomGeneratorDimensions(g, 1) == CURAND_STATUS_TYPE_ERROR);
  EXPECT(curandGeneratePoisson(g, x, 2, 0) == CURAND_STATUS_OUT_OF_RANGE);
  EXPECT(curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT) == CURAND_STATUS_OUT_OF_RANGE);
  EXPECT_DONE(curandDestroyGenerator(g));
  // The twisters cannot be moved on, and make normal numbers one by one.
  for (curandRngType_t type : {CURAND_RNG_PSEUDO_MTGP32, CURAND_RNG_PSEUDO_MT19937}) {
    EXPECT_DONE(curandCreateGeneratorHost(&g, type));
    EXPECT(curandSetGeneratorOffset(g, 5) == CURAND_STATUS_TYPE_ERROR);
    f[3] = 77;
    EXPECT_DONE(curandGenerateNormal(g, f, 3, 0, 1));
    EXPECT(f[3] == 77);
    EXPECT_DONE(curandDestroyGenerator(g));
  }
  EXPECT(curandGenerate(g, x, 1) == CURAND_STATUS_NOT_INITIALIZED);
  EXPECT_DONE(curandCreateGeneratorHost(&g, CURAND_RNG_QUASI_DEFAULT));
  EXPECT(curandSetPseudoRandomGeneratorSeed(g, 1) == CURAND_STATUS_TYPE_ERROR);
  EXPECT(curandSetQuasiRandomGeneratorDimensions(g, 0) == CURAND_STATUS_OUT_OF_RANGE);
  EXPECT_DONE(curandDestroyGenerator(g));
}

int main() {
  known_numbers();
  known_reals();
  parts_and_streams();
  sobol(CURAND_RNG_QUASI_SOBOL32, 21);
  sobol(CURAND_RNG_QUASI_SOBOL64, 400);
  sobol(CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, 300);
  sobol(CURAND_RNG_QUASI_SCRAMBLED_SOBOL64, 5);
  directions();
  twisters(CURAND_RNG_PSEUDO_MT19937);
  twisters(CURAND_RNG_PSEUDO_MTGP32);
  refusals();
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0;
}
