// build: -I../../algorithms
#include <warpbeam/algorithms/device/gemm.cuh>
#include <warpbeam/algorithms/device/stencil.cuh>
#include <warpbeam/algorithms/device/summed_area.cuh>
#include <warpbeam/algorithms/device/transpose.cuh>

#include "check.h"

namespace wb = warpbeam;
using check::Array;

struct Sixteen {
  unsigned long long a, b;
};

template <class T>
void transposes(long long rows, long long columns, int batch, int offset) {
  auto host = check::random_bits<T>(rows * columns * batch);
  Array<T> in(host, offset), out(host.size(), offset);
  CHECK_CUDA(wb::transpose(wb::on(), in.data(), out.data(), rows, columns, batch));
  std::vector<T> want(host.size());
  for (int m = 0; m < batch; ++m)
    for (long long r = 0; r < rows; ++r)
      for (long long c = 0; c < columns; ++c)
        want[(m * columns + c) * rows + r] = host[(m * rows + r) * columns + c];
  CHECK_EQUAL(out.host(), want);
  if (rows == columns) {
    CHECK_CUDA(wb::transpose_in_place(wb::on(), in.data(), rows, batch));
    CHECK_EQUAL(in.host(), want);
  }
}

template <class T, class Acc>
void tables(long long width, long long height, int offset) {
  auto host = check::random_values<T>(width * height, 0, 9);
  Array<T> in(host, offset);
  Array<Acc> out(host.size(), offset);
  std::vector<Acc> want(host.size());
  for (long long y = 0; y < height; ++y)
    for (long long x = 0; x < width; ++x)
      want[y * width + x] = static_cast<Acc>(host[y * width + x]) + (x ? want[y * width + x - 1] : Acc(0)) +
                            (y ? want[(y - 1) * width + x] : Acc(0)) - (x && y ? want[(y - 1) * width + x - 1] : Acc(0));
  CHECK_CUDA(wb::summed_area_table(wb::on(), in.data(), out.data(), width, height));
  CHECK_EQUAL(out.host(), want);
  CHECK_CUDA(wb::summed_area_table(wb::on().with_determinism(), in.data(), out.data(), width, height));
  CHECK_EQUAL(out.host(), want);

  const int rx = 3, ry = 1;
  Array<float> mean(host.size());
  CHECK_CUDA(wb::box_filter_from_table(wb::on(), out.data(), mean.data(), width, height, rx, ry));
  auto got = mean.host();
  for (long long y = 0; y < height; y += 3)
    for (long long x = 0; x < width; x += 5) {
      double sum = 0;
      int area = 0;
      for (long long v = std::max(y - ry, 0LL); v <= std::min(y + ry, height - 1); ++v)
        for (long long u = std::max(x - rx, 0LL); u <= std::min(x + rx, width - 1); ++u, ++area)
          sum += static_cast<double>(host[v * width + u]);
      CHECK(std::abs(got[y * width + x] - sum / area) < 1e-4, y * width + x);
    }
}

struct Cross {
  template <class At>
  __device__ int operator()(At at) const {
    return 2 * at(-2) + at(1) + 5 * at(0, -1) + 7 * at(0, 1) + at(0, 0);
  }
};
struct Cube {
  template <class At>
  __device__ int operator()(At at) const {
    return at(-1, 0, 0) + 3 * at(0, 0, -1) + 5 * at(1, 1, 1) - at(0, -1, 1);
  }
};

