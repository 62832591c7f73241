// Products: checked, and computed by the host's BLAS on matrices gathered from their layouts; then the epilogue, element by
// element, and the result goes to its layout.
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstring>
#include <new>

#include "libraries/cublas/blas.h"
#include "libraries/cublaslt/narrow.h"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

namespace warpbeam::cublaslt {

namespace {

using namespace numeric;
using cublas::Blas;
using cublas::Memory;

const Layout& layout(cublasLtMatrixLayout_t d) { return *reinterpret_cast<const Layout*>(d); }
cublasOperation_t operation(int32_t op) { return static_cast<cublasOperation_t>(op); }

bool among(cudaDataType type, std::initializer_list<cudaDataType> types) {
  for (cudaDataType t : types)
    if (t == type) return true;
  return false;
}

// Which types go together.
bool supported(int32_t compute, cudaDataType scale, cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType d) {
  if (narrow(a)) return compute == CUBLAS_COMPUTE_32F && supported_narrow(scale, a, b, c, d);
  if (a != b || c != d) return false;
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return scale == CUDA_R_16F && a == CUDA_R_16F && d == CUDA_R_16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return a == CUDA_R_8I && ((scale == CUDA_R_32I && d == CUDA_R_32I) || (scale == CUDA_R_32F && d == CUDA_R_8I));
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT: return scale == a && d == a && among(a, {CUDA_R_64F, CUDA_C_64F});
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
      if (scale == CUDA_C_32F) return a == CUDA_C_32F && d == CUDA_C_32F;
      return scale == CUDA_R_32F && (d == a || d == CUDA_R_32F) && among(a, {CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF, CUDA_R_8I}) &&
             d != CUDA_R_8I;
  }
  return false;
}

cublasStatus_t check(const Layout& l) {
  if (l.order != CUBLASLT_ORDER_COL && l.order != CUBLASLT_ORDER_ROW) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (l.batch_mode != 0 || l.plane != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto run = static_cast<int64_t>(l.order == CUBLASLT_ORDER_COL ? l.rows : l.columns);
  if (l.lead < run || l.batch < 1) return CUBLAS_STATUS_INVALID_VALUE;
  return l.rows > 0x7fffffff || l.columns > 0x7fffffff ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

constexpr uint32_t kRelu = 2, kBias = 4, kDRelu = 8, kBiasGradient = 16, kGelu = 32, kDGelu = 64, kAux = 128, kBiasGradientA = 256,
                   kBiasGradientB = 512;
constexpr uint32_t kEpilogues = kRelu | kBias | kDRelu | kBiasGradient | kGelu | kDGelu | kAux | kBiasGradientA | kBiasGradientB;

cudaDataType aux_type(const Matmul& m, const Layout& d) { return m.aux_type < 0 ? d.type : static_cast<cudaDataType>(m.aux_type); }

cublasStatus_t check(const Matmul& m, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  for (const Layout* l : {&a, &b, &c, &d})
    if (const cublasStatus_t status = check(*l); status != CUBLAS_STATUS_SUCCESS) return status;
  for (int32_t op : {m.op_a, m.op_b})
    if (op < CUBLAS_OP_N || op > CUBLAS_OP_C) return CUBLAS_STATUS_INVALID_VALUE;
  if (m.op_c != CUBLAS_OP_N || m.fill != CUBLAS_FILL_MODE_FULL) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (m.pointer_mode < 0 || m.pointer_mode > CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST) return CUBLAS_STATUS_INVALID_VALUE;
  const bool plain_a = m.op_a == CUBLAS_OP_N, plain_b = m.op_b == CUBLAS_OP_N;
  const uint64_t rows = plain_a ? a.rows : a.columns, k = plain_a ? a.columns : a.rows;
  if ((plain_b ? b.rows : b.columns) != k || d.rows != rows || d.columns != (plain_b ? b.columns : b.rows))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (c.rows != d.rows || c.columns != d.columns) return CUBLAS_STATUS_INVALID_VALUE;
  if (a.batch != d.batch || b.batch != d.batch || c.batch != d.batch) return CUBLAS_STATUS_INVALID_VALUE;
  if (!supported(m.compute, static_cast<cudaDataType>(m.scale), a.type, b.type, c.type, d.type)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (m.aux_scale || m.aux_largest || m.d_out_scale || m.aux_scale_mode || m.d_out_scale_mode) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (narrow(a.type)) {
    if (const cublasStatus_t status = check_narrow(m, a, b, c, d); status != CUBLAS_STATUS_SUCCESS) return status;
  } else {
    for (const void* p : {m.a_scale, m.b_scale, m.c_scale, m.d_scale, static_cast<const void*>(m.d_largest)})
      if (p) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (m.epilogue == CUBLASLT_EPILOGUE_DEFAULT) return CUBLAS_STATUS_SUCCESS;
  if (m.epilogue == 0 || m.epilogue & ~kEpilogues || among(d.type, {CUDA_C_32F, CUDA_C_64F, CUDA_R_32I}))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (m.epilogue & (kBiasGradientA | kBiasGradientB) && narrow(a.type)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (m.epilogue & (kGelu | kDGelu) && m.epilogue & (kAux | kDGelu) && narrow(aux_type(m, d))) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (m.epilogue & (kBias | kBiasGradient | kBiasGradientA | kBiasGradientB) && !m.bias) return CUBLAS_STATUS_INVALID_VALUE;
  if (m.epilogue & kAux && (!m.aux || m.aux_lead < static_cast<int64_t>(rows))) return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

// --- layouts -----------------------------------------------------------------------------------------------------------------

void touch(Memory& memory, const void* base, const Layout& l, bool writes) {
  const bool by_columns = l.order == CUBLASLT_ORDER_COL;
  const size_t element = element_bytes(l.type), run = (by_columns ? l.rows : l.columns) * element;
  const size_t runs = by_columns ? l.columns : l.rows, pitch = static_cast<size_t>(l.lead) * element;
  if (writes) memory.writes(base, run, runs, pitch);
  else memory.reads(base, run, runs, pitch);
}
int64_t place(const Layout& l, int64_t i, int64_t j) { return l.order == CUBLASLT_ORDER_COL ? j * l.lead + i : i * l.lead + j; }
char* batch_at(const void* base, const Layout& l, int32_t batch) {
  return static_cast<char*>(const_cast<void*>(base)) + batch * l.stride * static_cast<int64_t>(element_bytes(l.type));
}

template <class W>
std::vector<W> gathered(Memory& memory, const void* base, const Layout& l) {
  touch(memory, base, l, false);
  std::vector<W> out(l.rows * l.columns);
  const auto rows = static_cast<int64_t>(l.rows), columns = static_cast<int64_t>(l.columns);
  with_element(l.type, [&]<class T>(T*) {
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i) out[j * rows + i] = convert<W>(static_cast<const T*>(base)[place(l, i, j)]);
  });
  return out;
}

template <class W>
void scattered(Memory& memory, void* base, const Layout& l, const std::vector<W>& from) {
  touch(memory, base, l, true);
  const auto rows = static_cast<int64_t>(l.rows), columns = static_cast<int64_t>(l.columns);
  with_element(l.type, [&]<class T>(T*) {
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i) static_cast<T*>(base)[place(l, i, j)] = convert<T>(from[j * rows + i]);
  });
}

// --- scalars -----------------------------------------------------------------------------------------------------------------

// alpha or beta: one number, or one for each row.
struct Factors {
  DoubleComplex value{};
  const void* device = nullptr;
  bool for_each_row = false;
  cudaDataType type{};

  template <class W>
  std::vector<W> get(Memory& memory, int64_t rows, int64_t offset) const {
    if (!device) return std::vector<W>(rows, convert<W>(value));
    const char* at = static_cast<const char*>(device) + offset * static_cast<int64_t>(bytes_of(type));
    memory.reads(at, bytes_of(type) * (for_each_row ? rows : 1));
    std::vector<W> out(rows);
    for (int64_t i = 0; i < rows; ++i) out[i] = convert<W>(load(at, type, for_each_row ? i : 0));
    return out;
  }
};

// --- epilogues ---------------------------------------------------------------------------------------------------------------

constexpr double kRoot = 0.7978845608028654, kCubic = 0.044715;  // of the approximation with tanh, which cuBLASLt uses

double gelu(double x) { return 0.5 * x * (1 + std::tanh(kRoot * (x + kCubic * x * x * x))); }
double gelu_slope(double x) {
  const double t = std::tanh(kRoot * (x + kCubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kRoot * (1 + 3 * kCubic * x * x);
}

template <class W>
void store_sums(Memory& memory, const Matmul& m, cudaDataType type, int32_t batch, const std::vector<W>& sums) {
  char* to = static_cast<char*>(const_cast<void*>(m.bias)) + batch * m.bias_stride * static_cast<int64_t>(bytes_of(type));
  memory.writes(to, sums.size() * bytes_of(type));
  for (size_t i = 0; i < sums.size(); ++i) store(to, type, static_cast<int64_t>(i), convert<DoubleComplex>(sums[i]));
}

// `value` is m by n, by columns.
template <class W>
void apply_epilogue(Memory& memory, const Matmul& m, const Layout& d, int32_t batch, std::vector<W>& value) {
  const auto rows = static_cast<int64_t>(d.rows), columns = static_cast<int64_t>(d.columns);
  const uint32_t e = m.epilogue;
  const auto bias_type = static_cast<cudaDataType>(m.bias_type), aux_type = static_cast<cudaDataType>(m.aux_type);
  if (e & kBias) {
    const char* from = static_cast<const char*>(m.bias) + batch * m.bias_stride * static_cast<int64_t>(bytes_of(bias_type));
    memory.reads(from, rows * bytes_of(bias_type));
    for (int64_t i = 0; i < rows; ++i) {
      const W b = convert<W>(load(from, bias_type, i));
      for (int64_t j = 0; j < columns; ++j) value[j * rows + i] += b;
    }
  }
  const bool bits = e & (kRelu | kDRelu);  // of ReLU only the sign is kept, one bit for each element
  const size_t aux_run = bits ? (rows + 7) / 8 : rows * bytes_of(aux_type);
  const size_t aux_pitch = bits ? m.aux_lead / 8 : m.aux_lead * bytes_of(aux_type);
  auto* aux = static_cast<unsigned char*>(m.aux) +
              (bits ? batch * m.aux_stride / 8 : batch * m.aux_stride * static_cast<int64_t>(bytes_of(aux_type)));
  if (e & (kDRelu | kDGelu)) memory.reads(aux, aux_run, columns, aux_pitch);
  else if (e & kAux) memory.writes(aux, aux_run, columns, aux_pitch);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) {
      W& x = value[j * rows + i];
      unsigned char* byte = aux + j * aux_pitch + i / 8;
      const unsigned bit = 1u << i % 8;
      if constexpr (!is_complex<W>) {
        if (e & kDRelu) x = *byte & bit ? x : W{};
        else if (e & kDGelu) x *= static_cast<W>(gelu_slope(load(aux + j * aux_pitch, aux_type, i).real()));
        else if (e & kAux && bits) *byte = static_cast<unsigned char>(x > 0 ? *byte | bit : *byte & ~bit);
        else if (e & kAux) store(aux + j * aux_pitch, aux_type, i, convert<DoubleComplex>(x));
        if (e & kRelu) x = x > 0 ? x : x != x ? x : W{};
        if (e & kGelu) x = static_cast<W>(gelu(x));
      }
    }
  if (e & kBiasGradient) {
    std::vector<W> sums(rows);
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i) sums[i] += value[j * rows + i];
    store_sums(memory, m, bias_type, batch, sums);
  }
}

// Sums of op(A) along its rows, or of op(B) along its columns.
template <class W>
void store_operand_sums(Memory& memory, const Matmul& m, const std::vector<W>& x, const Layout& l, bool by_rows, int32_t batch) {
  const auto rows = static_cast<int64_t>(l.rows), columns = static_cast<int64_t>(l.columns);
  std::vector<W> sums(by_rows ? rows : columns);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) sums[by_rows ? i : j] += x[j * rows + i];
  store_sums(memory, m, static_cast<cudaDataType>(m.bias_type), batch, sums);
}

template <class W>
void multiply(Memory& memory, const Matmul& m, const Factors& alpha, const void* a, const Layout& la, const void* b, const Layout& lb,
              const Factors& beta, const void* c, const Layout& lc, void* d, const Layout& ld) {
  const auto rows = static_cast<int64_t>(ld.rows), columns = static_cast<int64_t>(ld.columns);
  const auto k = static_cast<int64_t>(m.op_a == CUBLAS_OP_N ? la.columns : la.rows);
  if (rows == 0 || columns == 0) return;
  const Scales scales(memory, m, rows, columns);
  const auto scaled = [](W factor, float by) {
    if constexpr (is_complex<W>) return factor;  // there are none
    else return factor * static_cast<W>(by);
  };
  float largest = 0;
  for (int32_t batch = 0; batch < ld.batch; ++batch) {
    const std::vector<W> s = alpha.get<W>(memory, rows, batch * m.alpha_stride), t = beta.get<W>(memory, rows, 0);
    std::vector<W> value(static_cast<size_t>(rows * columns));
    if (k > 0 && std::any_of(s.begin(), s.end(), [](W x) { return x != W{}; })) {
      const auto left = gathered<W>(memory, batch_at(a, la, batch), la), right = gathered<W>(memory, batch_at(b, lb, batch), lb);
      Blas<W>::gemm(operation(m.op_a), operation(m.op_b), rows, columns, k, W(1), left.data(), std::max<int64_t>(1, la.rows), right.data(),
                    std::max<int64_t>(1, lb.rows), W{}, value.data(), rows);
      if (m.epilogue & kBiasGradientA) store_operand_sums(memory, m, left, la, m.op_a == CUBLAS_OP_N, batch);
      if (m.epilogue & kBiasGradientB) store_operand_sums(memory, m, right, lb, m.op_b != CUBLAS_OP_N, batch);
    }
    std::vector<W> before;
    if (std::any_of(t.begin(), t.end(), [](W x) { return x != W{}; })) before = gathered<W>(memory, batch_at(c, lc, batch), lc);
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i) {
        W& x = value[j * rows + i];
        x *= scaled(s[i], scales.rows[i] * scales.columns[j]);
        if (t[i] != W{}) x += scaled(t[i], scales.c) * before[j * rows + i];
      }
    if (m.epilogue != CUBLASLT_EPILOGUE_DEFAULT) apply_epilogue(memory, m, ld, batch, value);
    if constexpr (std::is_same_v<W, float>)
      if (narrow(ld.type)) scale_result(scales, value, largest);
    scattered(memory, batch_at(d, ld, batch), ld, value);
  }
  if (m.d_largest) {
    memory.writes(m.d_largest, sizeof largest);
    std::memcpy(m.d_largest, &largest, sizeof largest);
  }
}

cublasStatus_t answer(cudaError_t error) { return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED; }

cublasStatus_t matmul(Matmul m, const void* alpha, const void* a, const Layout& la, const void* b, const Layout& lb, const void* beta,
                      const void* c, const Layout& lc, void* d, const Layout& ld, cudaStream_t stream) {
  if (const cublasStatus_t status = check(m, la, lb, lc, ld); status != CUBLAS_STATUS_SUCCESS) return status;
  if (narrow(la.type) && (reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) | reinterpret_cast<uintptr_t>(d)) % 16)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (m.bias_type < 0) m.bias_type = narrow(la.type) ? narrow_bias(lc.type) : ld.type;
  m.aux_type = aux_type(m, ld);
  const auto scale = static_cast<cudaDataType>(m.scale);
  const int mode = m.pointer_mode;
  const bool beta_zero = mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
  if (!alpha || (!beta && !beta_zero) || !a || !b || !d) return CUBLAS_STATUS_INVALID_VALUE;
  auto factors = [&](const void* p, bool on_host, bool each) {
    return on_host ? Factors{load(p, scale, 0), nullptr, false, scale} : Factors{{}, p, each, scale};
  };
  const Factors s = factors(alpha, mode == CUBLASLT_POINTER_MODE_HOST, mode != CUBLASLT_POINTER_MODE_DEVICE);
  const Factors t = beta_zero
                        ? Factors{}
                        : factors(beta, mode == CUBLASLT_POINTER_MODE_HOST || mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST,
                                  mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR);
  if (!c && (t.device || t.value != DoubleComplex{})) return CUBLAS_STATUS_INVALID_VALUE;
  const size_t effort = ld.rows * ld.columns * (la.rows * la.columns / std::max<uint64_t>(1, ld.rows) + 1) * ld.batch;
  return answer(cuda::enqueue_library_call(stream, "cublasLtMatmul", effort, [=](Memory& memory) {
    switch (scale) {
      case CUDA_R_64F:
      case CUDA_R_32I: return multiply<double>(memory, m, s, a, la, b, lb, t, c, lc, d, ld);
      case CUDA_C_32F: return multiply<Complex>(memory, m, s, a, la, b, lb, t, c, lc, d, ld);
      case CUDA_C_64F: return multiply<DoubleComplex>(memory, m, s, a, la, b, lb, t, c, lc, d, ld);
      default: return multiply<float>(memory, m, s, a, la, b, lb, t, c, lc, d, ld);
    }
  }));
}

template <class Body>
cublasStatus_t guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  } catch (...) {
    return CUBLAS_STATUS_INTERNAL_ERROR;
  }
}

