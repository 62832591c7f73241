// Transposition against a copy, summed-area tables against NPP, matrix products against cuBLAS.
#include <cublas_v2.h>
#include <warpbeam/algorithms/device/gemm.cuh>
#include <warpbeam/algorithms/device/summed_area.cuh>
#include <warpbeam/algorithms/device/transpose.cuh>
#if BENCH_NPP
#include <nppi_statistics_functions.h>
#endif

#include <cmath>

#include "harness.cuh"
#include "report.h"

using namespace bench;
namespace wb = warpbeam;
using Bf16 = __nv_bfloat16;

template <class T>
void random_fill(T* data, size_t count) {
  uint64_t seed = fresh_seed();
  fill(data, count, [=] __device__(size_t i) { return static_cast<T>(static_cast<float>(mix(i ^ seed) >> 40) * 0x1p-23f - 1.0f); });
}

void transposes(long long rows, long long columns) {
  const size_t count = rows * columns;
  Array<float> in(count), out(count);
  random_fill(in.data(), count);
  double copy = median_ms([&] { cudaMemcpyAsync(out.data(), in.data(), count * 4, cudaMemcpyDeviceToDevice); });
  out.poison();
  double ours = median_ms([&] { BENCH_CHECK(wb::transpose(wb::on(), in.data(), out.data(), rows, columns)); });
  auto a = in.download(), b = out.download();
  bool right = true;
  for (long long r = 0; r < rows; ++r)
    for (long long c = 0; c < columns; c += 3) right = right && a[r * columns + c] == b[c * rows + r];
  report("transpose, float, " + std::to_string(rows) + " x " + std::to_string(columns), "GB/s", count * 8 / ours / 1e6,
         count * 8 / copy / 1e6, "copy", right);
}

template <class T, class Acc>
bool table_right(const T* in, const Acc* out, long long side) {
  std::vector<T> a(side * side);
  std::vector<Acc> b(side * side);
  BENCH_CHECK(cudaMemcpy(a.data(), in, a.size() * sizeof(T), cudaMemcpyDeviceToHost));
  BENCH_CHECK(cudaMemcpy(b.data(), out, b.size() * sizeof(Acc), cudaMemcpyDeviceToHost));
  std::vector<double> above(side, 0.0);
  for (long long y = 0; y < side; ++y) {
    double row = 0;
    for (long long x = 0; x < side; ++x) {
      row += static_cast<double>(a[y * side + x]);
      above[x] += row;
      double want = std::is_integral_v<Acc> ? std::fmod(above[x], 4294967296.0) : above[x];
      if (std::abs(b[y * side + x] - want) > 1e-4 * std::abs(want) + 0.5) return false;
    }
  }
  return true;
}

void tables() {
  const long long side = 16384, checked = 3001;
  const size_t count = side * side;
  Array<float> in(count), out(count);
  uint64_t seed = fresh_seed();
  fill(in.data(), count, [=] __device__(size_t i) { return static_cast<float>(mix(i ^ seed) >> 40) * 0x1p-24f; });
  Storage storage;
  for (long long size : {side, checked}) {
    size_t bytes = 0;
    wb::summed_area_table(wb::on().measure(&bytes), in.data(), out.data(), size, size);
    storage.reserve(bytes);
  }
  auto policy = wb::on().with_storage(storage.data, storage.bytes);
  double copy = median_ms([&] { cudaMemcpyAsync(out.data(), in.data(), count * 4, cudaMemcpyDeviceToDevice); });
  out.poison();
  double ours = median_ms([&] { BENCH_CHECK(wb::summed_area_table(policy, in.data(), out.data(), side, side)); });
  bool right = table_right(in.data(), out.data(), side);
  BENCH_CHECK(wb::summed_area_table(policy, in.data(), out.data(), checked, checked));
  right = right && table_right(in.data(), out.data(), checked);
  report("summed-area table, float, 16384 x 16384", "GB/s", count * 8 / ours / 1e6, count * 8 / copy / 1e6, "copy", right);

  // NPP has integrals of bytes only. It puts a row and a column of zeros in front.
  Array<unsigned char> pixels(count);
  fill(pixels.data(), count, [=] __device__(size_t i) { return static_cast<unsigned char>(mix(i ^ seed) & 15); });
  auto from_bytes = [&](auto* sums, const char* name, auto theirs_of) {
    using Acc = std::remove_pointer_t<decltype(sums)>;
    BENCH_CHECK(cudaMemset(sums, 0xa5, count * sizeof(Acc)));
    auto run = [&] { BENCH_CHECK(wb::summed_area_table(policy, pixels.data(), sums, side, side)); };
    double theirs = 0;
#if BENCH_NPP
    Array<Acc> integral((side + 1) * (side + 1));
    median_pair_ms(run, [&] { theirs_of(integral.data()); }, &ours, &theirs, 11);
#else
    ours = median_ms(run);
#endif
    report(name, "GB/s", count * 5 / ours / 1e6, theirs > 0 ? count * 5 / theirs / 1e6 : 0, "NPP", table_right(pixels.data(), sums, side));
  };
#if BENCH_NPP
  NppStreamContext context = {};
  cudaDeviceProp properties;
  BENCH_CHECK(cudaGetDeviceProperties(&properties, 0));
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  const int edge = static_cast<int>(side), pitch = static_cast<int>((side + 1) * 4);
  auto worked = [](NppStatus status) {
    if (status != NPP_SUCCESS) std::fprintf(stderr, "NPP: %d\n", static_cast<int>(status)), std::exit(1);
  };
  auto to_ints = [&](auto* to) { worked(nppiIntegral_8u32s_C1R_Ctx(pixels.data(), edge, reinterpret_cast<int*>(to), pitch, {edge, edge}, 0, context)); };
  auto to_floats = [&](auto* to) { worked(nppiIntegral_8u32f_C1R_Ctx(pixels.data(), edge, reinterpret_cast<float*>(to), pitch, {edge, edge}, 0, context)); };
#else
  auto to_ints = [](auto*) {};
  auto to_floats = [](auto*) {};
#endif
  Array<unsigned> sums(count);
  from_bytes(sums.data(), "summed-area table, uint8 to uint32, 16384^2", to_ints);
  from_bytes(out.data(), "summed-area table, uint8 to float, 16384^2", to_floats);
}