void stencils(long long width, long long height, long long depth, wb::Edge edge) {
  auto host = check::random_values<int>(width * height * depth, -9, 9);
  Array<int> in(host), out(host.size());
  auto at = [&](long long x, long long y, long long z) {
    bool inside = x >= 0 && x < width && y >= 0 && y < height && z >= 0 && z < depth;
    if (!inside && edge == wb::Edge::zero) return 0;
    x = std::clamp(x, 0LL, width - 1), y = std::clamp(y, 0LL, height - 1), z = std::clamp(z, 0LL, depth - 1);
    return host[(z * height + y) * width + x];
  };
  std::vector<int> cross(host.size()), cube(host.size());
  for (long long z = 0; z < depth; ++z)
    for (long long y = 0; y < height; ++y)
      for (long long x = 0; x < width; ++x) {
        long long i = (z * height + y) * width + x;
        cross[i] = 2 * at(x - 2, y, z) + at(x + 1, y, z) + 5 * at(x, y - 1, z) + 7 * at(x, y + 1, z) + at(x, y, z);
        cube[i] = at(x - 1, y, z) + 3 * at(x, y, z - 1) + 5 * at(x + 1, y + 1, z + 1) - at(x, y - 1, z + 1);
      }
  CHECK_CUDA((wb::stencil<2, 1, 0>(wb::on(), in.data(), out.data(), {width, height, depth}, edge, Cross{})));
  CHECK_EQUAL(out.host(), cross);
  CHECK_CUDA((wb::stencil<1, 1, 1>(wb::on(), in.data(), out.data(), {width, height, depth}, edge, Cube{})));
  CHECK_EQUAL(out.host(), cube);
}

// Small integers are exact in every format, so results must be equal, not close.
void products(int m, int n, int k, float alpha, float beta) {
  auto a = check::random_values<float>(m * k, -4, 4);
  auto b = check::random_values<float>(k * n, -4, 4);
  auto c = check::random_values<float>(m * n, -4, 4);
  std::vector<float> turned(k * n), want(m * n);
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < n; ++j) turned[j * k + i] = b[i * n + j];
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * turned[j * k + l];
      want[i * n + j] = alpha * sum + beta * c[i * n + j] + 0.0f;
    }
  auto positive_zero = [](std::vector<float> values) {
    for (float& x : values) x += 0.0f;
    return values;
  };
  Array<float> da(a), db(b), dt(turned), dc(c);
  CHECK_CUDA(wb::gemm_fp32(wb::on(), m, n, k, da.data(), k, db.data(), n, dc.data(), n, alpha, beta));
  CHECK_EQUAL(positive_zero(dc.host()), want);
  Array<float> dc2(c);
  CHECK_CUDA(wb::gemm_tf32(wb::on(), m, n, k, da.data(), k, dt.data(), k, dc2.data(), n, alpha, beta));
  CHECK_EQUAL(positive_zero(dc2.host()), want);
  std::vector<__nv_bfloat16> ha(a.begin(), a.end()), ht(turned.begin(), turned.end());
  Array<__nv_bfloat16> ba(ha), bt(ht);
  Array<float> dc3(c);
  CHECK_CUDA(wb::gemm_bf16(wb::on(), m, n, k, ba.data(), k, bt.data(), k, dc3.data(), n, alpha, beta));
  CHECK_EQUAL(positive_zero(dc3.host()), want);
}

// Results in two bytes, which leave by another way.
void bf16_products(int m, int n, int k) {
  std::vector<__nv_bfloat16> a, b;
  for (float x : check::random_values<float>(m * k, -1, 1)) a.push_back(x);
  for (float x : check::random_values<float>(n * k, 0, 1)) b.push_back(x);
  Array<__nv_bfloat16> da(a), db(b), dc(m * n);
  CHECK_CUDA(wb::gemm_bf16(wb::on(), m, n, k, da.data(), k, db.data(), k, dc.data(), n));
  const auto got = dc.host();
  for (int i = 0; i < m; i += 7)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += static_cast<float>(a[i * k + l]) * static_cast<float>(b[j * k + l]);
      CHECK(static_cast<float>(got[i * n + j]) == static_cast<float>(static_cast<__nv_bfloat16>(sum)), i * n + j);
    }
}