const Matmul& as_matmul(cublasLtMatmulDesc_t d) { return *reinterpret_cast<const Matmul*>(d); }

}  // namespace
}  // namespace warpbeam::cublaslt

using namespace warpbeam::cublaslt;

// Handles of cuBLAS are good here too; nothing is kept in one.
WB_EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  if (cudaFree(nullptr) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = reinterpret_cast<cublasLtHandle_t>(new int(0));
  return CUBLAS_STATUS_SUCCESS;
}
WB_EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete reinterpret_cast<int*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

WB_EXPORT cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t m, const void* alpha, const void* a,
                                        cublasLtMatrixLayout_t la, const void* b, cublasLtMatrixLayout_t lb, const void* beta,
                                        const void* c, cublasLtMatrixLayout_t lc, void* d, cublasLtMatrixLayout_t ld,
                                        const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t stream) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!m || !la || !lb || !lc || !ld) return CUBLAS_STATUS_INVALID_VALUE;
  return guarded([&] { return matmul(as_matmul(m), alpha, a, layout(la), b, layout(lb), beta, c, layout(lc), d, layout(ld), stream); });
}

// C = alpha op(A) + beta op(B), between layouts and types.
WB_EXPORT cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t handle, cublasLtMatrixTransformDesc_t descr, const void* alpha,
                                                 const void* a, cublasLtMatrixLayout_t la, const void* beta, const void* b,
                                                 cublasLtMatrixLayout_t lb, void* c, cublasLtMatrixLayout_t lc, cudaStream_t stream) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!descr || !alpha || !a || !la || !c || !lc || (b && (!lb || !beta))) return CUBLAS_STATUS_INVALID_VALUE;
  const Transform t = *reinterpret_cast<const Transform*>(descr);
  const Layout from = layout(la), other = b ? layout(lb) : Layout{}, to = layout(lc);
  if (t.pointer_mode != CUBLASLT_POINTER_MODE_HOST) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (check(from) != CUBLAS_STATUS_SUCCESS) return check(from);
  if (check(to) != CUBLAS_STATUS_SUCCESS) return check(to);
  if (b && check(other) != CUBLAS_STATUS_SUCCESS) return check(other);
  auto fits = [&](const Layout& l, int32_t op) {
    return op == CUBLAS_OP_N ? l.rows == to.rows && l.columns == to.columns : l.rows == to.columns && l.columns == to.rows;
  };
  if (!fits(from, t.op_a) || (b && !fits(other, t.op_b)) || from.batch != to.batch) return CUBLAS_STATUS_INVALID_VALUE;
  return guarded([&] {
    const auto s = load(alpha, static_cast<cudaDataType>(t.scale), 0),
               r = b ? load(beta, static_cast<cudaDataType>(t.scale), 0) : DoubleComplex{};
    return answer(warpbeam::cuda::enqueue_library_call(stream, "cublasLtMatrixTransform", to.rows * to.columns * 16, [=](Memory& memory) {
      const auto rows = static_cast<int64_t>(to.rows), columns = static_cast<int64_t>(to.columns);
      for (int32_t batch = 0; batch < to.batch; ++batch) {
        std::vector<DoubleComplex> sum(to.rows * to.columns);
        auto add = [&](DoubleComplex f, const void* p, const Layout& l, int32_t op) {
          if (f == DoubleComplex{}) return;
          const auto x = gathered<DoubleComplex>(memory, batch_at(p, l, batch), l);
          for (int64_t j = 0; j < columns; ++j)
            for (int64_t i = 0; i < rows; ++i)
              sum[j * rows + i] += f * (op == CUBLAS_OP_N ? x[j * rows + i] : conjugate_if(op == CUBLAS_OP_C, x[i * columns + j]));
        };
        add(s, a, from, t.op_a);
        if (b) add(r, b, other, t.op_b);
        scattered(memory, batch_at(c, to, batch), to, sum);
      }
    }));
  });
}

