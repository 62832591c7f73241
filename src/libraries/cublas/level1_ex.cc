// All is computed in double, whatever the execution type, and rounded once.
#include "libraries/cublas/level1_ex.h"

#include <cmath>

namespace warpbeam::cublas {

namespace {

bool is_float(cudaDataType type) {
  return type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_C_32F || type == CUDA_C_64F;
}

void check_types(const Call& call, std::initializer_list<cudaDataType> types) {
  for (cudaDataType type : types) call.support(is_float(type));
}

struct Elements {
  AnyVector v;
  int64_t n;
  int64_t place(int64_t i) const { return v.step < 0 ? (i - n + 1) * v.step : i * v.step; }
  DoubleComplex operator[](int64_t i) const { return load(v.base, v.type, place(i)); }
  void set(int64_t i, DoubleComplex x) const { store(v.base, v.type, place(i), x); }
  size_t pitch() const { return static_cast<size_t>(std::abs(v.step)) * bytes_of(v.type); }
  void reads(Memory& memory) const { memory.reads(v.base, bytes_of(v.type), static_cast<size_t>(n), pitch()); }
  void writes(Memory& memory) const { memory.writes(v.base, bytes_of(v.type), static_cast<size_t>(n), pitch()); }
};

LateScalar scalar(const Call& call, AnyScalar s) {
  call.require(s.at);
  if (call.scalars_on_device()) return {{}, s.at, s.type};
  return {load(s.at, s.type, 0), nullptr, s.type};
}

cublasStatus_t result_of(Call& call, size_t effort, AnyScalar result, std::function<DoubleComplex(Memory&)> run) {
  call.require(result.at);
  return with_type<cublasStatus_t>(result.type, CUBLAS_STATUS_NOT_SUPPORTED, [&]<class R>(R*) {
    return call.submit_result<R>(effort, static_cast<R*>(result.at),
                                 [run = std::move(run)](Memory& memory) { return convert<R>(run(memory)); });
  });
}

double magnitude(DoubleComplex x) { return std::abs(x.real()) + std::abs(x.imag()); }

template <class Index>
cublasStatus_t extreme(Call& call, int64_t n, AnyVector x, Index* result, bool largest) {
  check_types(call, {x.type});
  call.require(result);
  const bool empty = n <= 0 || x.step <= 0;
  return call.submit_result<Index>(empty ? 0 : n * 8, result, [=, v = Elements{x, n}](Memory& memory) {
    if (empty) return Index{0};
    v.reads(memory);
    int64_t best = 0;
    double value = magnitude(v[0]);
    for (int64_t i = 1; i < n; ++i) {
      const double other = magnitude(v[i]);
      if (largest ? other > value : other < value) best = i, value = other;
    }
    return static_cast<Index>(best + 1);
  });
}

}  // namespace

cublasStatus_t amax_ex(Call& call, int64_t n, AnyVector x, int* result, bool largest) { return extreme(call, n, x, result, largest); }
cublasStatus_t amax_ex(Call& call, int64_t n, AnyVector x, int64_t* result, bool largest) { return extreme(call, n, x, result, largest); }

cublasStatus_t asum_ex(Call& call, int64_t n, AnyVector x, AnyScalar result, cudaDataType execution) {
  check_types(call, {x.type, result.type, execution});
  return result_of(call, n <= 0 ? 0 : n * 8, result, [=, v = Elements{x, n}](Memory& memory) {
    double sum = 0;
    if (n <= 0 || x.step <= 0) return DoubleComplex(0);
    v.reads(memory);
    for (int64_t i = 0; i < n; ++i) sum += magnitude(v[i]);
    return DoubleComplex(sum);
  });
}

cublasStatus_t nrm2_ex(Call& call, int64_t n, AnyVector x, AnyScalar result, cudaDataType execution) {
  check_types(call, {x.type, result.type, execution});
  return result_of(call, n <= 0 ? 0 : n * 8, result, [=, v = Elements{x, n}](Memory& memory) {
    if (n <= 0 || x.step <= 0) return DoubleComplex(0);
    v.reads(memory);
    double scale = 0, sum = 1;
    for (int64_t i = 0; i < n; ++i)
      for (const double part : {v[i].real(), v[i].imag()}) {
        if (part == 0) continue;
        const double size = std::abs(part);
        if (scale < size) sum = 1 + sum * (scale / size) * (scale / size), scale = size;
        else sum += size / scale * (size / scale);
      }
    return DoubleComplex(scale * std::sqrt(sum));
  });
}

cublasStatus_t dot_ex(Call& call, int64_t n, AnyVector x, AnyVector y, AnyScalar result, cudaDataType execution, bool conjugate) {
  check_types(call, {x.type, y.type, result.type, execution});
  return result_of(call, n <= 0 ? 0 : n * 8, result, [=, v = Elements{x, n}, w = Elements{y, n}](Memory& memory) {
    DoubleComplex sum = 0;
    if (n <= 0) return sum;
    v.reads(memory), w.reads(memory);
    for (int64_t i = 0; i < n; ++i) sum += conjugate_if(conjugate, v[i]) * w[i];
    return sum;
  });
}

cublasStatus_t scal_ex(Call& call, int64_t n, AnyScalar alpha, AnyVector x, cudaDataType execution) {
  check_types(call, {alpha.type, x.type, execution});
  const LateScalar a = scalar(call, alpha);
  if (n <= 0 || x.step <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(n * 8, [=, v = Elements{x, n}](Memory& memory) {
    const DoubleComplex factor = a.get(memory);
    v.reads(memory), v.writes(memory);
    for (int64_t i = 0; i < n; ++i) v.set(i, factor * v[i]);
  });
}

cublasStatus_t axpy_ex(Call& call, int64_t n, AnyScalar alpha, AnyVector x, AnyVector y, cudaDataType execution) {
  check_types(call, {alpha.type, x.type, y.type, execution});
  const LateScalar a = scalar(call, alpha);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(n * 8, [=, v = Elements{x, n}, w = Elements{y, n}](Memory& memory) {
    const DoubleComplex factor = a.get(memory);
    v.reads(memory), w.reads(memory), w.writes(memory);
    for (int64_t i = 0; i < n; ++i) w.set(i, w[i] + factor * v[i]);
  });
}

cublasStatus_t copy_ex(Call& call, int64_t n, AnyVector x, AnyVector y) {
  check_types(call, {x.type, y.type});
  call.support(x.type == y.type);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(n * 8, [=, v = Elements{x, n}, w = Elements{y, n}](Memory& memory) {
    v.reads(memory), w.writes(memory);
    for (int64_t i = 0; i < n; ++i) w.set(i, v[i]);
  });
}

cublasStatus_t swap_ex(Call& call, int64_t n, AnyVector x, AnyVector y) {
  check_types(call, {x.type, y.type});
  call.support(x.type == y.type);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(n * 8, [=, v = Elements{x, n}, w = Elements{y, n}](Memory& memory) {
    v.reads(memory), w.reads(memory), v.writes(memory), w.writes(memory);
    for (int64_t i = 0; i < n; ++i) {
      const DoubleComplex kept = v[i];
      v.set(i, w[i]);
      w.set(i, kept);
    }
  });
}

cublasStatus_t rot_ex(Call& call, int64_t n, AnyVector x, AnyVector y, AnyScalar c, AnyScalar s, cudaDataType execution) {
  check_types(call, {x.type, y.type, c.type, execution});
  const LateScalar cosine = scalar(call, c), sine = scalar(call, s);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(n * 8, [=, v = Elements{x, n}, w = Elements{y, n}](Memory& memory) {
    const DoubleComplex c = cosine.get(memory), s = sine.get(memory);
    v.reads(memory), w.reads(memory), v.writes(memory), w.writes(memory);
    for (int64_t i = 0; i < n; ++i) {
      const DoubleComplex a = v[i], b = w[i];
      v.set(i, c * a + s * b);
      w.set(i, c * b - std::conj(s) * a);
    }
  });
}

cublasStatus_t rotm_ex(Call& call, int64_t n, AnyVector x, AnyVector y, AnyScalar param, cudaDataType execution) {
  check_types(call, {x.type, y.type, param.type, execution});
  call.require(param.at);
  const bool on_device = call.scalars_on_device();
  Modified<double> given;
  auto fetch = [param](Modified<double>& m) {
    for (int k = 0; k < 5; ++k) m.param[k] = load(param.at, param.type, k).real();
  };
  if (!on_device) fetch(given);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(n * 8, [=, v = Elements{x, n}, w = Elements{y, n}](Memory& memory) {
    Modified<double> rotation = given;
    if (on_device) {
      memory.reads(param.at, 5 * bytes_of(param.type));
      fetch(rotation);
    }
    if (!rotation.prepare()) return;
    v.reads(memory), w.reads(memory), v.writes(memory), w.writes(memory);
    for (int64_t i = 0; i < n; ++i) {
      double a = v[i].real(), b = w[i].real();
      rotation.apply(a, b);
      v.set(i, a);
      w.set(i, b);
    }
  });
}

}  // namespace warpbeam::cublas