#if !WB_PORTABLE
// Every form of the tensor-core product, whichever would be chosen. Small integers again.
template <class T, class Out>
void tensor_forms(int m, int n, int k, float alpha) {
  wb::DeviceTraits device;
  CHECK_CUDA(wb::device_traits(&device));
  if (device.level != wb::CodeLevel::wgmma || device.shared_per_block < wb::detail::kTensorShared) return;
  const auto a = check::random_values<float>(m * k, -4, 4), b = check::random_values<float>(n * k, -4, 4);
  std::vector<Out> want(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[j * k + l];
      want[i * n + j] = static_cast<Out>(alpha * sum + 0.0f);
    }
  Array<T> da(std::vector<T>(a.begin(), a.end())), db(std::vector<T>(b.begin(), b.end()));
  constexpr auto kType = sizeof(T) == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  wb::detail::each_tensor_form<T>([&](auto tile, auto) {
    Array<Out> dc(m * n);
    const auto problem = wb::detail::tensor_problem<T>(m, n, k, dc.data(), n, alpha, 0);
    const auto run = wb::detail::tensor_launch<decltype(tile), T, Out>();
    CHECK_CUDA(run(wb::on(), device, kType, da.data(), k, db.data(), k, dc.data(), problem));
    auto got = dc.host();
    for (Out& x : got) x = static_cast<Out>(static_cast<float>(x) + 0.0f);
    CHECK_EQUAL(got, want);
  });
}
#endif

int main() {
  const std::pair<int, int> shapes[] = {{1, 1}, {1, 77}, {77, 1}, {32, 32}, {64, 64}, {65, 63}, {100, 260}, {131, 129}};
  for (auto [rows, columns] : shapes) {
    for (int offset : {0, 1}) {
      transposes<unsigned char>(rows, columns, 1, offset);
      transposes<unsigned short>(rows, columns, 2, offset);
      transposes<unsigned>(rows, columns, 3, offset);
      transposes<unsigned long long>(rows, columns, 1, offset);
      transposes<Sixteen>(rows, columns, 1, offset);
      tables<float, float>(rows, columns, offset);
      tables<int, int>(columns, rows, offset);
      tables<unsigned char, unsigned>(rows, columns, offset);
    }
    stencils(rows, columns, 1, wb::Edge::clamp);
    stencils(columns, rows, 2, wb::Edge::zero);
  }
  stencils(70, 9, 11, wb::Edge::clamp);
  transposes<unsigned>(0, 5, 1, 0);
  tables<float, float>(0, 5, 0);
  products(1, 1, 1, 1, 0);
  products(3, 5, 7, 1, 0);
  products(64, 64, 64, 1, 0);
  products(130, 70, 33, 2, 1);
  products(129, 260, 68, 1, 0);
#if !WB_PORTABLE
  // Wide enough for strips.
  tables<int, int>(16384, 33, 0);
  tables<float, float>(16000, 97, 0);
  tables<unsigned char, unsigned>(16384, 64, 0);
  tables<unsigned char, float>(15008, 1, 0);
  tables<int, int>(16388, 1, 0);
  tables<unsigned char, int>(16382, 10, 0);
#ifndef WARPBEAM_TEST_SMALL
  tables<int, int>(16640, 1501, 0);
#endif
  transposes<unsigned>(1003, 777, 1, 0);
  transposes<unsigned>(1000, 778, 2, 0);
  tables<float, float>(1000, 700, 0);
  tables<int, int>(777, 1003, 1);
  products(300, 520, 200, 1, 0);
  products(257, 513, 136, 1, 2);
  products(523, 2052, 259, 2, 1);
  products(640, 2304, 320, 1, 0);
  products(1500, 2900, 136, 1, 0);
  products(2811, 3068, 136, 1, 0);  // A is transposed in two parts
  products(1024, 1024, 160, 1, 0);
  products(1023, 1032, 192, 3, 2);
  products(1500, 1500, 128, 1, 0);
  products(512, 512, 512, 1, 0);
  bf16_products(520, 2568, 200);
  bf16_products(2304, 1280, 264);
  bf16_products(96, 200, 72);
  for (int n : {512, 520}) {
    tensor_forms<float, float>(640, n, 72, 1);
    tensor_forms<__nv_bfloat16, float>(300, n, 80, 2);
    tensor_forms<__nv_bfloat16, __nv_bfloat16>(640, n, 648, 1);
    tensor_forms<__nv_bfloat16, __nv_bfloat16>(300, n, 40, 0.5f);
  }
  // More tiles than a persistent form has blocks for.
  tensor_forms<__nv_bfloat16, __nv_bfloat16>(2560, 2816, 72, 1);
#endif
  return check::result("matrix");
}