// --- algorithms: there is one, and it needs no workspace ---------------------------------------------------------------------

// The one has every id: programs may have written down what a search on another machine has found.
constexpr int kLastId = 255;

WB_EXPORT cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t m, cublasLtMatrixLayout_t a,
                                                 cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                 const cublasLtMatmulAlgo_t* algo, cublasLtMatmulHeuristicResult_t* result) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!m || !a || !b || !c || !d || !algo || !result) return CUBLAS_STATUS_INVALID_VALUE;
  *result = {};
  result->algo = *algo;
  // Whether a bias is there is not asked before the product.
  Matmul asked = as_matmul(m);
  if (!asked.bias) asked.bias = &asked;
  if (!asked.aux) asked.aux = &asked, asked.aux_lead = static_cast<int64_t>(layout(d).rows);
  result->state = check(asked, layout(a), layout(b), layout(c), layout(d));
  result->wavesCount = 1;
  return result->state;
}

WB_EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t m, cublasLtMatrixLayout_t a,
                                                        cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                        cublasLtMatmulPreference_t preference, int wanted,
                                                        cublasLtMatmulHeuristicResult_t results[], int* count) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!preference || wanted < 1 || !results || !count) return CUBLAS_STATUS_INVALID_VALUE;
  *count = 0;
  const cublasLtMatmulAlgo_t algo{};
  const cublasStatus_t status = cublasLtMatmulAlgoCheck(handle, m, a, b, c, d, &algo, results);
  if (status == CUBLAS_STATUS_SUCCESS) *count = 1;
  return status;
}