// Relative error of a few rows against double precision. `transposed` says that b is n x k.
template <class In, class Out>
bool product_right(const Array<In>& a, const Array<In>& b, const Array<Out>& c, int n, bool transposed, double tolerance) {
  auto ha = a.download(), hb = b.download();
  auto hc = c.download();
  double error = 0, norm = 0;
  for (int sample = 0; sample < 4; ++sample) {
    const size_t row = fresh_seed() % n;
    std::vector<double> want(n, 0.0);
    for (int k = 0; k < n; ++k) {
      const double left = static_cast<float>(ha[row * n + k]);
      for (int j = 0; j < n; ++j)
        want[j] += left * static_cast<float>(transposed ? hb[static_cast<size_t>(j) * n + k] : hb[static_cast<size_t>(k) * n + j]);
    }
    for (int j = 0; j < n; ++j) {
      const double difference = static_cast<float>(hc[row * n + j]) - want[j];
      error += difference * difference;
      norm += want[j] * want[j];
    }
  }
  return std::sqrt(error / norm) < tolerance;
}

void products(int n) {
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  const size_t count = static_cast<size_t>(n) * n;
  const double flops = 2.0 * n * n * n / 1e9;
  const std::string size = ", " + std::to_string(n) + "^3";
  {
    Array<float> a(count), b(count), c(count), vendor(count);
    random_fill(a.data(), count);
    random_fill(b.data(), count);
    double ours, theirs;
    size_t bytes = 0;
    BENCH_CHECK(wb::gemm_fp32(wb::on().measure(&bytes), n, n, n, a.data(), n, b.data(), n, c.data(), n));
    Storage storage;
    storage.reserve(bytes);
    auto policy = wb::on().with_storage(storage.data, storage.bytes);
    cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH);
    c.poison();
    median_pair_ms([&] { BENCH_CHECK(wb::gemm_fp32(policy, n, n, n, a.data(), n, b.data(), n, c.data(), n)); },
                   [&] { cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b.data(), n, a.data(), n, &zero, vendor.data(), n); },
                   &ours, &theirs);
    report("matrix product, fp32" + size, "TFLOP/s", flops / ours, flops / theirs, "cuBLAS", product_right(a, b, c, n, false, 1e-5));
    cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
    c.poison();
    median_pair_ms([&] { BENCH_CHECK(wb::gemm_tf32(wb::on(), n, n, n, a.data(), n, b.data(), n, c.data(), n)); },
                   [&] { cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, b.data(), n, a.data(), n, &zero, vendor.data(), n); },
                   &ours, &theirs);
    report("matrix product, tf32" + size, "TFLOP/s", flops / ours, flops / theirs, "cuBLAS", product_right(a, b, c, n, true, 2e-3));
  }
  {
    Array<Bf16> a(count), b(count), c(count), vendor(count);
    random_fill(a.data(), count);
    random_fill(b.data(), count);
    double ours, theirs;
    c.poison();
    median_pair_ms([&] { BENCH_CHECK(wb::gemm_bf16(wb::on(), n, n, n, a.data(), n, b.data(), n, c.data(), n)); },
                   [&] {
                     cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, b.data(), CUDA_R_16BF, n, a.data(), CUDA_R_16BF, n,
                                  &zero, vendor.data(), CUDA_R_16BF, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
                   },
                   &ours, &theirs);
    report("matrix product, bf16" + size, "TFLOP/s", flops / ours, flops / theirs, "cuBLAS", product_right(a, b, c, n, true, 1e-2));
  }
  cublasDestroy(handle);
}

int main() {
  transposes(8192, 8192);
  transposes(10007, 9973);
  tables();
  for (int side : {256, 512, 1024, 2048, 4096, 8192}) products(side);
  if (power_step() == 1)
    for (int side : {384, 640, 768, 1152, 1280, 1536, 1792, 2560, 3072, 3584}) products(side);
  return all_right ? 0 : 1;
}