WB_EXPORT cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale,
                                                  cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cudaDataType_t d, int wanted,
                                                  int ids[], int* count) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (wanted < 1 || !ids) return CUBLAS_STATUS_INVALID_VALUE;
  const bool there = supported(compute, scale, a, b, c, d);
  if (there) ids[0] = 0;
  if (count) *count = there;
  return there ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

WB_EXPORT cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale,
                                                cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cudaDataType_t d, int id,
                                                cublasLtMatmulAlgo_t* algo) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!algo || id < 0 || id > kLastId) return CUBLAS_STATUS_INVALID_VALUE;
  *algo = {};
  std::memcpy(algo->data, &id, sizeof id);
  return supported(compute, scale, a, b, c, d) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

// What an algorithm can do, of which programs that search for the best one make their configurations.
WB_EXPORT cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algo, cublasLtMatmulAlgoCapAttributes_t attribute,
                                                           void* to, size_t size, size_t* written) {
  uint64_t value = 0;
  switch (attribute) {
    case CUBLASLT_ALGO_CAP_SPLITK_SUPPORT:
    case CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK:
    case CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT:
    case CUBLASLT_ALGO_CAP_UPLO_SUPPORT:
    case CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX:
    case CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER:
    case CUBLASLT_ALGO_CAP_LD_NEGATIVE:
    case CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT:
    case CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT: break;
    case CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT:
    case CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT: value = 1; break;
    case CUBLASLT_ALGO_CAP_TILE_IDS: value = CUBLASLT_MATMUL_TILE_UNDEFINED; break;
    case CUBLASLT_ALGO_CAP_STAGES_IDS: value = CUBLASLT_MATMUL_STAGES_UNDEFINED; break;
    case CUBLASLT_ALGO_CAP_POINTER_MODE_MASK:
      value = CUBLASLT_POINTER_MODE_MASK_HOST | CUBLASLT_POINTER_MODE_MASK_DEVICE | CUBLASLT_POINTER_MODE_MASK_DEVICE_VECTOR |
              CUBLASLT_POINTER_MODE_MASK_ALPHA_DEVICE_VECTOR_BETA_ZERO | CUBLASLT_POINTER_MODE_MASK_ALPHA_DEVICE_VECTOR_BETA_HOST;
      break;
    case CUBLASLT_ALGO_CAP_EPILOGUE_MASK: value = CUBLASLT_EPILOGUE_DEFAULT | kEpilogues; break;
    case CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS: value = CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA; break;
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES: value = 1; break;
    default: return CUBLAS_STATUS_INVALID_VALUE;
  }
  const size_t needed = attribute == CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS ? 8 : 4;
  if (!algo) return CUBLAS_STATUS_INVALID_VALUE;
  if (size == 0) return written ? (*written = needed, CUBLAS_STATUS_SUCCESS) : CUBLAS_STATUS_INVALID_VALUE;
  // Lists may have more room than there are tiles or stages: here there is one.
  const bool list = attribute == CUBLASLT_ALGO_CAP_TILE_IDS || attribute == CUBLASLT_ALGO_CAP_STAGES_IDS;
  if (!to || (list ? size < needed : size != needed)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, &value, needed);
  if (written) *written = needed;
  return CUBLAS_STATUS_SUCCESS;
}

// A configuration is kept, and means nothing.
WB_EXPORT cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algo, cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                              const void* from, size_t size) {
  if (!algo || !from || attribute < CUBLASLT_ALGO_CONFIG_TILE_ID || attribute > CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (size != 2 && size != 4) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(reinterpret_cast<char*>(algo->data) + 4 * attribute, from, size);
  return CUBLAS_STATUS_SUCCESS;
}
WB_EXPORT cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                              cublasLtMatmulAlgoConfigAttributes_t attribute, void* to, size_t size,
                                                              size_t* written) {
  if (!algo || attribute < CUBLASLT_ALGO_CONFIG_ID || attribute > CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID) return CUBLAS_STATUS_INVALID_VALUE;
  const size_t needed = attribute >= CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID ? 2 : 4;
  if (size == 0) return written ? (*written = needed, CUBLAS_STATUS_SUCCESS) : CUBLAS_STATUS_INVALID_VALUE;
  if (!to || size != needed) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, reinterpret_cast<const char*>(algo->data) + 4 * attribute, size);
  if (written) *written = size;
  return CUBLAS_STATUS_SUCCESS;
}

WB_EXPORT size_t cublasLtGetVersion(void) { return CUBLAS_VERSION; }
WB_EXPORT size_t cublasLtGetCudartVersion(void) { return CUDART_VERSION; }
WB_EXPORT cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUBLAS_STATUS_INVALID_VALUE;
  *value = type == MAJOR_VERSION ? CUBLAS_VER_MAJOR : type == MINOR_VERSION ? CUBLAS_VER_MINOR : CUBLAS_VER_PATCH;
  return CUBLAS_STATUS_SUCCESS;
}
WB_EXPORT const char* cublasLtGetStatusName(cublasStatus_t status) { return cublasGetStatusName(status); }
WB_EXPORT const char* cublasLtGetStatusString(cublasStatus_t status) { return cublasGetStatusString(status); }
